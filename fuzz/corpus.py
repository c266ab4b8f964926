"""Files that once led to a wrong answer, a crash or an unclear error; a test reads them all again.

A file lies in ``fuzz/corpus/DOOR/NAME``, where the door says who reads it. ``python -m fuzz --repeat NUMBER
--only FAMILY --keep NAME`` adds the file of a case.
"""

from __future__ import annotations

import io
import shutil
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import propkernels as pk
from fuzz.cases import SCRATCH, try_to
from fuzz.valid import check_database, check_sparse

FOLDER = Path(__file__).parent / "corpus"
_last: list[tuple[str, str, bytes]] = []  # door, ending and bytes of the file that a case read last


def remember(door: str, ending: str, data: bytes | dict[str, bytes]) -> None:
    """Note the file, or the files of the folder, that a case is about to read."""
    _last[:] = [(door, ending, data if isinstance(data, bytes) else zipped(data))]


def keep_last(name: str) -> Path:
    """Put the file that was noted last into the corpus."""
    door, ending, data = _last[0]
    path = FOLDER / door / f"{name}{ending}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def zipped(files: dict[str, bytes]) -> bytes:
    """The files of a folder in one file."""
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        for name, data in sorted(files.items()):
            archive.writestr(name, data)
    return stream.getvalue()


def files() -> list[Path]:
    """All files of the corpus."""
    return sorted(path for path in FOLDER.rglob("*") if path.is_file())


def replay(path: Path) -> None:
    """Read a file as its door does: a right answer, or a refusal in one sentence."""
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        copy = Path(folder) / path.name
        shutil.copy(path, copy)
        DOORS[path.parent.name](copy)


def read_model(path: Path) -> None:
    """The name of a file of a model begins with its kind: KIND--WHAT.pk."""
    from fuzz.models import kinds

    model = try_to(lambda: pk.load_model(path))
    kind = path.stem.partition("--")[0].replace("_", " ")
    if isinstance(model, pk.GraphDatabase):
        check_database(model)
    try_to(lambda: kinds()[kind].use(model), MemoryError)


def read_parquet(path: Path) -> None:
    check_database(try_to(lambda: pk.GraphDatabase.from_parquet(path), OSError, MemoryError))


def read_data_set(path: Path) -> None:
    check_database(try_to(lambda: pk.datasets.read_tu(path), OSError).graphs)


def read_source(path: Path) -> None:
    found = try_to(lambda: pk.datasets.open_source(path, target_required=False), OSError, MemoryError)
    check_database(found.graphs)


def read_features(path: Path) -> None:
    folder = _unpacked(path)
    opened = try_to(lambda: pk.open_features(folder), OSError)
    check_sparse(try_to(opened.to_scipy, OSError, MemoryError), "features")
    try_to(lambda: (opened.target, opened.ids), OSError)


def read_index(path: Path) -> None:
    from fuzz.parts import whole

    folder = _unpacked(path)
    try_to(lambda: pk.GraphIndex.open(folder).query(whole().graphs[:2], k=3), OSError, MemoryError)


def read_plan(path: Path) -> None:
    str(try_to(lambda: pk.scale.Plan.load(path), OSError))


def _unpacked(path: Path) -> Path:
    folder = path.with_suffix("")
    with ZipFile(path) as archive:
        archive.extractall(folder)
    return folder


DOORS: dict[str, Callable[[Path], None]] = {
    "model": read_model,
    "parquet": read_parquet,
    "tu": read_data_set,
    "source": read_source,
    "features": read_features,
    "index": read_index,
    "plan": read_plan,
}
