"""Features in files: equal to those in memory, whoever computes them."""

import shutil

import pytest

import propkernels as pk

from .conftest import contents

ESTIMATORS = [
    pk.PropagationFeatures(n_features=512, t_max=3, random_state=1),
    pk.PropagationFeatures(n_features=2**20, t_max=2, n_hashes=2, random_state=1),
    pk.PropagationFeatures(n_features=512, t_max=2, normalize=True, labels="degree", random_state=1),
    pk.PropagationFeatures(n_features=512, propagation=pk.Diffusion(laziness=0.25), random_state=1),
    pk.PropagationFeatures(n_features=512, t_max=2, base_kernel="intersection", random_state=1),
    pk.WeisfeilerLehmanFeatures(n_features=512, t_max=3),
    pk.ShortestPathFeatures(n_features=512),
    pk.LabelHistogramFeatures(n_features=64, labels=None),
]


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_features_are_those_in_memory(plan, molecules, estimator, tmp_path):
    opened = pk.featurize(plan, estimator, tmp_path / "out")
    expected = estimator.fit_transform(molecules.graphs)
    assert opened.shape == expected.shape
    found = opened.to_scipy()
    assert (found != expected).nnz == 0
    assert found.has_canonical_format
    assert opened.target.tolist() == molecules.target.tolist()
    assert opened.ids.tolist() == list(range(60))
    again = opened.estimator().fit_transform(molecules.graphs)
    assert (again != expected).nnz == 0


def test_the_source_may_be_given_instead_of_a_plan(database, molecules, features, tmp_path):
    opened = pk.featurize(str(database), features, tmp_path)
    assert opened.n_parts == 1
    assert len(opened) == 60


def test_only_missing_files_are_computed(plan, features, tmp_path, monkeypatch):
    from propkernels.scale import featurizing

    opened = pk.featurize(plan, features, tmp_path / "out")
    before = contents(tmp_path / "out")
    opened.path(1).unlink()
    computed = []
    write = featurizing.FeatureWork.write
    monkeypatch.setattr(
        featurizing.FeatureWork,
        "write",
        lambda self, part, *rest: computed.append(part) or write(self, part, *rest),
    )
    pk.featurize(plan, features, tmp_path / "out")
    assert computed == [plan.parts[1]]
    (tmp_path / "out" / "manifest.json").unlink()
    pk.featurize(plan, features, tmp_path / "out")
    assert computed == [plan.parts[1]]
    assert contents(tmp_path / "out") == before


def test_a_database_that_was_moved_is_the_same(database, plan, features, tmp_path):
    pk.featurize(plan, features, tmp_path / "out")
    before = {name: data for name, data in contents(tmp_path / "out").items() if name != "plan.json"}
    moved = pk.partition(shutil.copy(database, tmp_path / "moved.parquet"), nodes_per_part=500)
    pk.featurize(moved, features, tmp_path / "out")
    pk.featurize(moved, features, tmp_path / "other")
    after = {name: data for name, data in contents(tmp_path / "other").items() if name != "plan.json"}
    assert after == before


def test_faulty_molecules_are_left_out_of_the_features(tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "drugs.csv").write_text("smiles,y\nCCO,1\nnot,2\nCC,3\n")
    plan = pk.partition(tmp_path / "drugs.csv", errors="skip")
    features = pk.PropagationFeatures(n_features=64, random_state=0)
    with pytest.warns(UserWarning, match="skipped"):
        opened = pk.featurize(plan, features, tmp_path / "out")
    assert opened.ids.tolist() == [0, 2]
    assert opened.target.tolist() == [1, 3]
    assert opened.shape == (2, 64)
