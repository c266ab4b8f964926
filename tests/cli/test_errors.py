"""What commands refuse: one line on standard error that names what is wrong, and no file."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.cli import console
from propkernels.cli.console import sentence

USAGE = [
    ("dance",),
    ("evaluate", "SMALL", "--t-max", -1),
    ("evaluate", "SMALL", "--folds", 1),
    ("evaluate", "SMALL", "--jobs", 0),
    ("evaluate", "SMALL", "--nonsense"),
    ("evaluate", "SMALL", "--kernel", "best"),
    ("explain", "MODEL", "SMALL"),
    ("similar", "SMALL"),
    ("featurize", "SMALL", "-o", "new", "--n-features", "many"),
]
REFUSED = [
    (("evaluate", "SMALL", "--folds", 30), "cv must be at most 20, the size of the largest class; got 30"),
    (("evaluate", "SMALL", "-o", "nowhere/new.html"), "nowhere is not a folder"),
    (("evaluate", "SMALL", "-o", "new.doc"), "new.doc has an unsupported suffix"),
    (("evaluate", "no/such/folder"), "the file or folder no/such/folder does not exist"),
    (("evaluate", "SMALL", "--standardize", "fragment"), "--standardize applies to molecules"),
    (("evaluate", "SMALL", "--descriptors", "rdkit"), "--descriptors applies to molecules"),
    (("explain", "MODEL", "SMALL", "-g", 40), "SMALL has graphs 0 to 39, got 40"),
    (("explain", "MODEL", "SMALL", "-g", 0, "--class", "red"), "the class red does not exist; the classes"),
    (("explain", "MODEL", "SMALL", "-g", 0, "-o", "new"), "new has an unsupported suffix"),
    (("explain", "MODEL", "SMALL", "-g", 0, "-o", "nowhere/new.png"), "nowhere is not a folder"),
    (("explain", "MODEL", "SMALL", "-g", 0, "--flips", "-o", "new.png"), "--output draws contributions"),
    (("explain", "MODEL", "SMALL", "-g", 0, "--flips", "--class", 7), "the class 7 does not exist"),
    (("explain", "numbers.pk", "SMALL", "-g", 0, "--flips", "--class", "x"), "must be a number"),
    (("similar", "SMALL", "-g", 40), "SMALL has graphs 0 to 39, got 40"),
    (("similar", "SMALL", "-g", 1, "--kernel", "p2k"), "attributes are requested, but the graphs have no"),
    (("similar", "kernel.pk", "--from", "SMALL", "-g", 1), "kernel.pk contains a PropagationKernel, not an"),
    (("similar", "index.pk", "-g", 1), "index.pk is an index: name the data set of the query graph"),
    (("similar", "index.pk", "--from", "SMALL", "-g", 40), "SMALL has graphs 0 to 39, got 40"),
    (("novelty", "SMALL", "SMALL", "-o", "new.png"), "-g N"),
    (("novelty", "SMALL", "SMALL", "-o", "new.csv", "-o", "b.csv"), "one file of scores"),
    (("novelty", "SMALL", "SMALL", "-g", 10000), "got 10000"),
    (("predict", "two.txt", "SMALL"), "two.txt is damaged or not a propkernels model file"),
    (("predict", "kernel.pk", "SMALL"), "kernel.pk contains a PropagationKernel"),
    (("predict", "nothing.pk", "SMALL"), "nothing.pk: no such file or directory"),
    (("predict", "MODEL", "SMALL", "--coverage", "1"), "coverage must be above 0 and below 1, got 1.0"),
    (("fit", "NUMBERS", "-o", "new.pk", "--target", 2), "has 2 target columns without names: choose by num"),
    (("fit", "SMALL", "-o", "two.txt"), "two.txt exists: use --force to overwrite it"),
    (("fit", "SMALL", "-o", "-"), "output to standard output is not supported: name a file"),
    (("fit", "SMALL", "-o", "."), "is a folder: name a file in it"),
    (("fit", "SMALL", "-o", "new.pk", "--t-max", 10**20), "t_max + 1 must be at most 1048576"),
    (("fit", "~nobody-of-this-name/x.csv", "-o", "new.pk"), "the home folder in ~nobody-of-this-name/x.csv"),
    (("fit", "NOSUCH", "-o", "new.pk"), "'propkernels datasets'"),
    (("audit", "SMALL", "-o", "new.pdf"), "use .html or .json"),
    (("explore", "SMALL", "-o", "new.html", "--model", "none.pk"), "none.pk: no such file or directory"),
    (("explore", "NUMBERS", "-o", "new.html"), "NUMBERS has 2 target columns: choose one with --target"),
    (("featurize", "SMALL", "-o", "new", "--workers", 2, "--scheduler", "tcp://x:1"), "exclude each other"),
    (("featurize", "SMALL", "-o", "new", "--n-features", 0), "n_features must be"),
    (("featurize", "nowhere.parquet", "-o", "new"), "nowhere.parquet does not exist"),
    (("help", "dance"), "there is no command 'dance'"),
    (("nodes", "fit", "e.csv", "-o", "new.pk", "--target", "subject"), "there is no column 'subject'"),
    (("fit", "drugs.csv", "-o", "new.pk", "--target", "ic50"), "1 censored value, such as '>10000'"),
    (("fit", "drugs.csv", "-o", "new.pk", "--target", "ic50", "--standardize", "salts"), "got 'salts'"),
    (("fit", "drugs.csv", "-o", "new.pk", "--target", "ic50", "--descriptors", "beauty"), "got 'beauty'"),
    (("fit", "drugs.csv", "-o", "new.pk", "--target", "dose"), "the target 'dose' has infinite numbers"),
    (("fit", "old.csv", "-o", "new.pk"), "old.csv cannot be read as a table: its lines end in a carriage"),
    (("fit", "", "-o", "new.pk"), "the name of the data set is empty"),
    (("explore", "SMALL", "-o", "two.txt"), "two.txt has an unsupported suffix: use .html"),
    (("featurize", "SMALL", "-o", "two.txt"), "two.txt is a file: name a folder"),
    (("predict", "MODEL", "SMALL", "-o", "new.csv", "--skipped", "new.csv"), "new.csv is named twice"),
    (("predict", "nodes.pk", "SMALL"), "nodes.pk holds a NodeClassifier: 'propkernels nodes predict' reads"),
    (("explain", "rbf.pk", "SMALL", "-g", 1), "WeisfeilerLehman is not a dot product of counts with"),
]


@pytest.fixture
def names(run, small_folder, model_file, numbers, tmp_path):
    """Run commands whose words name files."""
    (tmp_path / "two.txt").write_text("1\n2\n")
    graphs = pk.datasets.read_tu(small_folder).graphs
    pk.save_model(pk.PropagationKernel(), tmp_path / "kernel.pk")
    pk.save_model(pk.GraphIndex().fit(graphs), tmp_path / "index.pk")
    (tmp_path / "drugs.csv").write_text("smiles,ic50,dose\nCCO,5.1,1\nCCN,>10000,1e400\nCCC,6,2\n")
    (tmp_path / "old.csv").write_text("smiles,y\rCCO,1\rCCN,2\r")
    pk.save_model(pk.NodeClassifier().fit(graphs[0], np.arange(graphs[0].n_nodes) % 2), tmp_path / "nodes.pk")
    (tmp_path / "e.csv").write_text("from,to\na,b\n")
    rbf = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(base_kernel="rbf"), t_max=1, C=1.0)
    pk.save_model(rbf.fit(graphs, np.arange(40) % 2), tmp_path / "rbf.pk")
    regressor = pk.PropagationRegressor(kernel=pk.WeisfeilerLehman(t_max=1), C=1.0, random_state=0)
    pk.save_model(regressor.fit(graphs, graphs.graph_sizes + 0.5), tmp_path / "numbers.pk")
    places = {"SMALL": small_folder, "MODEL": model_file, "NUMBERS": numbers}
    return lambda words: run(*(places.get(word, word) for word in words))


@pytest.mark.parametrize(("words", "message"), REFUSED, ids=lambda value: " ".join(map(str, value[:4])))
def test_refusals(names, tmp_path, words, message):
    result = names(words)
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1), result.output
    assert result.stderr.startswith("propkernels: ")
    assert message in result.stderr
    assert "()" not in result.stderr
    assert "=True" not in result.stderr
    assert not list(tmp_path.glob("new*"))


@pytest.mark.parametrize("words", USAGE, ids=lambda words: " ".join(map(str, words)))
def test_usage(names, words):
    result = names(words)
    assert result.exit_code == 2
    assert "Usage: " in result.stderr


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("two\nlines"), "two lines"),
        (PermissionError(13, "Permission denied", "K.npz"), "K.npz: permission denied"),
        (OSError("the disk is gone"), "the disk is gone"),
        (OSError(28, "No space left on device"), "no space left on device"),
        (MemoryError(), "not enough memory"),
        (MemoryError("Unable to allocate 13 GiB"), "not enough memory (Unable to allocate 13 GiB)"),
        (ValueError(), "ValueError"),
        (KeyError("a mistake"), "KeyError: 'a mistake' (a bug in propkernels; PROPKERNELS_TRACEBACK=1"),
    ],
)
def test_every_error_is_one_line(run, monkeypatch, error, expected):
    def broken():
        raise error

    assert sentence(error).startswith(expected)
    monkeypatch.setattr("propkernels.datasets.list_datasets", broken)
    result = run("datasets")
    assert result.exit_code == 1
    assert result.stderr == f"propkernels: {sentence(error)}\n"
    monkeypatch.setenv(console.TRACEBACK, "1")
    assert run("datasets").exception is error
