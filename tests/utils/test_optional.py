"""Optional packages: a sentence that names the extra."""

import sys

import pytest

from propkernels._utils.optional import import_optional


def test_what_is_installed_is_returned():
    assert import_optional("os.path", extra="none", purpose="this needs").sep


@pytest.mark.parametrize(
    ("module", "package"), [("PIL.Image", "Pillow"), ("skimage", "scikit-image"), ("pandas", "pandas")]
)
def test_what_is_missing_is_named_with_its_extra(monkeypatch, module, package):
    monkeypatch.setitem(sys.modules, module.partition(".")[0], None)
    message = rf"^this needs {package}: install it with pip install 'propkernels\[extra\]'$"
    with pytest.raises(ImportError, match=message):
        import_optional(module, extra="extra", purpose="this needs")


def test_a_package_that_lacks_something_else_says_so_itself(monkeypatch, tmp_path):
    (tmp_path / "halfway.py").write_text("import not_installed_at_all")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="not_installed_at_all"):
        import_optional("halfway", extra="extra", purpose="this needs")
