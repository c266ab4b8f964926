"""``python -m reproduction molecules``: propagation features and models beside fingerprints.

    python -m reproduction molecules --document docs/measured/fingerprints.md
    python -m reproduction molecules --dataset BACE --repeats 1

``--repeats`` is the number of folds, five by default. Cells are kept in OUTPUT/molecules.jsonl and timings in
OUTPUT/molecule_seconds.jsonl as soon as they are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reproduction.molecules import cells, page, seconds, sets


def run(names: Sequence[str], n_folds: int | None, folder: Path, document: Path) -> str:
    """Measure what is missing, write the page, and return what it says first."""
    unknown = [name for name in names if name not in sets.SOURCES]
    if unknown:
        raise ValueError(f"the set {unknown[0]!r} does not exist: choose among {', '.join(sets.SOURCES)}")
    chosen = [name for name in sets.SOURCES if name in names or not names]
    kept = cells.Kept(folder / "molecules.jsonl")
    records = seconds.measure_missing(folder / "molecule_seconds.jsonl", chosen)
    for _ in cells.measure_missing(kept, chosen, min(n_folds or sets.N_FOLDS, sets.N_FOLDS)):
        page.write_page(document, page.measured_part(kept.cells, records))
    page.write_page(document, page.measured_part(kept.cells, records))
    lines = []
    for split in sets.SPLITS:
        lines += page.verdict(*page.means_of(kept.cells, split), split)
    return "\n".join(lines)
