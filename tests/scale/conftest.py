"""A small database in a file, its plan, and features."""

import pytest

import propkernels as pk
from propkernels.scale.partition import iter_part

pytest.importorskip("pyarrow")


@pytest.fixture(scope="session")
def molecules():
    return pk.datasets.make_molecules(60, random_state=0)


@pytest.fixture(scope="session")
def database(molecules, tmp_path_factory):
    path = tmp_path_factory.mktemp("database") / "graphs.parquet"
    molecules.graphs.to_parquet(path, target=molecules.target, row_group_size=10)
    return path


@pytest.fixture(scope="session")
def plan(database):
    return pk.scale.partition(database, nodes_per_part=500)


@pytest.fixture
def features():
    return pk.PropagationFeatures(n_features=1024, t_max=2, random_state=0)


def contents(folder):
    """Bytes of all files that are not hidden."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


@pytest.fixture
def dask_cluster():
    """Two processes of Dask, set as docs/guide/scale.md says."""
    dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**25}),
        distributed.LocalCluster(**options) as cluster,
    ):
        yield cluster


def graphs_of(plan):
    """All graphs of a plan, targets and ids, part by part."""
    return [[(b.graphs, b.target, b.ids) for b in iter_part(part)] for part in plan]


@pytest.fixture
def out(plan, features, tmp_path):
    """A folder of features of the plan."""
    pk.featurize(plan, features, tmp_path / "out")
    return tmp_path / "out"
