"""Output folders: a plan, one file per part, and a manifest with checksums."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from propkernels._utils.arrays import check_sizes
from propkernels._utils.checks import reason_of
from propkernels._utils.safe_files import (
    atomic_write,
    locked,
    open_regular,
    read_regular,
    remove_stale_files,
)
from propkernels.scale.plan import Part, Plan, canonical

FORMAT, VERSION = "propkernels parts", 1
PLAN, MANIFEST = "plan.json", "manifest.json"
CHUNK = 2**20


@dataclass(frozen=True)
class Receipt:
    """Entry of the manifest: the file of a part.

    Attributes
    ----------
    name : str
        Name of the file: hash of input and parameters, and a suffix.
    n_bytes : int
    sha256 : str
        SHA-256 of the file.
    counts : dict
        Counts returned by the work: "n_graphs" and others.
    """

    name: str
    n_bytes: int
    sha256: str
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Manifest:
    """Contents of an output folder.

    Attributes
    ----------
    work : dict
        Kind of work with all parameters.
    plan : str
        Digest of the plan.
    receipts : tuple of Receipt or None
        One per part of the plan; None for missing parts.
    """

    work: dict[str, Any]
    plan: str
    receipts: tuple[Receipt | None, ...]

    @property
    def is_complete(self) -> bool:
        """Whether no part is missing."""
        return None not in self.receipts

    @property
    def n_missing(self) -> int:
        """Number of missing parts."""
        return self.receipts.count(None)

    def total(self, name: str) -> int:
        """Sum of a count over all complete parts."""
        return sum(receipt.counts.get(name, 0) for receipt in self.receipts if receipt is not None)

    @property
    def n_bytes(self) -> int:
        """Total size of all files."""
        return sum(receipt.n_bytes for receipt in self.receipts if receipt is not None)

    def to_json(self) -> str:
        """Return the manifest as JSON: equal contents give equal text."""
        head = {
            "format": FORMAT,
            "version": VERSION,
            "work": self.work,
            "plan": self.plan,
            "complete": self.is_complete,
            "n_graphs": self.total("n_graphs"),
            "n_bytes": self.n_bytes,
        }
        lines = [json.dumps(None if r is None else asdict(r), sort_keys=True) for r in self.receipts]
        parts = ",\n".join(lines)
        return f'{json.dumps(head, indent=1, sort_keys=True)[:-2]},\n "parts": [\n{parts}\n]}}\n'

    @classmethod
    def load(cls, folder: Path) -> Manifest:
        """Read and check the manifest of a folder."""
        path = folder / MANIFEST
        try:
            document = json.loads(read_regular(path).decode("utf-8"))
            if document["format"] != FORMAT or document["version"] != VERSION:
                raise ValueError(f"its format is {document['format']!r}, version {document['version']!r}")
            receipts = tuple(None if row is None else _receipt(row) for row in document["parts"])
            manifest = cls(dict(document["work"]), str(document["plan"]), receipts)
            counted = [receipt.counts["n_graphs"] for receipt in receipts if receipt is not None]
            check_sizes(counted, "n_graphs of its parts")
            if (document["complete"], document["n_graphs"], document["n_bytes"]) != (
                manifest.is_complete,
                manifest.total("n_graphs"),
                manifest.n_bytes,
            ):
                raise ValueError("its totals differ from the sums over its parts")
            return manifest
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{folder} has no {MANIFEST}: nothing was written there, or the run was stopped; run it again"
            ) from None
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
            raise ValueError(
                f"{path} is damaged ({reason_of(error)}): remove it and run again, complete parts are kept"
            ) from None


def _receipt(row: dict[str, Any]) -> Receipt:
    receipt = Receipt(**row)
    numbers = [receipt.n_bytes, *receipt.counts.values()]
    texts = [receipt.name, receipt.sha256]
    if any(type(n) is not int or n < 0 for n in numbers) or any(type(text) is not str for text in texts):
        raise ValueError(f"invalid part: {row}")
    if Path(receipt.name).name != receipt.name or receipt.name.startswith("."):
        raise ValueError(f"{receipt.name!r} is not the name of a part")
    return receipt


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open_regular(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class HashedStream(io.RawIOBase, IO[bytes]):
    """Write-only stream that hashes all bytes written so far."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._hash = stream, hashlib.sha256()

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes written so far."""
        return self._hash.hexdigest()

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Write bytes and return their number."""
        self._hash.update(data)
        return self._stream.write(data)

    def tell(self) -> int:
        """Return the number of bytes written so far."""
        return self._stream.tell()

    def flush(self) -> None:
        """Do nothing: the owner of the file flushes it."""


def checksum_path(path: Path) -> Path:
    """Return the path of the checksum file of a part, in the format of sha256sum."""
    return path.with_name(f".{path.name}.sha256")


def write_checksum(path: Path, digest: str) -> None:
    """Write the checksum file of a part."""
    with atomic_write(checksum_path(path), text=True, follow_links=False) as stream:
        stream.write(f"{digest}  {path.name}\n")


def confirmed_digest(path: Path) -> str | None:
    """Return the SHA-256 of an existing file; None without a checksum file, which alone can confirm it.

    Raises
    ------
    ValueError
        If the checksum file has another SHA-256.
    """
    digest = file_digest(path)
    try:
        expected = read_regular(checksum_path(path)).decode("utf-8").split()
    except (OSError, UnicodeDecodeError):
        return None
    if expected != [digest, path.name]:
        raise ValueError(f"{path} has changed since it was written: remove it and run again")
    return digest


def part_name(work: dict[str, Any], part: Part, suffix: str) -> str:
    """Return the file name of a part: hash of input and parameters, and the suffix."""
    text = canonical({"format": VERSION, "work": work, "part": part.content()})
    return hashlib.sha256(text).hexdigest()[:32] + suffix


class OutputFolder:
    """Output folder, locked by the current run.

    Attributes
    ----------
    path : Path
    names : tuple of str
        File name of each part.
    receipts : list of Receipt or None
        One per part; None if the file is missing or not checked yet.
    """

    def __init__(self, path: Path, plan: Plan, work: dict[str, Any], suffix: str) -> None:
        self.path, self.plan, self.work = path, plan, work
        self.names = tuple(part_name(work, part, suffix) for part in plan)
        self.receipts: list[Receipt | None] = [None] * len(plan)

    @contextmanager
    def opened(self) -> Iterator[OutputFolder]:
        """Lock the folder and check its contents; nothing is changed if the check fails."""
        self.path.mkdir(parents=True, exist_ok=True)
        with locked(self.path):
            remove_stale_files(self.path)
            self._check_contents()
            self._take_receipts()
            if not (self.path / PLAN).exists():
                self._write(PLAN, self.plan.to_json())
            yield self

    def _check_contents(self) -> None:
        """Refuse links, results of other runs, and files not written by a run."""
        for entry in sorted(self.path.iterdir()):
            if not entry.name.startswith(".") and (entry.is_symlink() or not entry.is_file()):
                raise ValueError(
                    f"{self.path} holds {entry.name}, which is a link or not a regular file: "
                    "remove it or choose another folder"
                )
        if (self.path / PLAN).exists() and Plan.load(self.path / PLAN).digest != self.plan.digest:
            raise ValueError(f"{self.path} holds results of another plan: choose another folder")
        expected = {PLAN, MANIFEST, *self.names}
        entries = sorted(entry.name for entry in self.path.iterdir())
        foreign = [name for name in entries if not name.startswith(".") and name not in expected]
        if (self.path / MANIFEST).exists():
            before = Manifest.load(self.path)
            if before.work != self.work or before.plan != self.plan.digest:
                raise ValueError(
                    f"{self.path} holds other results ({difference(before.work, self.work)}): "
                    "choose another folder"
                )
        if foreign:
            raise ValueError(
                f"{self.path} holds {foreign[0]}{_more(foreign)}, not written by such a run: "
                "remove it or choose another folder"
            )

    def _take_receipts(self) -> None:
        """Take over receipts of an earlier run for existing files; refuse files of another size."""
        if not (self.path / MANIFEST).exists():
            return
        before = Manifest.load(self.path).receipts
        if len(before) != len(self.names):
            raise ValueError(f"{self.path / MANIFEST} lists {len(before)} parts instead of {len(self.names)}")
        for i, receipt in enumerate(before):
            if receipt is None:
                continue
            if receipt.name != self.names[i]:
                raise ValueError(f"{self.path / MANIFEST} lists {receipt.name} instead of {self.names[i]}")
            path = self.path / receipt.name
            if path.exists():
                check_size(path, receipt)
                self.receipts[i] = receipt

    def write_manifest(self) -> Manifest:
        """Write the manifest of the complete parts and return it."""
        manifest = Manifest(self.work, self.plan.digest, tuple(self.receipts))
        self._write(MANIFEST, manifest.to_json())
        return manifest

    def _write(self, name: str, text: str) -> None:
        with atomic_write(self.path / name, text=True, follow_links=False) as stream:
            stream.write(text)


def check_size(path: Path, receipt: Receipt) -> None:
    """Refuse a file whose size differs from the manifest."""
    n_bytes = path.stat().st_size
    if n_bytes != receipt.n_bytes:
        raise ValueError(
            f"{path} has {n_bytes:,} bytes instead of the {receipt.n_bytes:,} of the manifest: "
            "remove it and run again"
        )


def _more(names: list[str]) -> str:
    return f" and {len(names) - 1} more" if len(names) > 1 else ""


def difference(before: dict[str, Any], now: dict[str, Any]) -> str:
    """Return old clause that names the first parameter with different values in two descriptions of work."""
    for name in sorted({*before, *now}):
        old, new = before.get(name), now.get(name)
        if old != new and isinstance(old, dict) and isinstance(new, dict):
            return difference(old, new)
        if old != new:
            return f"{name} is {old!r}, not {new!r}"
    return "another plan"
