"""open_features: read features from an output folder, part by part or as a whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from propkernels._utils.checks import check_integer
from propkernels._utils.optional import import_optional
from propkernels._utils.typing import Array, PathLike, Record
from propkernels.kernels.count_features import CountFeatures
from propkernels.scale.folder import Manifest, check_size
from propkernels.scale.part_files import FeatureBlock, n_columns, read_block, read_column, read_target
from propkernels.scale.pure import rebuilt

if TYPE_CHECKING:
    from dask.array import Array as DaskArray


class FeatureFolder:
    """Features in a folder, read from files on access.

    Picklable, so that workers can read parts themselves.

    Attributes
    ----------
    folder : Path
    shape : tuple of int
        Numbers of graphs and columns.
    n_parts : int
    parameters : dict
        Class, parameters and version of the estimator.

    See Also
    --------
    open_features : Open a folder.

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

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder, self.manifest, self._n_columns = folder, manifest, n_columns(manifest.work)
        self._receipts = [receipt for receipt in manifest.receipts if receipt is not None]

    @property
    def parameters(self) -> Record:
        """Class, parameters and version of the estimator."""
        return dict(self.manifest.work)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of graphs and columns."""
        return self.manifest.total("n_graphs"), self._n_columns

    @property
    def n_parts(self) -> int:
        """Number of parts (files)."""
        return len(self._receipts)

    @property
    def part_sizes(self) -> list[int]:
        """Number of graphs per part."""
        return [receipt.counts["n_graphs"] for receipt in self._receipts]

    def __len__(self) -> int:
        return self.shape[0]

    def path(self, part: int) -> Path:
        """Return the file of a part."""
        return self.folder / self._receipts[check_integer(part, "part", 0, self.n_parts - 1)].name

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
        block = read_block(self.path(part), self.shape[1])
        if len(block.ids) != self.part_sizes[part]:
            raise ValueError(f"{self.path(part)} does not match the manifest: verify the folder")
        return block

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
        meta = csr_array((0, self.shape[1]))
        chunks = [
            da.from_delayed(
                delayed(read_features, pure=True)(str(self.path(i)), self.shape[1]),
                shape=(size, self.shape[1]),
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
                f"the parts of {self.folder} have targets of different types: verify the folder"
            ) from None

    @property
    def ids(self) -> NDArray[np.int64]:
        """Ids of all graphs in the plan; features are not read."""
        tables = [read_column(self.path(i), "graph_id") for i in range(self.n_parts)]
        return np.concatenate([table.column(0).to_numpy() for table in tables])

    def estimator(self) -> CountFeatures:
        """Return an unfitted estimator whose ``fit_transform`` gives the same features for new graphs.

        Returns
        -------
        estimator
            ``fit`` learns nothing from graphs except whether they have labels.
        """
        return rebuilt(self.manifest.work)

    def __repr__(self) -> str:
        parts = "1 part" if self.n_parts == 1 else f"{self.n_parts:,} parts"
        return f"FeatureFolder({self.shape[0]:,} graphs, {self.shape[1]:,} columns, {parts})"


def read_features(path: str, n_features: int) -> csr_array:
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
    ValueError
        If parts are missing, or sizes of files differ from the manifest.

    See Also
    --------
    verify : Check every byte of the folder.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> data = pk.datasets.make_molecules(100, random_state=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> data.graphs.to_parquet(f"{folder.name}/graphs.parquet", target=data.target)
    >>> features = pk.PropagationFeatures(n_features=2**20, random_state=0)
    >>> _ = pk.featurize(f"{folder.name}/graphs.parquet", features, f"{folder.name}/features")
    >>> opened = pk.open_features(f"{folder.name}/features")
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
    manifest = Manifest.load(folder)
    if manifest.work.get("work") != "features":
        raise ValueError(f"{folder} holds {manifest.work.get('work')!r} instead of features")
    if not manifest.is_complete:
        missing = manifest.n_missing
        raise ValueError(
            f"{missing} of {len(manifest.receipts)} parts of {folder} are missing: run featurize again"
        )
    for receipt in manifest.receipts:
        if receipt is not None:
            if not (folder / receipt.name).exists():
                raise FileNotFoundError(f"{folder / receipt.name} is missing: run featurize again")
            check_size(folder / receipt.name, receipt)
    return FeatureFolder(folder, manifest)
