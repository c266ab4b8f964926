"""The table of savable classes."""

from propkernels.storage.classes import class_of, known_names


def test_every_class_of_the_table_is_there():
    for name in known_names():
        assert class_of(name).__name__ == name
