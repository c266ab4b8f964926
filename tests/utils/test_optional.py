"""Optional packages: a sentence with the command that installs them."""

import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

import pytest

import propkernels
from propkernels._utils.optional import data_frame, has_package, import_optional

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
SOURCES = "\n".join(path.read_text() for path in Path(propkernels.__file__).parent.rglob("*.py"))
USES = re.findall(r'import_optional\(\s*"(\w+)[\w.]*",\s*extra="(\w+)"', SOURCES)
USED = sorted({(module, extra) for module, extra in USES if module != "not_there"})


@pytest.mark.parametrize(("module", "extra"), USED)
def test_what_is_missing_is_named_with_the_requirement_of_its_extra(monkeypatch, module, extra):
    """The command works without the name of this package, which may be installed from anywhere."""
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(
        importlib.metadata, "requires", lambda _: [f"{one}; extra == '{extra}'" for one in EXTRAS[extra]]
    )
    with pytest.raises(ImportError, match=r"^this needs [\w-]+: install it with pip install '") as caught:
        import_optional(module, extra=extra, purpose="this needs")
    assert str(caught.value).partition(" pip install ")[2].strip("'") in EXTRAS[extra]


def test_a_package_without_requirement_is_named_alone():
    with pytest.raises(ImportError, match=r"this needs not_there: install it with pip install not_there$"):
        import_optional("not_there.at_all", extra="extra", purpose="this needs")


def test_a_package_that_lacks_something_else_says_so_itself(monkeypatch, tmp_path):
    (tmp_path / "halfway.py").write_text("import not_installed_at_all")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="not_installed_at_all"):
        import_optional("halfway", extra="extra", purpose="this needs")


def test_tables_take_texts_that_utf_8_cannot_encode():
    pytest.importorskip("pandas")
    records = [{"name": "\udce9", "several": ["\udce9", 1], "by name": {"\udce9": 2}}]
    escaped = [{"name": r"\udce9", "several": [r"\udce9", 1], "by name": {r"\udce9": 2}}]
    assert data_frame(records).to_dict("records") in (records, escaped)  # older versions of pandas take them
    assert data_frame([{"a": 1, "b": 2}], ["b"]).columns.tolist() == ["b"]


def test_whether_a_package_is_there():
    assert has_package("numpy")
    assert not has_package("not_there")
