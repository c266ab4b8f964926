"""verify: a folder of parts holds what its manifest says, and what its plan asks for."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from propkernels._utils.parallel import run_threads
from propkernels._utils.progress import ProgressBar
from propkernels.scale.folder import MANIFEST, PLAN, Manifest, Receipt, file_digest, part_name
from propkernels.scale.plan import Part, Plan

# Classes whose ``check`` reads every number of a file, by the name that ``describe`` gives their work. Some
# belong to later stations, so they are imported when such a folder is verified.
WORKS = {
    "features": ("propkernels.scale.featurizing", "FeatureWork"),
    "index": ("propkernels.search.shard_folder", "ShardWork"),
    "predictions": ("propkernels.models.predicting", "PredictionWork"),
}


class Verified(NamedTuple):
    """What was found to be in order."""

    n_parts: int
    n_graphs: int
    n_bytes: int


class DamagedFolderError(ValueError):
    """A folder does not hold what it should.

    Attributes
    ----------
    problems : list of str
        One sentence each.
    """

    def __init__(self, folder: Path, problems: list[str]) -> None:
        self.folder, self.problems = folder, problems
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        super().__init__(f"{folder} is not in order: {problems[0]}{more}")

    def __reduce__(self) -> Any:
        return type(self), (self.folder, self.problems)


def verify(out: Any, n_jobs: int | None = None) -> Verified:
    """Check a folder of parts: the plan, the manifest, and every byte of every file.

    Parameters
    ----------
    out : str or path
        Written by :func:`featurize`, by ``predict_parts`` or as an index. Of any other work, which this
        process cannot read, names, sizes and SHA-256 of the files are checked.
    n_jobs : int or None
        Threads that hash files.

    Returns
    -------
    Verified
        Number of parts, graphs and bytes.

    Raises
    ------
    DamagedFolderError
        If anything is missing, too much, or not what it was; ``problems`` lists all of it.

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
    try:
        manifest, plan = Manifest.load(folder), Plan.load(folder / PLAN)
    except (ValueError, FileNotFoundError) as error:
        raise DamagedFolderError(folder, [str(error)]) from None
    problems = _of_the_whole(folder, manifest, plan)
    parts = list(zip(plan.parts, manifest.receipts, strict=False))
    with ProgressBar("Verifying", total=len(parts)) as bar:

        def one(item: tuple[Part, Receipt | None]) -> list[str]:
            found = _of_a_part(folder, manifest, *item)
            bar.step()
            return found

        for found in run_threads(one, parts, n_jobs):
            problems += found
    if problems:
        raise DamagedFolderError(folder, problems)
    return Verified(len(parts), manifest.total("n_graphs"), manifest.n_bytes)


def _of_the_whole(folder: Path, manifest: Manifest, plan: Plan) -> list[str]:
    problems = []
    if manifest.plan != plan.digest:
        problems.append(f"{MANIFEST} is about another plan than {PLAN}")
    if len(manifest.receipts) != len(plan):
        problems.append(f"{MANIFEST} lists {len(manifest.receipts)} parts, but {PLAN} has {len(plan)}")
    known = {PLAN, MANIFEST, *(receipt.name for receipt in manifest.receipts if receipt is not None)}
    for name in sorted(entry.name for entry in folder.iterdir()):
        if name not in known and not name.startswith("."):
            problems.append(f"{name} is not in {MANIFEST}")
    return problems


def _of_a_part(folder: Path, manifest: Manifest, part: Part, receipt: Receipt | None) -> list[str]:
    if receipt is None:
        return [f"the part of {part} is missing: run again to compute it"]
    path = folder / receipt.name
    if receipt.name != part_name(manifest.work, part, path.suffix):
        return [f"{receipt.name} is not the name that the part of {part} has with these parameters"]
    if not path.is_file():
        return [f"{receipt.name} is missing: run again to compute it"]
    if path.stat().st_size != receipt.n_bytes or file_digest(path) != receipt.sha256:
        return [f"{receipt.name} is not what was written: remove it and run again"]
    try:
        counts = _counts(path, part, manifest, receipt)
    except ValueError as error:
        return [str(error)]
    if counts != receipt.counts:
        return [f"{MANIFEST} says {receipt.counts} of {receipt.name}, which holds {counts}"]
    return []


def _counts(path: Path, part: Part, manifest: Manifest, receipt: Receipt) -> dict[str, int]:
    """Count what a file holds, of which every number is read; the receipt's counts for works not listed."""
    place = WORKS.get(str(manifest.work.get("work")))
    if place is None:
        return receipt.counts
    module, name = place
    counts: dict[str, int] = getattr(import_module(module), name).check(path, part, manifest.work)
    return counts
