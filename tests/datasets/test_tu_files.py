"""Archives and folders of TU data sets."""

import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propkernels.datasets import read_tu
from propkernels.datasets import tu as archive
from propkernels.datasets.tu import float_table, integer_table, read_files
from tests.datasets.tiny import TINY, write_folder, write_zip


def with_member(path, member, content=b""):
    write_zip(path, TINY)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
        information = zipfile.ZipInfo("placeholder")
        information.filename = member  # as is: ZipInfo(...) would tidy it up
        information.compress_type = zipfile.ZIP_DEFLATED
        file.writestr(information, content)
    return path


@pytest.mark.parametrize(
    "member",
    ["../TINY_A.txt", "TINY/../../x", "/etc/x", "\\x", "C:\\x", "c:x", "TINY\\..\\..\\x", "//server/x", ".."],
)
def test_members_that_point_outside(tmp_path, member):
    path = with_member(tmp_path / "TINY.zip", member)
    with pytest.raises(ValueError, match=r"TINY\.zip has a member that points outside its folder"):
        read_tu(path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_size_that_explodes(tmp_path):
    path = with_member(
        tmp_path / "TINY.zip", "TINY/TINY_coordinates.txt", b"\n" * (archive.MOST_BYTES_UNSUSPECTED + 1)
    )
    assert path.stat().st_size < 2**20
    with pytest.raises(ValueError, match=r"TINY\.zip would grow from \d+ to \d+ bytes, more than the 100"):
        read_tu(path)


@pytest.mark.slow
@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_cannot_be_bounded_are_refused(tmp_path, method):
    """A bzip2 member of 800 bytes unpacks to a gigabyte before zipfile looks at its declared size."""
    path = write_zip(tmp_path / "TINY.zip", TINY)
    with zipfile.ZipFile(path, "a", method) as file:
        file.writestr("TINY/TINY_coordinates.txt", b"0\n" * 2**20)
    with pytest.raises(ValueError, match=r"coordinates\.txt' is encrypted, or packed by another method"):
        read_tu(path)


def test_no_more_is_unpacked_than_the_directory_says(tmp_path):
    """A deflated member that understates its size is cut there, and its checksum fails."""
    path = write_zip(tmp_path / "TINY.zip", TINY)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("TINY/TINY_coordinates.txt", b"0\n" * 2**24)
    content = path.read_bytes().replace((2**25).to_bytes(4, "little"), (8).to_bytes(4, "little"))
    path.write_bytes(content)
    tracemalloc.start()
    with pytest.raises(ValueError, match="Bad CRC-32"):
        read_tu(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22


@pytest.mark.parametrize(
    ("limit", "message"),
    [({"MOST_BYTES": 50}, r"to \d+ bytes, more than the 50"), ({"MOST_MEMBERS": 3}, "4 members, more than")],
)
def test_too_much_in_all(tmp_path, monkeypatch, limit, message):
    monkeypatch.setattr(archive, *next(iter(limit.items())))
    with pytest.raises(ValueError, match=rf"TINY\.zip .*{message}"):
        read_tu(write_zip(tmp_path / "TINY.zip", TINY))


def test_damaged_zips(tmp_path):
    whole = write_zip(tmp_path / "TINY.zip", TINY).read_bytes()
    path = tmp_path / "damaged.zip"
    for content in (b"", b"<html>not here</html>", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"damaged\.zip is not a zip file, or it is damaged"):
            read_tu(path)


def test_a_member_whose_checksum_is_wrong(tmp_path):
    path = tmp_path / "TINY.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        for kind, text in TINY.items():
            file.writestr(f"TINY_{kind}.txt", text)
    path.write_bytes(path.read_bytes().replace(b"4, 5", b"4, 4", 1))
    with pytest.raises(ValueError, match=r"TINY\.zip: member TINY_A\.txt cannot be read \(Bad CRC-32"):
        read_tu(path)


def test_one_of_several_sets_by_its_name(tmp_path):
    write_folder(tmp_path, TINY, "X")
    write_folder(tmp_path, {**TINY, "smiles": "C"}, "X_full")
    write_folder(tmp_path / "Y", TINY, "Y")
    for name, kinds in (("X", set(TINY)), ("X_full", {*TINY, "smiles"}), ("Y", set(TINY))):
        found, files = read_files(tmp_path, name)
        assert found == name
        assert set(files) == kinds
    with pytest.raises(ValueError, match=r"holds several data sets \(X_A.txt, X_full_A.txt, Y/Y_A.txt\)"):
        read_files(tmp_path)
    with pytest.raises(ValueError, match=r" holds no file OTHER_A.txt"):
        read_files(write_zip(tmp_path / "TINY.zip", TINY), "OTHER")
    with pytest.raises(ValueError, match=r"empty holds no file NAME_A.txt"):
        read_files(write_folder(tmp_path / "empty", {}))
    with pytest.raises(FileNotFoundError, match=r"the folder or zip .* does not exist"):
        read_files(tmp_path / "nowhere")


def test_what_other_systems_leave_behind_is_passed_over(tmp_path):
    path = write_zip(tmp_path / "TINY.zip", TINY)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("__MACOSX/TINY/._TINY_A.txt", b"\x00\x05")
        archive.writestr("TINY/._TINY_A.txt", b"\x00\x05")
        archive.writestr("TINY/notes.txt", "not of the set")
        archive.writestr("TINY/README.txt", "about")
    assert set(read_files(path)[1]) == {*TINY, "README"}


EXPECTED = np.array([[8, 1], [-2, 30]])


SEPARATED = [b"8,1\n-2,30\n", b"8, 1\n-2, 30", b"  8 ,1  \n -2\t30  \n\n\n", b"8;1\r\n-2;30\r\n"]


@pytest.mark.parametrize("text", [*SEPARATED, b"8 1\r-2 30\r", b"\xef\xbb\xbf8,1,\n-2,30,\n"])
def test_any_separators_and_line_ends(text):
    np.testing.assert_array_equal(integer_table(text, "X.txt"), EXPECTED)
    np.testing.assert_array_equal(float_table(text, "X.txt"), EXPECTED)


@given(st.lists(st.floats(allow_infinity=False), min_size=1))
def test_floats_come_back_to_the_last_bit(values):
    text = "\n".join(map(repr, values))
    np.testing.assert_array_equal(float_table(text.encode(), "X.txt")[:, 0], values)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"1,2\n3\n", "X.txt, line 2 has 1 value instead of 2"),
        (b"1\n2,3,4\n", "X.txt, line 2 has 3 values instead of 1"),
        (b"1,2\n\n3,4\n", "X.txt, line 2 has 0 values instead of 2"),
        (b"\n1\n", "X.txt, line 1 has 0 values instead of 1"),
        (b"1,2\n3,x\n", "X.txt, line 2: 'x' is not a whole number of 64 bits"),
        (b"1\n1.5\n", "X.txt, line 2: '1.5' is not a whole number of 64 bits"),
        (b"1\n3-4\n", "X.txt, line 2: '3-4' is not a whole number"),
        (b"1\n1_0\n", "X.txt, line 2: '1_0' is not a whole number"),
        (b"1\n9223372036854775808\n", "line 2: '9223372036854775808' is not a whole number"),
        (b"1\n-99999999999999999999\n", "line 2: '-99999999999999999999' is not a whole number"),
        (b"1\n2\x003\n", "X.txt, line 2: '2\\x003' is not a whole number"),
    ],
)
def test_a_fault_is_named_by_file_and_line(text, message):
    with pytest.raises(ValueError) as caught:
        integer_table(text, "X.txt")
    assert message in str(caught.value)
    with pytest.raises(ValueError, match=r"line 2 has 2 values .* \(labels over time are read by"):
        integer_table(b"0,1,2,0\n0,1\n", "X_node_labels.txt")
