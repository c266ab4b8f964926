"""open_features: read features from an output folder, part by part or as a whole.

A folder of features has one Parquet file per part, and ``features.json``: the parameters of the features,
and the names of all parts, written before the first part.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from propkernels._utils.checks import check_integer, reason_of
from propkernels._utils.optional import import_optional
from propkernels._utils.safe_files import atomic_write, read_regular
from propkernels._utils.typing import Array, PathLike, Record
from propkernels.kernels.count_features import CountFeatures
from propkernels.scale.part_files import FeatureBlock, open_part, read_block, read_column, read_target
from propkernels.scale.pure import rebuilt

if TYPE_CHECKING:
    from dask.array import Array as DaskArray

MANIFEST, FORMAT = "features.json", "propkernels features 1"
PART_NAME = re.compile(r"part-\d{5,}-[0-9a-f]{16}\.parquet")


class FeatureFolder:
    """Features in a folder, read from files on access.

    Picklable, so that workers can read parts themselves.

    Attributes
    ----------
    folder : Path
    parameters : dict
        Class, parameters and version of the estimator.
    part_sizes : list of int
        Number of graphs per part.

    See Also
    --------
    propkernels.scale.open_features : Open a folder.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> data = pk.datasets.make_molecules(100, random_state=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> data.graphs.to_parquet(f"{folder.name}/graphs.parquet")
    >>> features = pk.PropagationFeatures(n_features=2**20, random_state=0)
    >>> opened = pk.featurize(f"{folder.name}/graphs.parquet", features, f"{folder.name}/features")
    >>> opened.shape, opened.n_parts, opened.to_scipy().shape
    ((100, 1048576), 1, (100, 1048576))
    >>> folder.cleanup()
    """

    def __init__(self, folder: Path, parameters: Record, names: Sequence[str]) -> None:
        self.folder, self.parameters, self._names = folder, parameters, names
        self._n_columns = check_integer(parameters.get("n_features"), "n_features of the folder", 1, 2**32)
        self.part_sizes = []
        for name in names:
            with open_part(folder / name) as file:
                self.part_sizes.append(int(file.metadata.num_rows))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of graphs and columns."""
        return sum(self.part_sizes), self._n_columns

    @property
    def n_parts(self) -> int:
        """Number of parts (files)."""
        return len(self._names)

    def __len__(self) -> int:
        return self.shape[0]

    def path(self, part: int) -> Path:
        """Return the file of a part."""
        return self.folder / self._names[check_integer(part, "part", 0, self.n_parts - 1)]

    def block(self, part: int) -> FeatureBlock:
        """Read a part.

        Parameters
        ----------
        part : int

        Returns
        -------
        FeatureBlock
            Features (a csr_array), target and ids.
        """
        return read_block(self.path(part), self._n_columns)

    def __iter__(self) -> Iterator[FeatureBlock]:
        return (self.block(part) for part in range(self.n_parts))

    def to_scipy(self) -> csr_array:
        """Return all features as one array, which must fit into memory.

        Returns
        -------
        csr_array
        """
        blocks = [block.features for block in self]
        return csr_array(vstack(blocks, format="csr")) if blocks else csr_array(self.shape)

    def to_dask(self) -> DaskArray:
        """Return a Dask array with one sparse chunk (a csr_array) per part, read on access.

        Returns
        -------
        dask.array.Array
        """
        da = import_optional("dask.array", extra="dask", purpose="Dask arrays need")
        delayed = import_optional("dask", extra="dask", purpose="Dask arrays need").delayed
        meta = csr_array((0, self._n_columns))
        chunks = [
            da.from_delayed(
                delayed(_read_features, pure=True)(str(self.path(i)), self._n_columns),
                shape=(size, self._n_columns),
                meta=meta,
            )
            for i, size in enumerate(self.part_sizes)
        ]
        return da.concatenate(chunks, axis=0)

    @property
    def target(self) -> Array | None:
        """Targets of all graphs, or None; features are not read."""
        pa = import_optional("pyarrow", extra="parquet", purpose="Parquet files need")
        tables = [read_column(self.path(i), "target") for i in range(self.n_parts)]
        if all(table is None for table in tables):
            return None
        try:
            return read_target(pa.concat_tables(tables))
        except (pa.ArrowException, AttributeError, TypeError):  # another type, or no target at all
            raise ValueError(
                f"the parts of {self.folder} have targets of different types: remove them and run again"
            ) from None

    @property
    def ids(self) -> NDArray[np.int64]:
        """Ids of all graphs in the plan; features are not read."""
        tables = [read_column(self.path(i), "graph_id") for i in range(self.n_parts)]
        return np.concatenate([table.column(0).to_numpy() for table in tables])

    @property
    def names(self) -> list[str | None] | None:
        """Names of all graphs, such as those of a column of a table; None if none has a name."""
        tables = [read_column(self.path(i), "name") for i in range(self.n_parts)]
        names = [one for t in tables for one in ([] if t is None else t.column(0).to_pylist())]
        return names if any(one is not None for one in names) else None

    def estimator(self) -> CountFeatures:
        """Return an unfitted estimator whose ``fit_transform`` gives the same features for new graphs.

        Returns
        -------
        estimator
            ``fit`` learns nothing from graphs except whether they have labels.
        """
        return rebuilt(self.parameters)

    def __repr__(self) -> str:
        parts = "1 part" if self.n_parts == 1 else f"{self.n_parts:,} parts"
        return f"FeatureFolder({self.shape[0]:,} graphs, {self.shape[1]:,} columns, {parts})"


def _read_features(path: str, n_features: int) -> csr_array:
    """Return the features of a file; task of Dask."""
    return read_block(Path(path), n_features).features


def open_features(out: PathLike) -> FeatureFolder:
    """Open a folder written by :func:`featurize`; its files are read on access.

    Parameters
    ----------
    out : str or path

    Returns
    -------
    FeatureFolder
        Iterates over blocks, one per part, in the order of the plan.

    Raises
    ------
    ValueError, FileNotFoundError
        If parts are missing or damaged.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> data = pk.datasets.make_molecules(100, random_state=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> data.graphs.to_parquet(f"{folder.name}/graphs.parquet", target=data.target)
    >>> features = pk.PropagationFeatures(n_features=2**20, random_state=0)
    >>> _ = pk.featurize(f"{folder.name}/graphs.parquet", features, f"{folder.name}/features")
    >>> opened = pk.scale.open_features(f"{folder.name}/features")
    >>> for block in opened:
    ...     print(block.features.shape, block.target[:4], block.ids[:4])
    (100, 1048576) [0 0 0 1] [0 1 2 3]
    >>> (opened.to_scipy() != features.fit_transform(data.graphs)).nnz
    0
    >>> folder.cleanup()
    """
    folder = Path(os.fspath(out))
    if not folder.is_dir():
        raise FileNotFoundError(f"the folder {folder} does not exist")
    parameters, names = read_manifest(folder)
    missing = sum(not (folder / name).exists() for name in names)
    if missing:
        raise ValueError(f"{missing} of {len(names)} parts of {folder} are missing: run featurize again")
    return FeatureFolder(folder, parameters, names)


def read_manifest(folder: Path) -> tuple[Record, list[str]]:
    """Return the parameters of the features of a folder, and the names of its parts."""
    path = folder / MANIFEST
    try:
        stored = json.loads(read_regular(path).decode("utf-8"))
        if stored["format"] != FORMAT:
            raise ValueError(f"its format is {stored['format']!r}")
        names = [str(name) for name in stored["parts"]]
        if not all(map(PART_NAME.fullmatch, names)):
            raise ValueError("it names other files than parts")
        return dict(stored["parameters"]), names
    except FileNotFoundError:
        raise FileNotFoundError(f"{folder} has no {MANIFEST}: featurize did not write into it") from None
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"{path} is damaged ({reason_of(error)}): remove it and run again, complete parts are kept"
        ) from None


def write_manifest(folder: Path, parameters: Record, names: Sequence[str]) -> None:
    """Write parameters and names of parts; raise ValueError if the folder has others."""
    text = json.dumps({"format": FORMAT, "parameters": parameters, "parts": list(names)}, indent=1)
    if os.path.lexists(folder / MANIFEST):
        before, old = read_manifest(folder)
        if (before, old) != (json.loads(text)["parameters"], list(names)):
            why = _difference(before, parameters)
            raise ValueError(f"{folder} holds other features ({why}): choose another folder")
        return
    with atomic_write(folder / MANIFEST, text=True, follow_links=False) as stream:
        stream.write(text + "\n")


def _difference(before: Record, now: Record) -> str:
    """Return a clause that names the first parameter with different values."""
    for name in sorted({*before, *now}):
        old, new = before.get(name), now.get(name)
        if old != new and isinstance(old, dict) and isinstance(new, dict):
            return _difference(old, new)
        if old != new:
            return f"{name} is {old!r}, not {new!r}"
    return "of other graphs"
