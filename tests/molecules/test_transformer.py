"""MoleculesToGraphs: molecules in, graphs out, in pipelines and cross-validation."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import propkernels as pk

Chem = pytest.importorskip("rdkit.Chem")

RADICALS = ["C", "CC", "CCC", "C(C)C", "c1ccccc1", "C1CCCC1", "CCCC", "CC(C)C"]
SMILES = [f"{group}{radical}" for radical in RADICALS for group in ("O", "N", "F", "Cl")]
TARGET = np.array([1, 1, 0, 0] * len(RADICALS))
VIEWS = ("symbol", "invariants", "pharmacophore")


def test_the_graphs_are_those_of_the_adapters():
    assert pk.MoleculesToGraphs().fit_transform(SMILES) == pk.from_smiles(SMILES, node_labels=VIEWS)
    mols = [Chem.MolFromSmiles(text) for text in SMILES]
    options = {"node_labels": "invariants", "explicit_hydrogens": True, "stereo": True, "edge_labels": False}
    assert pk.MoleculesToGraphs(**options).transform(mols) == pk.from_rdkit(mols, **options)


def test_a_faulty_molecule_keeps_its_place():
    texts = ["CCO", "C1CC", None, "CN", "F(C)(C)C"]
    with pytest.raises(ValueError, match="molecule 1: 'C1CC' cannot be read"):
        pk.MoleculesToGraphs().transform(texts)
    with pytest.warns(UserWarning, match="left empty 3 of 5 molecules: 1 .*2 .*4 "):
        graphs = pk.MoleculesToGraphs(errors="empty").transform(texts)
    np.testing.assert_array_equal(np.diff(graphs.graph_ptr), [3, 0, 0, 2, 0])
    assert graphs[[0, 3]] == pk.from_smiles(["CCO", "CN"], node_labels=VIEWS)
    assert list(graphs.skipped) == [1, 2, 4]


def test_all_ways_to_read_molecules_give_the_same_labels(recwarn):
    """A model of one predicts the graphs of another, and RDKit molecules themselves, without a warning."""
    mols = [Chem.MolFromSmiles(text) for text in SMILES]
    ways = [pk.from_smiles(SMILES), pk.from_rdkit(mols), pk.MoleculesToGraphs().transform(SMILES)]
    assert ways[0] == ways[1] == ways[2]
    model = pk.PropagationRegressor(random_state=0).fit(ways[0], ways[0].graph_sizes.astype(float))
    for graphs in (*ways[1:], mols):
        np.testing.assert_array_equal(model.predict(graphs), model.predict(ways[0]))
    assert not recwarn.list


@pytest.mark.parametrize(
    ("parameters", "given", "error", "message"),
    [
        ({"errors": "skip"}, ["CC"], ValueError, "errors"),
        ({"stereo": "no"}, ["CC"], TypeError, "stereo must be True or False, got 'no'"),
        ({"edge_labels": None}, ["CC"], TypeError, "edge_labels must be True or False"),
        ({"explicit_hydrogens": np.zeros(2)}, ["CC"], TypeError, "explicit_hydrogens must be True or False"),
        ({"standardize": True}, ["CC"], ValueError, "standardize must be None or some of"),
        ({"n_jobs": "all"}, ["CC"], TypeError, "n_jobs must be None or a whole number"),
        ({"node_labels": "colors"}, ["CC"], ValueError, "node_labels must be one of"),
        ({}, "CC", TypeError, "wrap the one molecule"),
        ({}, np.array([["CC", "CN"]]), ValueError, "one column"),
        ({}, [Chem.MolFromSmiles("C"), "CC"], ValueError, "molecule 1: is a str"),
    ],
)
def test_bad_input_is_named(parameters, given, error, message):
    with pytest.raises(error, match=message):
        pk.MoleculesToGraphs(**parameters).transform(given)


@pytest.mark.slow
def test_a_foreign_object_is_shown_shortly():
    nested = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(ValueError, match="molecule 0: a value of type list is not") as caught:
        pk.MoleculesToGraphs().fit_transform([nested])
    assert len(str(caught.value)) < 100
    with pytest.raises(ValueError, match="is not a SMILES string") as caught:
        pk.from_smiles([np.zeros((50, 50))])
    assert len(str(caught.value)) < 140
    while nested:  # not by the recursion of the interpreter
        nested = nested.pop()


def test_it_is_a_step_of_a_column_transformer():
    """Names of columns pass through, and graphs stay graphs, whatever container other steps use."""
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import StandardScaler

    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"smiles": ["CCO", "CCN", "CCC"], "mass": [46.0, 45.0, 44.0]})
    features = pk.PropagationFeatures(t_max=1, n_features=8, sparse_output=False, random_state=0)
    steps = make_pipeline(pk.MoleculesToGraphs(), features)
    both = ColumnTransformer([("g", steps, "smiles"), ("m", StandardScaler(), ["mass"])])
    expected = [*(f"g__column{i}" for i in range(8)), "m__mass"]
    values = both.fit_transform(table)
    assert both.get_feature_names_out().tolist() == expected
    framed = both.set_output(transform="pandas").fit_transform(table)
    assert framed.columns.tolist() == expected
    np.testing.assert_array_equal(framed.to_numpy(), values)
    alone = pk.MoleculesToGraphs().set_output(transform="pandas")
    assert isinstance(alone.transform(["CCO"]), pk.GraphDatabase)


def test_molecules_cannot_be_left_out_of_a_pipeline():
    with pytest.raises(ValueError, match=r'fewer graphs than targets .*: use errors="empty"'):
        pk.MoleculesToGraphs(errors="skip").fit(["CCO"])


def test_bins_of_molecules_are_smarts():
    graphs = pk.MoleculesToGraphs().transform(["CCCC(=O)O", "CCCC(=O)N", "CCO", "CCN"])
    because = str(pk.similar_because(graphs[0], graphs[1]))
    assert "smarts" in because
    assert "[#6]-[#6]" in because
    tested = str(pk.two_sample_test(graphs[:2], graphs[2:], n_permutations=9))
    assert "smarts" in tested
    assert "('" not in because + tested
    plain = pk.check_graphs([*graphs[:2].to_networkx()])
    assert "labels" in str(pk.similar_because(plain[0], plain[1]))
