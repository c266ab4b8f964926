"""MoleculesToGraphs: pipeline step that converts molecules to graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from propkernels._utils.checks import GraphInput, check_choice
from propkernels._utils.typing import Molecules
from propkernels.convert.build import ERRORS
from propkernels.convert.rdkit import (
    VIEWS,
    Recipe,
    Wanted,
    check_recipe,
    check_steps,
    check_wanted,
    from_rdkit,
    from_smiles,
    is_mol,
)
from propkernels.graphs.database import GraphDatabase
from propkernels.molecules.read_molecules import as_list


@dataclass(kw_only=True, eq=False, repr=False)
class MoleculesToGraphs(
    GraphInput,
    TransformerMixin,
    BaseEstimator,
    auto_wrap_output_keys=None,  # type: ignore[call-arg]
):
    """Convert SMILES or RDKit molecules to graphs, as the first step of a scikit-learn pipeline.

    The transformer is stateless: ``transform`` needs no ``fit``.

    Parameters
    ----------
    node_labels : str, callable or sequence of these, default=("symbol", "invariants", "pharmacophore")
        Label of an atom, see :func:`from_rdkit`: "symbol", "symbol+aromatic", "invariants", "pharmacophore",
        or a function. Several give each atom several labels: models refine them separately by default, other
        kernels as one tuple, or separately with ``WeisfeilerLehman(labels="entries")``.
    edge_labels : bool, default=True
        Whether edges are labeled by bond type.
    explicit_hydrogens : bool, default=False
        Whether hydrogens are nodes.
    stereo : bool, default=False
        Whether labels distinguish stereoisomers.
    standardize : {"fragment", "charge", "tautomer"}, sequence of these, or None, default=None
        Steps of RDKit's standardizer: keep the largest fragment of a salt, neutralize charges, take the
        canonical tautomer; see :func:`from_rdkit`.
    descriptors : {None, "rdkit"} or sequence of str, default=None
        Numbers of whole molecules, which models then use beside the graphs; see :func:`from_rdkit`.
    errors : {"raise", "empty"}, default="raise"
        "raise": an invalid molecule is an error. "empty": it becomes a graph without nodes, with a warning,
        so that graphs and targets stay aligned; "skip", which other readers have, would not keep them so.
    n_jobs : int, optional
        Number of processes that parse SMILES; -1: one per core.

    See Also
    --------
    from_smiles : The same as a function, which can also skip invalid molecules.
    propkernels.molecules.scaffolds : Groups for cross-validation.
    PropagationClassifier : The usual next step.

    References
    ----------
    .. [1] D. Rogers and M. Hahn (2010). Extended-connectivity fingerprints. Journal of Chemical Information
       and Modeling 50 (5), 742-754. doi:10.1021/ci100050t. The labels "invariants" and "pharmacophore".

    Examples
    --------
    >>> import propkernels as pk
    >>> from sklearn.pipeline import make_pipeline
    >>> pk.MoleculesToGraphs().transform(["CCO", "c1ccccc1"])
    GraphDatabase(2 graphs, 9 nodes, 8 edges, 4 node labels, 2 edge labels)
    >>> smiles = ["CCO", "CCCO", "CCN", "CCCN", "CCCCO", "CCCCN"]
    >>> model = make_pipeline(pk.MoleculesToGraphs(), pk.PropagationClassifier(random_state=0))
    >>> model.fit(smiles, [1, 1, 0, 0, 1, 0]).predict(["CCCCCO"])
    array([1])
    """

    node_labels: Recipe = VIEWS
    edge_labels: bool = True
    explicit_hydrogens: bool = False
    stereo: bool = False
    standardize: str | Sequence[str] | None = None
    descriptors: Wanted = None
    errors: str = "raise"
    n_jobs: int | None = None

    def fit(self, X: Molecules, y: object = None) -> Self:
        """Validate the parameters.

        Parameters
        ----------
        X : sequence of str or rdkit.Chem.Mol
        y : ignored

        Returns
        -------
        self
        """
        self._check()
        return self

    def transform(self, X: Molecules) -> GraphDatabase:
        """Return one graph per molecule.

        Parameters
        ----------
        X : sequence of str or rdkit.Chem.Mol
            A list, an array, or a column of a pandas table.

        Returns
        -------
        GraphDatabase
        """
        self._check()
        items = as_list(X)
        options: dict[str, Any] = self.get_params(deep=False)
        n_jobs = options.pop("n_jobs")
        if any(is_mol(item) for item in items):
            graphs: GraphDatabase = from_rdkit(items, **options)
            return graphs
        return from_smiles(items, n_jobs=n_jobs, **options)

    def _check(self) -> None:
        check_recipe(self.node_labels)
        check_steps(self.standardize)
        check_wanted(self.descriptors)
        check_choice(self.errors, ERRORS, "errors")
        if self.errors == "skip":
            raise ValueError(
                'errors="skip" would leave fewer graphs than targets in a pipeline: use errors="empty", or '
                'from_smiles(molecules, errors="skip") and target[graphs.ids] before it'
            )

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the name of the output, which is one column of graphs."""
        return np.array(["graph"], dtype=object)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Return the transformer: graphs stay a GraphDatabase, whatever container other steps use."""
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.one_d_array = True
        tags.input_tags.string = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return True
