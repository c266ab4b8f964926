"""Features in files: equal to those in memory, whoever computes them."""

import shutil
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pyarrow.parquet as pq
import pytest

import propkernels as pk
from propkernels.scale.executors import MMAP_THRESHOLD

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


def test_every_executor_writes_the_same_bytes(plan, features, tmp_path):
    loky = pytest.importorskip("joblib.externals.loky")
    pk.featurize(plan, features, tmp_path / "one")
    expected = contents(tmp_path / "one")
    with ThreadPoolExecutor(3) as pool:
        pk.featurize(plan, features, tmp_path / "threads", pool)
    features.set_params(n_jobs=2)
    pk.featurize(plan, features, tmp_path / "jobs")
    for name in ("threads", "jobs"):
        assert contents(tmp_path / name) == expected
    assert loky is not None


@pytest.mark.slow
def test_process_pools_write_the_same_bytes(plan, features, tmp_path):
    from joblib.externals.loky import get_reusable_executor

    pk.featurize(plan, features, tmp_path / "one")
    expected = contents(tmp_path / "one")
    with ProcessPoolExecutor(2) as pool:
        pk.featurize(plan, features, tmp_path / "pool", pool)
    loky = get_reusable_executor(max_workers=2)
    pk.featurize(plan, features, tmp_path / "loky", loky)
    loky.shutdown()
    pk.featurize(plan, features, tmp_path / "number", 2)
    for name in ("pool", "loky", "number"):
        assert contents(tmp_path / name) == expected


@pytest.mark.slow
def test_dask_writes_the_same_bytes(plan, features, tmp_path):
    distributed = pytest.importorskip("distributed")
    pk.featurize(plan, features, tmp_path / "one")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
    ) as cluster:
        with distributed.Client(cluster) as client:
            pk.featurize(plan, features, tmp_path / "client", client)
            pk.featurize(plan, features, tmp_path / "executor", client.get_executor())
            assert client.status == "running"
        pk.featurize(plan, features, tmp_path / "cluster", cluster)
        pk.featurize(plan, features, tmp_path / "address", cluster.scheduler_address)
    for name in ("client", "executor", "cluster", "address"):
        assert contents(tmp_path / name) == contents(tmp_path / "one")


@pytest.mark.skipif(sys.platform != "linux", reason="malloc of glibc")
def test_workers_that_map_every_array_anew_are_told_of(plan, features, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    monkeypatch.delenv(MMAP_THRESHOLD, raising=False)
    with distributed.Client(processes=False, n_workers=1, dashboard_address=":0") as client:
        with pytest.warns(UserWarning, match="start them with MALLOC_MMAP_THRESHOLD_=33554432"):
            pk.featurize(plan, features, tmp_path / "slow", client)
        monkeypatch.setenv(MMAP_THRESHOLD, str(2**25))
        pk.featurize(plan, features, tmp_path / "fast", client)  # warnings are errors
    assert contents(tmp_path / "slow") == contents(tmp_path / "fast")


def test_the_source_may_be_given_instead_of_a_plan(database, molecules, features, tmp_path):
    opened = pk.featurize(str(database), features, tmp_path)
    assert opened.n_parts == 1
    assert len(opened) == 60


def test_files_say_what_they_hold(plan, features, tmp_path):
    opened = pk.featurize(plan, features, tmp_path / "out")
    schema = pq.read_schema(opened.path(0))
    assert [str(field.type) for field in schema] == [
        "int64",
        "list<element: uint32>",
        "list<element: uint32>",
        "int64",
    ]
    notes = schema.metadata[b"propkernels"].decode()
    for text in ("PropagationFeatures", '"random_state":0', f'"version":"{pk.__version__}"', '"t_max":2'):
        assert text in notes
    assert opened.parameters["parameters"]["labels"] == "node"


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


def test_fitted_features_of_attributes(tmp_path):
    data = pk.datasets.make_synthetic(12, random_state=0)
    data.graphs.to_parquet(tmp_path / "graphs.parquet", row_group_size=3)
    plan = pk.partition(tmp_path / "graphs.parquet", nodes_per_part=300)
    features = pk.PropagationFeatures(n_features=512, t_max=1, attributes="joint", random_state=0)
    with pytest.raises(ValueError, match="learn their scale: fit them on a sample"):
        pk.featurize(plan, features, tmp_path / "out")
    features.fit(data.graphs[:6])
    opened = pk.featurize(plan, features, tmp_path / "out")
    assert (opened.to_scipy() != features.transform(data.graphs)).nnz == 0
    with pytest.raises(ValueError, match="keep the fitted estimator"):
        opened.estimator()
    with pytest.raises(ValueError, match="holds other results"):
        pk.featurize(plan, features.fit(data.graphs[:7]), tmp_path / "out")


def test_missing_labels_need_fitted_features(tmp_path):
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    graphs = pk.check_graphs([(path, ["C", "O", "C"])] * 3 + [(path, ["C", None, "C"])])
    graphs.to_parquet(tmp_path / "graphs.parquet", row_group_size=1)
    features = pk.PropagationFeatures(n_features=64, random_state=0)
    with pytest.raises(pk.scale.PartsFailedError, match="a node without a label"):
        pk.featurize(tmp_path / "graphs.parquet", features, tmp_path / "out")
    fitted = features.fit(graphs)
    opened = pk.featurize(tmp_path / "graphs.parquet", fitted, tmp_path / "fitted")
    assert (opened.to_scipy() != fitted.transform(graphs)).nnz == 0
    refinement = pk.WeisfeilerLehmanFeatures(n_features=64)
    opened = pk.featurize(tmp_path / "graphs.parquet", refinement, tmp_path / "wl")
    assert (opened.to_scipy() != refinement.fit_transform(graphs)).nnz == 0


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        (pk.PropagationFeatures(random_state=0), ValueError, r"hash them, PropagationFeatures\(n_features"),
        (pk.PropagationFeatures(n_features=64), ValueError, "random_state must be an integer"),
        (pk.PropagationKernel(), TypeError, "features must be"),
        (pk.PropagationFeatures(n_features=0, random_state=0), ValueError, "n_features must be"),
        ("features", TypeError, "features must be"),
    ],
)
def test_features_that_are_not_pure_are_refused(plan, features, error, message, tmp_path):
    with pytest.raises(error, match=message):
        pk.featurize(plan, features, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_executors_that_are_none_are_refused(plan, features, tmp_path):
    for executor in (True, 2.5, object()):
        with pytest.raises(TypeError, match="executor must be None, a number of processes"):
            pk.featurize(plan, features, tmp_path / "out", executor)


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
