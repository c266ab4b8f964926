"""save and load: nothing is lost, whatever was fitted, in this process or another."""

import zipfile

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import propkernels as pk
from propkernels.propagation import Diffusion, LabelImputer
from tests.test_contract_discovery import dense
from tests.zoo import hide_labels

SMALL = pk.datasets.make_molecules(40, random_state=0)
# parameters with which an estimator keeps something else than usual


def round_trip(model, folder):
    pk.save_model(model, folder / "model.pk")
    again = pk.load_model(folder / "model.pk")
    pk.save_model(again, folder / "again.pk")
    assert (folder / "again.pk").read_bytes() == (folder / "model.pk").read_bytes()
    return again


def assert_identical(computed, reference):
    assert np.array_equal(dense(computed), dense(reference))


def test_pipelines_of_this_library_s_estimators(tmp_path):
    graphs = hide_labels(SMALL.graphs, 0.2, random_state=0)
    pipeline = make_pipeline(LabelImputer(tolerance=0.1), pk.WeisfeilerLehman(t_max=2)).fit(graphs[:30])
    assert_identical(round_trip(pipeline, tmp_path).transform(graphs), pipeline.transform(graphs))
    model = pk.PropagationClassifier(kernel=clone(pipeline), C=1.0, random_state=0)
    model.fit(graphs[:30], SMALL.target[:30])
    assert_identical(round_trip(model, tmp_path).predict_proba(graphs), model.predict_proba(graphs))
    with pytest.raises(TypeError, match=r"Pipeline.steps\[1\]\[1\] is a sklearn.svm._classes.SVC"):
        pk.save_model(make_pipeline(pk.PropagationKernel(), SVC()), tmp_path / "model.pk")


def test_settings_that_are_not_fitted_yet(tmp_path):
    model = pk.PropagationClassifier(
        kernel=[pk.WeisfeilerLehman(), pk.PropagationKernel(prior={"C": 0.5, None: 0.5})],
        t_max=range(3),
        C=(0.5, np.float64(2)),
        random_state=np.random.RandomState(7),
    )
    again = round_trip(model, tmp_path)
    assert again.t_max == range(3)
    assert again.kernel[1].prior == {"C": 0.5, None: 0.5}
    assert [type(cost) for cost in again.C] == [float, np.float64]
    assert again.random_state.rand() == np.random.RandomState(7).rand()


# what cannot be saved


class OwnScheme(Diffusion):
    """Somebody's own."""


def own_kernel(x, y):
    return (x @ y.T).toarray()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (pk.PropagationKernel(propagation=OwnScheme()), r"PropagationKernel.propagation is a .*OwnScheme"),
        (
            pk.PropagationKernel(base_kernel=own_kernel),
            r"PropagationKernel.base_kernel is a builtins.function",
        ),
        (pk.PropagationKernel(prior={"C": object()}), r"PropagationKernel.prior\['C'\] is a builtins.object"),
        (np.ones(3), "save_model takes an estimator of this library"),
        (pk.PropagationKernel, "save_model takes an estimator of this library"),
    ],
)
def test_what_is_not_this_library_s(model, message, tmp_path):
    with pytest.raises(TypeError, match=message):
        pk.save_model(model, tmp_path / "model.pk")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("failure", [KeyboardInterrupt, TimeoutError])
def test_an_interrupt_while_a_model_is_saved_comes_out_as_it_is(tmp_path, monkeypatch, failure):
    def interrupted(*arguments):
        raise failure

    kernel = pk.PropagationKernel(t_max=1, random_state=0).fit(SMALL.graphs)
    pk.save_model(kernel, tmp_path / "model.pk")
    before = (tmp_path / "model.pk").read_bytes()
    monkeypatch.setattr(zipfile._ZipWriteFile, "write", interrupted)
    with pytest.raises(failure):
        pk.save_model(kernel, tmp_path / "model.pk")
    assert (tmp_path / "model.pk").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["model.pk"]


@pytest.mark.parametrize(
    "name", ["LogisticRegression", "Ridge", "LinearRegression", "LinearSVC", "LinearSVR"]
)
def test_pipelines_that_end_in_linear_models_of_scikit_learn(name, tmp_path):
    from sklearn import linear_model, svm
    from sklearn.pipeline import make_pipeline

    data = pk.datasets.make_molecules(20, random_state=0)
    last = getattr(linear_model, name, None) or getattr(svm, name)
    extra = {"max_iter": 20_000, "random_state": 0} if name.startswith(("Logistic", "LinearSV")) else {}
    pipeline = make_pipeline(pk.PropagationFeatures(t_max=1, n_features=32, random_state=0), last(**extra))
    pipeline.fit(data.graphs, data.target)
    pk.save_model(pipeline, tmp_path / "m.pk")
    assert np.array_equal(
        pk.load_model(tmp_path / "m.pk").predict(data.graphs), pipeline.predict(data.graphs)
    )
    pipeline[-1].coef_ = np.atleast_2d(pipeline[-1].coef_)[:, :-1]
    with pytest.raises(ValueError, match="every column needs a coefficient"):
        pk.save_model(pipeline, tmp_path / "forged.pk")
