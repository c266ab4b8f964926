"""Features of parsed molecules: ours, and those of scikit-fingerprints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from scipy.sparse import csr_array

import propkernels as pk

REFINED = "refined symbols"
INVARIANTS = "refined invariants"
VIEWS = "three views"
RECIPES = ("symbol", "invariants", "pharmacophore")
ECFP = "ECFP"


def refined(mols: Sequence[Any], labels: str = "symbol", t_max: int = 3) -> csr_array:
    """Weisfeiler-Lehman features: atoms with their neighborhoods up to three bonds, by bond type."""
    return refined_of(pk.from_rdkit(mols, node_labels=labels), t_max)


def refined_of(graphs: pk.GraphDatabase, t_max: int = 3) -> csr_array:
    """The same of graphs."""
    return pk.WeisfeilerLehmanFeatures(t_max=t_max, edge_labels=True).fit_transform(graphs)


def refined_invariants(mols: Sequence[Any]) -> csr_array:
    """What ECFP counts, but for duplicates and the folding into 2,048 columns."""
    return refined(mols, "invariants", 2)


def three_views(mols: Sequence[Any]) -> csr_array:
    """Neighborhoods of symbols, of invariants and of roles, side by side."""
    graphs = pk.from_rdkit(mols, node_labels=RECIPES)
    features = pk.WeisfeilerLehmanFeatures(t_max=3, edge_labels=True, labels="entries")
    return features.fit_transform(graphs)


def fingerprint(name: str, **settings: Any) -> Callable[[Sequence[Any]], csr_array]:
    """A fingerprint of scikit-fingerprints, with one thread."""

    def compute(mols: Sequence[Any]) -> Any:
        make = getattr(import_module("skfp.fingerprints"), name)
        return make(n_jobs=1, sparse=True, **settings).transform(mols)

    return compute


OURS: dict[str, Callable[[Sequence[Any]], csr_array]] = {
    REFINED: refined,
    INVARIANTS: refined_invariants,
    VIEWS: three_views,
}
THEIRS: dict[str, Callable[[Sequence[Any]], csr_array]] = {
    ECFP: fingerprint("ECFPFingerprint", count=True),
    "AtomPair": fingerprint("AtomPairFingerprint", count=True),
    "MACCS": fingerprint("MACCSFingerprint"),
}
FEATURES = OURS | THEIRS
