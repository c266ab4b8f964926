"""A folder of features after any history of runs, losses and damage, beside one undisturbed run."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import propkernels as pk

from .conftest import contents

DATA = pk.datasets.make_molecules(12, random_state=0, mean_nodes=5)


def hashed():
    return pk.PropagationFeatures(n_features=64, t_max=1, random_state=0)


class FolderMachine(RuleBasedStateMachine):
    """Parts may vanish or be damaged; the model knows which, and a run completes the rest or says so."""

    @initialize(nodes=st.sampled_from([15, 30]))
    def make(self, nodes):
        self.root = Path(tempfile.mkdtemp())
        DATA.graphs.to_parquet(self.root / "g.parquet", target=DATA.target, row_group_size=3)
        self.plan = pk.partition(self.root / "g.parquet", nodes_per_part=nodes)
        pk.featurize(self.plan, hashed(), self.root / "whole")
        self.expected = contents(self.root / "whole")
        self.out = self.root / "out"

    def parts(self):
        return sorted(path for path in self.out.glob("*.parquet")) if self.out.exists() else []

    def damaged(self):
        """Parts with other bytes than they should have."""
        return [path for path in self.parts() if path.read_bytes() != self.expected[path.name]]

    def is_believed(self, path):
        """A run believes the manifest of files that have their size; verify reads them."""
        same_size = path.stat().st_size == len(self.expected[path.name])
        return same_size and (self.out / "manifest.json").exists()

    @rule()
    def run(self):
        damaged = self.damaged()
        believed = all(map(self.is_believed, damaged))
        try:
            opened = pk.featurize(self.plan, hashed(), self.out)
        except (ValueError, OSError):
            assert damaged
            return
        assert believed
        assert damaged or contents(self.out) == self.expected
        assert opened.shape[0] == len(DATA.graphs)

    @precondition(lambda self: self.parts())
    @rule(data=st.data())
    def lose(self, data):
        path = data.draw(st.sampled_from(self.parts()))
        path.unlink()

    @precondition(lambda self: self.parts())
    @rule(data=st.data(), cut=st.booleans())
    def damage(self, data, cut):
        path = data.draw(st.sampled_from(self.parts()))
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(bytes(content[:-7] if cut else content))

    @precondition(lambda self: self.out.exists() and (self.out / "manifest.json").exists())
    @rule()
    def lose_the_manifest(self):
        (self.out / "manifest.json").unlink()

    @precondition(lambda self: self.out.exists())
    @rule()
    def verify(self):
        is_whole = (self.out / "manifest.json").exists() and contents(self.out) == self.expected
        try:
            pk.verify(self.out)
        except (ValueError, OSError):
            assert not is_whole
        else:
            assert is_whole

    @precondition(lambda self: self.damaged())
    @rule()
    def remove_what_is_damaged(self):
        for path in self.damaged():
            path.unlink()

    def teardown(self):
        shutil.rmtree(getattr(self, "root", ""), ignore_errors=True)


FolderMachine.TestCase.settings = settings(max_examples=8, stateful_step_count=12, deadline=None)
TestFolderMachine = FolderMachine.TestCase
TestFolderMachine.pytestmark = [pytest.mark.slow]
