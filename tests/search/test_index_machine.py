"""An index after any history of adding, removing, saving and copying, beside the whole kernel matrix."""

import copy
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import propkernels as pk
from propkernels.kernels import LabelHistogram

POOL = pk.datasets.make_molecules(12, random_state=3, mean_nodes=5).graphs
KERNELS = (pk.PropagationKernel(t_max=1, random_state=1), pk.WeisfeilerLehman(t_max=1), LabelHistogram())
FULL = [kernel.set_params(normalize=True).fit_transform(POOL) for kernel in KERNELS]


class IndexMachine(RuleBasedStateMachine):
    """The model is a dictionary: which graph of the pool each id stands for, in the order of adding."""

    @initialize(kernel=st.integers(0, len(KERNELS) - 1), n=st.integers(1, 4))
    def fit(self, kernel, n):
        self.full = FULL[kernel]
        self.index = pk.GraphIndex(kernel=KERNELS[kernel]).fit(POOL[:n])
        self.model = {i: i for i in range(n)}
        self.n_added = n

    @rule(place=st.integers(0, len(POOL) - 1))
    def add(self, place):
        self.index.add(POOL[[place]])
        self.model[self.n_added] = place
        self.n_added += 1

    @rule(place=st.integers(0, len(POOL) - 1), name=st.text(min_size=1, max_size=3))
    def add_by_name(self, place, name):
        if name in self.model:
            try:
                self.index.add(POOL[[place]], ids=[name])
            except ValueError:
                return
            raise AssertionError("an id was taken twice")
        self.index.add(POOL[[place]], ids=[name])
        self.model[name] = place
        self.n_added += 1

    @precondition(lambda self: len(self.model) > 1)
    @rule(data=st.data())
    def remove(self, data):
        name = data.draw(st.sampled_from(list(self.model)))
        self.index.remove([name])
        del self.model[name]

    @rule(way=st.sampled_from(["save", "pickle", "copy", "deepcopy"]))
    def replace(self, way):
        if way == "save":
            with tempfile.TemporaryDirectory() as folder:
                pk.save_model(self.index, Path(folder) / "index.pk")
                self.index = pk.load_model(Path(folder) / "index.pk")
        elif way == "pickle":
            self.index = pickle.loads(pickle.dumps(self.index))
        else:
            self.index = getattr(copy, way)(self.index)

    @rule(query=st.integers(0, len(POOL) - 1), k=st.integers(1, 6))
    def query(self, query, k):
        similarities, ids = self.index.query(POOL[[query]], k=k)
        names = list(self.model)
        exact = np.array([self.full[query, self.model[name]] for name in names])
        assert len(ids[0]) == min(k, len(names))
        np.testing.assert_allclose(
            similarities[0], np.sort(exact)[::-1][: len(ids[0])], rtol=1e-12, atol=1e-15
        )
        found = [self.full[query, self.model[name]] for name in ids[0].tolist()]
        np.testing.assert_allclose(similarities[0], found, rtol=1e-12, atol=1e-15)

    @invariant()
    def has_the_same_ids(self):
        if hasattr(self, "index"):
            assert self.index.ids_.tolist() == list(self.model)


IndexMachine.TestCase.settings = settings(max_examples=10, stateful_step_count=15, deadline=None)
TestIndexMachine = IndexMachine.TestCase
TestIndexMachine.pytestmark = [pytest.mark.slow]
