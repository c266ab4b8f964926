"""Every system call of saving a model fails once, and nothing is lost."""

import errno

import pytest

from fuzz.calls import CALLS, Loop, failing, graphs, jobs


@pytest.fixture
def loop(tmp_path):
    return Loop(tmp_path)


def test_the_nth_call_fails_and_others_do_not(tmp_path):
    with failing("os.replace", 2, errno.EIO, tmp_path) as broken:
        graphs().to_parquet(tmp_path / "first.parquet")
        with pytest.raises(OSError, match="Input/output error"):
            graphs().to_parquet(tmp_path / "second.parquet")
    assert broken.made == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.parquet"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["save_model", "to_parquet", "featurize"])
def test_no_failing_call_loses_anything(loop, name):
    job = next(job for job in jobs() if job.name == name)
    for call in CALLS:
        loop.every_call(job, call, errno.ENOSPC, again=False)
    assert loop.counts[name] >= 5
    assert dict(loop.findings) == {}


def test_a_lost_file_is_found(loop, tmp_path):
    job = jobs()[0]
    expected = loop.whole(job)
    (loop.folder / "model.pk").write_bytes(b"half")
    loop.judge(job, "a half", None, {}, expected)
    assert "a half" in " ".join(loop.findings)
