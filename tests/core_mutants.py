"""Mistakes made by hand in src/core, each of which a test must notice: ``make core-mutants``.

Each mistake is a replacement in one file. The core is built with it in a copy of the tree, and the tests that
are named must fail. Words of the command line choose mistakes by file or number. Takes about half an hour.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "mutants"


class Mutant(NamedTuple):
    """A file of src/core, what it says, what it says wrongly, and the tests that must notice."""

    file: str
    right: str
    wrong: str
    tests: str


CODES, COUNTS, KERNELS = "tests/codes", "tests/counts", "tests/kernels"
MUTANTS = [
    Mutant(
        "common.hpp", "down - (double(down) > value)", "down - (double(down) >= value)", f"{CODES} {KERNELS}"
    ),
    Mutant(
        "common.hpp",
        "uint64_t(code) * GOLDEN + uint64_t(other)",
        "uint64_t(code) * GOLDEN ^ 0",
        f"{CODES} {KERNELS}",
    ),
    Mutant(
        "common.hpp",
        "(z ^ (z >> 27)) * SECOND_FACTOR",
        "(z ^ (z >> 26)) * SECOND_FACTOR",
        f"tests/utils {CODES}",
    ),
    Mutant("common.hpp", "while (slots[slot] >= 0 &&", "if (slots[slot] >= 0 &&", f"{COUNTS} {KERNELS}"),
    Mutant("threads.cpp", "if (!error) error = std::current_exception();", "", "tests/test_core.py"),
    Mutant("threads.cpp", "next.store(end);", "", "tests/test_core.py"),
    Mutant(
        "threads.cpp", "if (PyErr_CheckSignals() != 0) throw nb::python_error();", "", "tests/test_core.py"
    ),
    Mutant(
        "threads.cpp", "[] { pool = new Pool; }", "[] {}", "tests/test_core.py tests/utils/test_parallel.py"
    ),
    Mutant("walk.hpp", "if (keep != 0.0)", "if (keep == 0.0)", f"{CODES} {KERNELS}"),
    Mutant("walk.hpp", "weight * (labeled ?", "(labeled ?", f"{CODES} {KERNELS}"),
    Mutant(
        "attributes.hpp",
        "return label == NO_BIN ? NO_BIN : join(label, code);",
        "return join(label, code);",
        f"{CODES} {KERNELS}",
    ),
    Mutant(
        "codes.cpp",
        "then[(i - at.base) * LANES + lane] += restart * from[lane]",
        "then[(i - at.base) * LANES + lane] += from[lane]",
        "tests/propagation",
    ),
    Mutant(
        "codes.cpp",
        "if (step.pushed_back) push_back(then, step.pushed_back.data(), start, column, at);",
        "",
        "tests/propagation",
    ),
    Mutant(
        "codes.cpp",
        "mix_word(mix_word(before[i]) + total)",
        "mix_word(before[i] + total)",
        "tests/sets tests/storage/test_golden.py",
    ),
    Mutant(
        "counts.cpp",
        "} else if (bins[b].place >= row_start) {",
        "} else if (bins[b].place > row_start) {",
        f"{COUNTS} {KERNELS}",
    ),
    Mutant("counts.cpp", "if (code == NO_BIN) continue;", "", f"{COUNTS} {KERNELS}"),
    Mutant("gram.cpp", "if (together >= limit) move();", "", f"{COUNTS} {KERNELS}"),
    Mutant("gram.cpp", "if (own >= limit) return false;", "", f"{COUNTS} {KERNELS}"),
    Mutant("gram.cpp", "place += is_rest ? size : 0;", "place += is_rest ? 1 : 0;", f"{COUNTS} {KERNELS}"),
    Mutant("products.cpp", "row[j] *= own * others[j]", "row[j] *= own", f"{COUNTS} {KERNELS}"),
    Mutant("products.cpp", "if (j > i) break;", "if (j >= i) break;", f"{COUNTS} {KERNELS}"),
    Mutant(
        "columns.cpp",
        "mixed & mask : mixed % n_features",
        "mixed & mask : mixed & mask",
        f"{COUNTS} {KERNELS}",
    ),
    Mutant("columns.cpp", "sum = (is_new ? 0.0 : sum)", "sum = 0.0", f"{COUNTS} {KERNELS}"),
    Mutant(
        "paths.cpp",
        "if (near.length > found[near.node]) continue;",
        "if (near.length >= found[near.node]) continue;",
        KERNELS,
    ),
    Mutant(
        "paths.cpp",
        "mix_word(begin + mix_other(end_key ^ word))",
        "mix_word(begin + mix_other(end_key))",
        KERNELS,
    ),
    Mutant(
        "entries.cpp",
        "std::min(count, number) : count * number",
        "std::max(count, number) : count * number",
        "tests/explain tests/models",
    ),
    Mutant(
        "entries.cpp",
        "const double half = 0.5 * values[place] / counts[place];",
        "const double half = values[place] / counts[place];",
        "tests/explain",
    ),
    Mutant("search.cpp", "rest -= MOST_PACKED;\n            }", "}", "tests/search"),
    Mutant("search.cpp", "low = middle + 1;", "low = middle + 2;", "tests/search"),
    Mutant("cliques.cpp", "left.kinds[e] == right.kinds[f]", "true", KERNELS),
    Mutant(
        "subgraphs.cpp",
        "if (word < best) best = word, symmetries = 0;",
        "if (word < best) best = word;",
        KERNELS,
    ),
    Mutant(
        "grids.cpp",
        "2 * length - 1 - folded",
        "2 * length - 2 - folded",
        f"{CODES} tests/propagation tests/images {KERNELS}",
    ),
    Mutant(
        "structure.cpp",
        "if (cores[j] <= cores[i]) continue;",
        "if (cores[j] < cores[i]) continue;",
        "tests/nodes tests/graphs",
    ),
]


def environment() -> Path:
    """Return the folder of programs that build the core."""
    programs = WORK / "environment" / ("Scripts" if os.name == "nt" else "bin")
    if not (programs / "ninja").exists():
        venv.create(WORK / "environment", with_pip=True)
        wanted = ["cmake", "ninja", "nanobind>=2.9"]
        subprocess.run([programs / "python", "-m", "pip", "install", "--quiet", *wanted], check=True)
    return programs


def build(programs: Path) -> None:
    """Build the core of the copy into its package."""
    paths = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DSKBUILD_STATE=editable", "-DSKBUILD_PROJECT_NAME=propkernels"]
    python = f"-DPython_EXECUTABLE={programs / 'python'}"
    configure = ["cmake", "-S", WORK / "tree", "-B", WORK / "objects", "-G", "Ninja", *options, python]
    for command in (configure, ["cmake", "--build", WORK / "objects"]):
        done = subprocess.run(command, env=paths, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stdout[-2000:] + done.stderr[-2000:])


def passes(tests: str) -> bool:
    """Whether the quick tests of some folders pass with the core of the copy."""
    options = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not slow and not browser and not processes"]
    paths = {**os.environ, "PYTHONPATH": str(WORK / "tree" / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", *options, *tests.split()]
    try:
        done = subprocess.run(command, env=paths, cwd=WORK / "tree", capture_output=True, timeout=900)
    except subprocess.TimeoutExpired:  # a mistake that makes a loop endless is noticed
        return False
    return done.returncode == 0


def main() -> None:
    """Make each mistake in turn, and name those that no test has noticed."""
    programs, tree = environment(), WORK / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    for part in ("src", "tests", "pyproject.toml", "CMakeLists.txt"):
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, tree / part, ignore=ignored)
        else:
            shutil.copy(ROOT / part, tree / part)
    words, unnoticed = sys.argv[1:], []
    for number, mutant in enumerate(MUTANTS, 1):
        if words and str(number) not in words and mutant.file not in words:
            continue
        path = tree / "src" / "core" / mutant.file
        text = path.read_text()
        if text.count(mutant.right) != 1:
            sys.exit(f"{number}: {mutant.file} has {text.count(mutant.right)} times {mutant.right!r}")
        path.write_text(text.replace(mutant.right, mutant.wrong))
        build(programs)
        if passes(mutant.tests):
            unnoticed.append(number)
        print(
            number,
            mutant.file,
            repr(mutant.wrong),
            "MISSED" if number in unnoticed else "noticed",
            flush=True,
        )
        path.write_text(text)
    if unnoticed:
        sys.exit(f"{len(unnoticed)} of {len(MUTANTS)} mistakes were not noticed: {unnoticed}")


if __name__ == "__main__":
    main()
