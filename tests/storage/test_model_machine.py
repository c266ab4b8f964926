"""One model file that several models are saved to, beside the one that was saved last."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import propkernels as pk
from propkernels.kernels import LabelHistogram

DATA = pk.datasets.make_molecules(16, random_state=0, mean_nodes=5)
MODELS = (
    pk.PropagationKernel(t_max=1, random_state=0).fit(DATA.graphs),
    pk.WeisfeilerLehmanFeatures(n_features=32).fit(DATA.graphs),
    LabelHistogram().fit(DATA.graphs),
    pk.PropagationRegressor(kernel=LabelHistogram(), C=1.0, cv=2, random_state=0).fit(
        DATA.graphs, np.linspace(0, 1, 16)
    ),
    pk.NoveltyDetector(random_state=0).fit(DATA.graphs),
)


def answer(model):
    """What a model says about the first graphs."""
    use = next(
        getattr(model, name) for name in ("transform", "score_samples", "predict") if hasattr(model, name)
    )
    found = use(DATA.graphs[:4])
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found)


class ModelMachine(RuleBasedStateMachine):
    """The file is the last model that was saved whole, whatever failed in between."""

    @initialize()
    def start(self):
        self.folder = Path(tempfile.mkdtemp())
        self.path, self.saved = self.folder / "model.pk", None

    @rule(number=st.integers(0, len(MODELS) - 1))
    def save(self, number):
        pk.save_model(MODELS[number], self.path)
        self.saved = MODELS[number]

    @rule(what=st.sampled_from([object(), 3, "text", pk.PropagationKernel(base_kernel=lambda a, b: a @ b.T)]))
    def fail_to_save(self, what):
        try:
            pk.save_model(what, self.path)
        except TypeError:
            return
        raise AssertionError(f"{what} was saved")

    @precondition(lambda self: self.saved is not None)
    @rule()
    def load(self):
        assert np.array_equal(answer(pk.load_model(self.path)), answer(self.saved))

    @precondition(lambda self: self.saved is not None)
    @rule()
    def load_and_save_again(self):
        pk.save_model(pk.load_model(self.path), self.path)
        assert np.array_equal(answer(pk.load_model(self.path)), answer(self.saved))

    @precondition(lambda self: self.saved is not None)
    @rule(at=st.floats(0, 1, exclude_max=True))
    def cut_off(self, at):
        data = self.path.read_bytes()
        self.path.write_bytes(data[: int(at * len(data))])
        try:
            pk.load_model(self.path)
        except pk.storage.ModelFileError:
            self.path.write_bytes(data)
            return
        raise AssertionError("half of a model was loaded")

    def teardown(self):
        assert not list(self.folder.glob("*.part"))
        shutil.rmtree(self.folder)


ModelMachine.TestCase.settings = settings(max_examples=10, stateful_step_count=12, deadline=None)
TestModelMachine = ModelMachine.TestCase
TestModelMachine.pytestmark = [pytest.mark.slow]
