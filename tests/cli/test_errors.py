"""Errors in one sentence."""

import pytest

from propkernels.cli.errors import sentence


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("two\nlines"), "two lines"),
        (PermissionError(13, "Permission denied", "K.npz"), "K.npz: permission denied"),
        (OSError("the disk is gone"), "the disk is gone"),
        (MemoryError(), "not enough memory"),
        (MemoryError("Unable to allocate 13 GiB"), "not enough memory (Unable to allocate 13 GiB)"),
        (ValueError(), "ValueError"),
    ],
)
def test_sentence(error, expected):
    assert sentence(error) == expected


def test_error_is_one_line_on_stderr(run):
    result = run("evaluate", "no/such/folder")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "propkernels: there is no folder or zip no/such/folder\n"


def test_mistakes_in_the_program_keep_their_traceback(run, monkeypatch):
    def broken():
        raise KeyError("a mistake")

    monkeypatch.setattr("propkernels.datasets.list_datasets", broken)
    assert isinstance(run("datasets").exception, KeyError)
