"""Features of parsed molecules: ours, and those of scikit-fingerprints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scipy.sparse import csr_array, hstack

import propkernels as pk
from propkernels.utils.optional import import_optional

REFINED = "refined symbols"
SEVERAL = "several views"
ECFP = "ECFP"


def refined(mols: Sequence[Any], labels: str = "symbol", n_iter: int = 3) -> csr_array:
    """Weisfeiler-Lehman features: atoms with their surroundings up to three bonds, bond types told apart."""
    graphs = pk.from_rdkit(mols, node_labels=labels)
    return pk.WeisfeilerLehmanFeatures(n_iter=n_iter, edge_labels=True).fit_transform(graphs)


def paths(mols: Sequence[Any], labels: str) -> csr_array:
    """Pairs of atoms by their labels and distance."""
    graphs = pk.from_rdkit(mols, node_labels=labels)
    return pk.ShortestPathFeatures().fit_transform(graphs)


def several_views(mols: Sequence[Any]) -> csr_array:
    """Surroundings of symbols, of invariants and of roles, and pairs of atoms at a distance, side by side."""
    parts = [
        refined(mols),
        refined(mols, "invariants", 2),
        refined(mols, "pharmacophore"),
        paths(mols, "invariants"),
    ]
    return csr_array(hstack(parts, format="csr"))


def fingerprint(name: str, **settings: Any) -> Callable[[Sequence[Any]], csr_array]:
    """A fingerprint of scikit-fingerprints, with one thread."""

    def compute(mols: Sequence[Any]) -> Any:
        module = import_optional("skfp.fingerprints", extra="peers", purpose="fingerprints need")
        return getattr(module, name)(n_jobs=1, sparse=True, **settings).transform(mols)

    return compute


OURS: dict[str, Callable[[Sequence[Any]], csr_array]] = {REFINED: refined, SEVERAL: several_views}
THEIRS: dict[str, Callable[[Sequence[Any]], csr_array]] = {
    ECFP: fingerprint("ECFPFingerprint", count=True),
    "AtomPair": fingerprint("AtomPairFingerprint", count=True),
    "MACCS": fingerprint("MACCSFingerprint"),
}
FEATURES = OURS | THEIRS
