"""load: data sets by name, from packages, the data folder, the cache or the TUDataset site."""

from __future__ import annotations

import csv
import hashlib
import re
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from propkernels._utils.optional import import_optional
from propkernels._utils.progress import ProgressBar
from propkernels._utils.safe_files import atomic_write, open_regular, packaged_text
from propkernels.convert.edges import NodeLabels, from_edges
from propkernels.datasets.dataset import (
    BUNDLED,
    CATALOGUE,
    DATA_VARIABLE,
    Dataset,
    cache_folder,
    check_name,
    data_folder,
    find_in,
    named,
)
from propkernels.datasets.tu import read_files, read_tu
from propkernels.graphs import GridDatabase

BOND = re.compile(r"(\d+)([-=#:])(\d+)")
BOND_NAMES = {"-": "single", "=": "double", "#": "triple", ":": "aromatic"}
FAMILIES = """317 well-known molecules of 14 families, with their names.

Amino acids, sugars, fatty acids, steroids, terpenes, nucleosides, and families of medicines. Names and
structures were written for this package and are dedicated to the public domain (CC0 1.0). Nodes are heavy
atoms labeled by element, edges are bonds labeled by type; the order of atoms is that of the SMILES."""

DIGITS = """Handwritten digits of scikit-learn (UCI optical recognition, test part): 8 x 8 pixels of 4 gray
levels."""
N_LEVELS, BRIGHTEST = 4, 16


def load_families() -> Dataset:
    """Return 317 molecules with their names; the target is the family.

    No package for molecules is needed: atoms and bonds are stored beside the SMILES.

    Returns
    -------
    Dataset
        ``extras["smiles"]`` has the SMILES, and the ids of the graphs are names.

    Examples
    --------
    >>> data = load_families()
    >>> data
    Dataset(FAMILIES: 317 graphs, 5486 nodes, 5803 edges, 7 node labels, 4 edge labels, 14 classes)
    >>> str(data.graphs.ids[0]), data.target_names[0]
    ('5-hydroxytryptophan', 'amino acid')
    """
    text = packaged_text("datasets", "static", "families.csv")
    rows = list(csv.DictReader(text.splitlines()))
    families, target = np.unique([row["family"] for row in rows], return_inverse=True)
    bonds = [
        [(int(a), int(b), BOND_NAMES[sign]) for a, sign, b in BOND.findall(row["bonds"])] for row in rows
    ]
    atoms: list[NodeLabels] = [dict(enumerate(row["atoms"].split())) for row in rows]
    graphs = from_edges(bonds, node_labels=atoms, ids=[row["name"] for row in rows])
    graphs.sources = [row["smiles"] for row in rows]
    names, extras = tuple(families.tolist()), {"smiles": graphs.sources}
    return Dataset("FAMILIES", graphs, target.astype(np.int64), names, extras, FAMILIES)


def load_digits() -> Dataset:
    """Return 1,797 handwritten digits of 8 x 8 pixels, a grid with gray levels as labels.

    Returns
    -------
    Dataset
        One class per digit; ``extras["images"]`` are the images, with intensities from 0 to 16.
    """
    from sklearn import datasets

    digits = datasets.load_digits()
    levels = np.floor(digits.images * (N_LEVELS / BRIGHTEST)).astype(np.int64)
    graphs: Any = GridDatabase(np.clip(levels, 0, N_LEVELS - 1))
    names, extras = tuple(map(str, digits.target_names)), {"images": list(digits.images)}
    return Dataset("DIGITS", graphs, digits.target.astype(np.int64), names, extras, DIGITS)


BASE_URL = "https://www.chrsmrrs.com/graphkerneldatasets/"
SECONDS_TO_WAIT = 30
CHUNK_BYTES = 2**16
MOST_BYTES = 2**30  # limit for archives of unknown size


class NotOnServerError(ValueError):
    """The site does not have the data set."""


class UnverifiedError(ValueError):
    """The download has no recorded checksum, or another size or checksum."""


def download(name: str, folder: Path, *, allow_unverified: bool = False) -> Path:
    """Download NAME.zip into a folder and return its path; only a verified file gets this name.

    Parameters
    ----------
    name : str
        Name of the data set.
    folder : Path
        Cache folder; created if it does not exist.
    allow_unverified : bool, default=False
        Whether to accept an archive without a recorded SHA-256 or with a different one.

    Returns
    -------
    Path
        Path of the zip.

    Raises
    ------
    NotOnServerError
        If the site does not have the set.
    UnverifiedError
        If the archive has no recorded checksum or a different one, or is too long.
    ValueError
        If the download is not a zip of that set.
    OSError
        If the site cannot be reached or leaves https, or the folder cannot be written.
    """
    url, known = f"{BASE_URL}{name}.zip", None if allow_unverified else CATALOGUE.get(name)
    if known is None and not allow_unverified:
        raise UnverifiedError(
            f"its checksum is not known: allow_unverified=True downloads {url} and trusts what comes"
        )
    advice = "" if known is None else "; allow_unverified=True trusts what comes"
    most_bytes = MOST_BYTES if known is None else known["bytes"]
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".", dir=folder) as temporary:
        archive = Path(temporary) / f"{name}.zip"
        if not _fetch(url, archive, most_bytes):
            raise UnverifiedError(
                f"{url} is longer than the {most_bytes:,} bytes expected, and was not kept{advice}"
            )
        if known is not None:
            with open_regular(archive) as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()
            if found != known["sha256"]:
                raise UnverifiedError(
                    f"{url} has another SHA-256 than {known['sha256']}, and was not kept{advice}"
                )
        try:
            read_files(archive, name)
        except ValueError as error:
            raise ValueError(f"the download from {url} cannot be used and was not kept: {error}") from None
        return archive.replace(folder / archive.name)


def _fetch(url: str, archive: Path, most_bytes: int) -> bool:
    """Download an address by https alone, also where it redirects; return False if it is too long."""
    requests = import_optional("requests", extra="download", purpose="downloads need")
    with requests.Session() as session:
        session.adapters.pop("http://", None)
        session.headers["Accept-Encoding"] = "identity"  # the bytes of the file
        try:
            with session.get(url, stream=True, timeout=SECONDS_TO_WAIT) as response:
                if not response.ok:
                    kind = NotOnServerError if response.status_code == 404 else OSError
                    raise kind(f"{url} answered with status {response.status_code}")
                declared = response.headers.get("Content-Length", "")
                length = int(declared) if declared.isdecimal() else None
                title = f"Downloading {archive.name}"
                with atomic_write(archive) as file, ProgressBar(title, length, unit="B") as bar:
                    for chunk in response.iter_content(CHUNK_BYTES):
                        file.write(chunk)
                        bar.step(len(chunk))
                        if max(file.tell(), length or 0) > most_bytes:
                            return False
        except requests.exceptions.InvalidSchema:
            raise OSError(f"{url} does not stay with https, and was not followed") from None
        except requests.RequestException as error:
            raise OSError(f"{url} could not be downloaded ({type(error).__name__})") from None
    return True


def load(name: str, *, target_required: bool = True, allow_unverified: bool = False) -> Dataset:
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
    check_name(name)
    folder = cache_folder()
    found = find_in(data_folder(), name) or find_in(folder, name)
    if found is None and name.casefold() in KNOWN:
        name = KNOWN[name.casefold()]
        found = find_in(data_folder(), name) or find_in(folder, name)
    if name in ("FAMILIES", "DIGITS"):
        return load_families() if name == "FAMILIES" else load_digits()
    if found is None:
        found = _downloaded(name, folder, allow_unverified)
    return named(read_tu(found, name, target_required=target_required), name)


KNOWN = {name.casefold(): name for name in (*CATALOGUE, *(info.name for info in BUNDLED))}


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
