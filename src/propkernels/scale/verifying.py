"""verify: check an output folder against its manifest and its plan."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from propkernels._utils.parallel import run_threads
from propkernels._utils.progress import ProgressBar
from propkernels._utils.typing import PathLike
from propkernels.scale.folder import MANIFEST, PLAN, Manifest, Receipt, file_digest, part_name
from propkernels.scale.plan import Part, Plan

# Module and class whose ``check`` reads all values of a file, by the "work" entry of ``describe``. Some
# belong to later stations, so they are imported when such a folder is verified.
WORKS = {
    "features": ("propkernels.scale.featurizing", "FeatureWork"),
}


class Verified(NamedTuple):
    """Totals of a verified folder: parts, graphs and bytes."""

    n_parts: int
    n_graphs: int
    n_bytes: int


class DamagedFolderError(ValueError):
    """An output folder is damaged or incomplete.

    Attributes
    ----------
    problems : list of str
        One sentence per problem.
    """

    def __init__(self, folder: Path, problems: list[str]) -> None:
        self.folder, self.problems = folder, problems
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        super().__init__(f"{folder} is damaged: {problems[0]}{more}")

    def __reduce__(self) -> Any:
        return type(self), (self.folder, self.problems)


def verify(out: PathLike, n_jobs: int | None = None) -> Verified:
    """Check the plan, the manifest and every byte of an output folder.

    Parameters
    ----------
    out : str or path
        Folder written by :func:`featurize`.
        For other kinds of work, only names, sizes and SHA-256 of the files are checked.
    n_jobs : int or None
        Number of threads.

    Returns
    -------
    Verified
        Numbers of parts, graphs and bytes.

    Raises
    ------
    DamagedFolderError
        If files are missing, unexpected or changed; ``problems`` lists all faults.

    See Also
    --------
    featurize : Write such a folder; running it again completes it.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> data = pk.datasets.make_molecules(100, random_state=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> data.graphs.to_parquet(f"{folder.name}/graphs.parquet")
    >>> features = pk.PropagationFeatures(n_features=2**20, random_state=0)
    >>> _ = pk.featurize(f"{folder.name}/graphs.parquet", features, f"{folder.name}/features")
    >>> pk.verify(f"{folder.name}/features").n_graphs
    100
    >>> folder.cleanup()
    """
    folder = Path(os.fspath(out))
    if not folder.is_dir():
        raise FileNotFoundError(f"the folder {folder} does not exist")
    plans = sorted(path for path in folder.glob("plan*") if path.is_dir() and path.name[4:].isdigit())
    if plans and not (folder / MANIFEST).exists():
        return Verified(*map(sum, zip(*(_verify(path, n_jobs) for path in plans), strict=True)))
    return _verify(folder, n_jobs)


def _verify(folder: Path, n_jobs: int | None) -> Verified:
    """Check the plan, the manifest and every byte of one folder of parts."""
    try:
        manifest, plan = Manifest.load(folder), Plan.load(folder / PLAN)
    except (ValueError, FileNotFoundError) as error:
        raise DamagedFolderError(folder, [str(error)]) from None
    problems = _folder_problems(folder, manifest, plan)
    parts = list(zip(plan.parts, manifest.receipts, strict=False))
    with ProgressBar("Verifying", total=len(parts)) as bar:

        def check(item: tuple[Part, Receipt | None]) -> list[str]:
            part_problems = _part_problems(folder, manifest, *item)
            bar.step()
            return part_problems

        for part_problems in run_threads(check, parts, n_jobs):
            problems += part_problems
    if problems:
        raise DamagedFolderError(folder, problems)
    return Verified(len(parts), manifest.total("n_graphs"), manifest.n_bytes)


def _folder_problems(folder: Path, manifest: Manifest, plan: Plan) -> list[str]:
    problems = []
    if manifest.plan != plan.digest:
        problems.append(f"{MANIFEST} belongs to another plan than {PLAN}")
    if len(manifest.receipts) != len(plan):
        problems.append(f"{MANIFEST} lists {len(manifest.receipts)} parts, but {PLAN} has {len(plan)}")
    listed = {PLAN, MANIFEST, *(receipt.name for receipt in manifest.receipts if receipt is not None)}
    for name in sorted(entry.name for entry in folder.iterdir()):
        if name not in listed and not name.startswith("."):
            problems.append(f"{name} is not in {MANIFEST}")
    return problems


def _part_problems(folder: Path, manifest: Manifest, part: Part, receipt: Receipt | None) -> list[str]:
    if receipt is None:
        return [f"the part {part} is missing: run again to compute it"]
    path = folder / receipt.name
    if receipt.name != part_name(manifest.work, part, path.suffix):
        return [f"{receipt.name} is not the file name of the part {part} with these parameters"]
    if not path.is_file():
        return [f"{receipt.name} is missing: run again to compute it"]
    if path.stat().st_size != receipt.n_bytes or file_digest(path) != receipt.sha256:
        return [f"{receipt.name} has changed since it was written: remove it and run again"]
    try:
        counts = _counts(path, part, manifest, receipt)
    except ValueError as error:
        return [str(error)]
    if counts != receipt.counts:
        return [f"{MANIFEST} lists {receipt.counts} for {receipt.name}, but the file has {counts}"]
    return []


def _counts(path: Path, part: Part, manifest: Manifest, receipt: Receipt) -> dict[str, int]:
    """Return the counts of a file after reading all values; of the receipt for unlisted kinds of work."""
    place = WORKS.get(str(manifest.work.get("work")))
    if place is None:
        return receipt.counts
    module, name = place
    counts: dict[str, int] = getattr(import_module(module), name).check(path, part, manifest.work)
    return counts
