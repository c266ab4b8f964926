"""load: data sets by name, from packages, the data folder, the cache or the TUDataset site."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from propkernels.datasets.dataset import (
    BUNDLED,
    DATA_VARIABLE,
    FROM_FILES,
    Dataset,
    cache_folder,
    check_name,
    data_folder,
    find_in,
    named,
    refuse_foreign,
)
from propkernels.datasets.download import NotOnServerError, UnverifiedError, download
from propkernels.datasets.tu_reader import read_tu


def load(
    name: str,
    *,
    target_required: bool = True,
    allow_unverified: bool = False,
    n_jobs: int | None = None,
) -> Dataset:
    """Load a data set by name.

    "FAMILIES" is part of this package: molecules with their names. "DIGITS" uses images of scikit-learn. For
    other names, ``NAME.zip`` or the folder ``NAME`` is read from the folder of the environment variable
    PROPKERNELS_DATA or from the cache, or else downloaded from the public TUDataset site into the cache,
    the folder of PROPKERNELS_CACHE or that of the system.
    Downloads use https, are limited in size, and are kept only if their SHA-256 equals the recorded one.

    Parameters
    ----------
    name : str
        See :func:`list_datasets`; names listed there may be written in lower case.
    target_required : bool, default=True
        See :func:`read_tu`.
    allow_unverified : bool, default=False
        Whether to accept a download without a recorded SHA-256 or with a different one.
    n_jobs : int or None, default=None
        Number of threads that unpack files; None: 1, -1: all cores.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If the name is invalid, no such set exists, or its files are damaged.
    OSError
        If a necessary download fails.

    See Also
    --------
    propkernels.datasets.list_datasets : The catalogue of names.
    propkernels.datasets.read_tu : From a folder or zip.

    Examples
    --------
    >>> import propkernels as pk
    >>> data = pk.datasets.load("DIGITS")
    >>> data
    Dataset(DIGITS: 1797 images of 8 x 8, 115008 pixels, 4 labels, 10 classes)
    """
    if isinstance(name, str):
        refuse_foreign(name)
    check_name(name)
    folder = cache_folder()
    found = find_in(data_folder(), name) or find_in(folder, name)
    if found is None and name.casefold() in KNOWN:
        name = KNOWN[name.casefold()]
        found = find_in(data_folder(), name) or find_in(folder, name)
    if name in ("FAMILIES", "DIGITS"):
        from propkernels.datasets.bundled import load_digits, load_families

        return load_families() if name == "FAMILIES" else load_digits()
    if found is None:
        found = _downloaded(name, folder, allow_unverified)
    return named(read_tu(found, name, target_required=target_required, n_jobs=n_jobs), name)


KNOWN = {info.name.casefold(): info.name for info in (*FROM_FILES, *BUNDLED)}


def _downloaded(name: str, folder: Path, allow_unverified: bool) -> Path:
    """Return the path of the downloaded zip; errors list the searched folders and remedies."""
    try:
        return download(name, folder, allow_unverified=allow_unverified)
    except (NotOnServerError, UnverifiedError, OSError) as error:
        if Path(name).exists():
            raise ValueError(
                f"no data set {name!r}: load takes names; the file or folder {name} is read by "
                f"datasets.open_source({name!r})"
            ) from None
        place = data_folder()
        where = f"a data folder ({DATA_VARIABLE} is not set)" if place is None else f"the data folder {place}"
        if place is not None and not place.is_dir():
            where += " (which does not exist)"
        kind = OSError if isinstance(error, OSError) else ValueError
        close = [KNOWN[known] for known in get_close_matches(name.casefold(), KNOWN, n=1, cutoff=0.75)]
        if close and close[0] != name:
            raise kind(
                f"no data set {name!r}: did you mean {close[0]!r}? list_datasets() has all names"
            ) from None
        raise kind(
            f"no data set {name!r} in {where} or the cache {folder}, and {error}; list_datasets() has all "
            "names"
        ) from None
