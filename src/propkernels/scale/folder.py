"""The folder of results: a plan, one file per part, and a manifest that says what is there."""

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
    """What is known of the file of a part.

    Attributes
    ----------
    name : str
        Name of the file: the hash of input and parameters, and a suffix.
    n_bytes : int
    sha256 : str
        Of the file's bytes.
    counts : dict
        What the work counted: "n_graphs" and others.
    """

    name: str
    n_bytes: int
    sha256: str
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Manifest:
    """What a folder of results holds.

    Attributes
    ----------
    work : dict
        What was computed, with all parameters.
    plan : str
        Digest of the plan.
    receipts : tuple of Receipt or None
        One for each part of the plan, None where it is missing.
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
        """Number of parts that are missing."""
        return self.receipts.count(None)

    def total(self, name: str) -> int:
        """Sum of one of the counts over all parts that are there."""
        return sum(receipt.counts.get(name, 0) for receipt in self.receipts if receipt is not None)

    @property
    def n_bytes(self) -> int:
        """Size of all files."""
        return sum(receipt.n_bytes for receipt in self.receipts if receipt is not None)

    def to_json(self) -> str:
        """Text of the file: the same for the same contents, whoever computed them."""
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
        """Read the manifest of a folder; a sentence says what is wrong with it."""
        path = folder / MANIFEST
        try:
            known = json.loads(read_regular(path).decode("utf-8"))
            if known["format"] != FORMAT or known["version"] != VERSION:
                raise ValueError(f"its format is {known['format']!r}, version {known['version']!r}")
            receipts = tuple(None if row is None else _receipt(row) for row in known["parts"])
            manifest = cls(dict(known["work"]), str(known["plan"]), receipts)
            counted = [receipt.counts["n_graphs"] for receipt in receipts if receipt is not None]
            check_sizes(counted, "n_graphs of its parts")
            if (known["complete"], known["n_graphs"], known["n_bytes"]) != (
                manifest.is_complete,
                manifest.total("n_graphs"),
                manifest.n_bytes,
            ):
                raise ValueError("its sums are not those of its parts")
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
        raise ValueError(f"the part {row} cannot be")
    if Path(receipt.name).name != receipt.name or receipt.name.startswith("."):
        raise ValueError(f"{receipt.name!r} is not the name of a part")
    return receipt


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with open_regular(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class HashedStream(io.RawIOBase, IO[bytes]):
    """A file that is written from the first byte to the last, and its SHA-256 so far."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._hash = stream, hashlib.sha256()

    @property
    def sha256(self) -> str:
        """Of what was written."""
        return self._hash.hexdigest()

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, data: Any) -> int:
        """Write all of some bytes."""
        self._hash.update(data)
        return self._stream.write(data)

    def tell(self) -> int:
        """How many bytes were written."""
        return self._stream.tell()

    def flush(self) -> None:
        """Nothing: whoever opened the file does."""


def checksum_path(path: Path) -> Path:
    """Where the SHA-256 of a part's file is, as the command sha256sum reads it."""
    return path.with_name(f".{path.name}.sha256")


def write_checksum(path: Path, digest: str) -> None:
    """Say what the file of a part will be."""
    with atomic_write(checksum_path(path), text=True, follow_links=False) as stream:
        stream.write(f"{digest}  {path.name}\n")


def found_digest(path: Path) -> tuple[str, bool]:
    """SHA-256 of a file that was there, and whether its checksum says so; without one, nobody knows.

    Raises
    ------
    ValueError
        If it is another one.
    """
    digest = file_digest(path)
    try:
        known = read_regular(checksum_path(path)).decode("utf-8").split()
    except (OSError, UnicodeDecodeError):
        return digest, False
    if known != [digest, path.name]:
        raise ValueError(f"{path} is not what was written: remove it and run again")
    return digest, True


def part_name(work: dict[str, Any], part: Part, suffix: str) -> str:
    """Name of the file of a part: the hash of what it is computed from."""
    text = canonical({"format": VERSION, "work": work, "part": part.content()})
    return hashlib.sha256(text).hexdigest()[:32] + suffix


class OutputFolder:
    """A folder that this run alone writes into.

    Attributes
    ----------
    path : Path
    names : tuple of str
        The file of each part.
    receipts : list of Receipt or None
        What is known of each; None where it is missing, or has to be looked at.
    """

    def __init__(self, path: Path, plan: Plan, work: dict[str, Any], suffix: str) -> None:
        self.path, self.plan, self.work = path, plan, work
        self.names = tuple(part_name(work, part, suffix) for part in plan)
        self.receipts: list[Receipt | None] = [None] * len(plan)

    @contextmanager
    def opened(self) -> Iterator[OutputFolder]:
        """Lock the folder and see what is there; nothing is changed if it is not as it should be."""
        self.path.mkdir(parents=True, exist_ok=True)
        with locked(self.path):
            remove_stale_files(self.path)
            self._check_contents()
            self._take_receipts()
            if not (self.path / PLAN).exists():
                self._write(PLAN, self.plan.to_json())
            yield self

    def _check_contents(self) -> None:
        """Refuse a folder of other results, links out of it, and files that no run wrote."""
        for entry in sorted(self.path.iterdir()):
            if not entry.name.startswith(".") and (entry.is_symlink() or not entry.is_file()):
                raise ValueError(
                    f"{self.path} holds {entry.name}, a link or something else that is not a regular file: "
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
        """Trust the manifest of an earlier run for files that have the size that it says."""
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
        """Write what is there now."""
        manifest = Manifest(self.work, self.plan.digest, tuple(self.receipts))
        self._write(MANIFEST, manifest.to_json())
        return manifest

    def _write(self, name: str, text: str) -> None:
        with atomic_write(self.path / name, text=True, follow_links=False) as stream:
            stream.write(text)


def check_size(path: Path, receipt: Receipt) -> None:
    """Refuse a file that is not as long as the manifest says."""
    n_bytes = path.stat().st_size
    if n_bytes != receipt.n_bytes:
        raise ValueError(
            f"{path} has {n_bytes:,} bytes instead of the {receipt.n_bytes:,} of the manifest: "
            "remove it and run again"
        )


def _more(names: list[str]) -> str:
    return f" and {len(names) - 1} more" if len(names) > 1 else ""


def difference(before: dict[str, Any], now: dict[str, Any]) -> str:
    """Name the first setting that differs between two descriptions of work."""
    for name in sorted({*before, *now}):
        a, b = before.get(name), now.get(name)
        if a != b and isinstance(a, dict) and isinstance(b, dict):
            return difference(a, b)
        if a != b:
            return f"{name} is {a!r}, not {b!r}"
    return "another plan"
