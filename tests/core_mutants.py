"""Mistakes made by hand in src/core, each of which a test must notice: ``make core-mutants``.

Each mistake is a replacement in one file. The core is built with it in a copy of the tree, and the tests that
are named must fail. Words of the command line choose mistakes by file or number. Takes about half an hour.
"""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "mutants"


# file of src/core: the tests that must notice, and pairs of what it says and what it says wrongly
MUTANTS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "common.hpp": (
        "tests/codes tests/kernels tests/utils tests/counts",
        [
            ("down - (double(down) > value)", "down - (double(down) >= value)"),
            ("uint64_t(code) * GOLDEN + uint64_t(other)", "uint64_t(code) * GOLDEN ^ 0"),
            ("(z ^ (z >> 27)) * SECOND_FACTOR", "(z ^ (z >> 26)) * SECOND_FACTOR"),
            ("while (slots[slot] >= 0 &&", "if (slots[slot] >= 0 &&"),
        ],
    ),
    "threads.cpp": (
        "tests/test_core.py tests/utils/test_parallel.py",
        [
            ("if (!error) error = std::current_exception();", ""),
            ("next.store(end);", ""),
            ("if (PyErr_CheckSignals() != 0) throw nb::python_error();", ""),
            ("[] { pool = new Pool; }", "[] {}"),
        ],
    ),
    "walk.hpp": (
        "tests/codes tests/kernels",
        [("if (keep != 0.0)", "if (keep == 0.0)"), ("weight * (labeled ?", "(labeled ?")],
    ),
    "attributes.hpp": (
        "tests/codes tests/kernels",
        [("return label == NO_BIN ? NO_BIN : join(label, code);", "return join(label, code);")],
    ),
    "codes.cpp": (
        "tests/propagation tests/sets tests/storage/test_golden.py",
        [
            (
                "then[(i - at.base) * LANES + lane] += restart * from[lane]",
                "then[(i - at.base) * LANES + lane] += from[lane]",
            ),
            ("if (step.pushed_back) push_back(then, step.pushed_back.data(), streams, column, at);", ""),
            ("mix_word(mix_word(before[i]) + total)", "mix_word(before[i] + total)"),
        ],
    ),
    "counts.cpp": (
        "tests/counts tests/kernels",
        [
            ("} else if (bins[b].place >= row_start) {", "} else if (bins[b].place > row_start) {"),
            ("if (code == NO_BIN) continue;", ""),
        ],
    ),
    "gram.cpp": (
        "tests/counts tests/kernels",
        [
            ("if (largest < rules.exact_float32)", "if (true)"),
            (">> shift == block ? end : entry + 1;", ">> shift >= block ? end : entry + 1;"),
            ("place += is_rest ? size : 0;", "place += is_rest ? 1 : 0;"),
            ("T kept = is_small;", "T kept = 0;"),
        ],
    ),
    "products.cpp": (
        "tests/counts tests/kernels",
        [("row[j] *= own * others[j]", "row[j] *= own"), ("if (j > i) break;", "if (j >= i) break;")],
    ),
    "columns.cpp": (
        "tests/counts tests/kernels",
        [
            ("mixed & mask : mixed % n_features", "mixed & mask : mixed & mask"),
            ("sum = (is_new ? 0.0 : sum)", "sum = 0.0"),
        ],
    ),
    "paths.cpp": (
        "tests/kernels",
        [
            ("if (near > found[u]) continue;", "if (near >= found[u]) continue;"),
            ("mix_word(begin + mix_other(end_key ^ word))", "mix_word(begin + mix_other(end_key))"),
        ],
    ),
    "entries.cpp": (
        "tests/explain tests/models",
        [
            ("std::min(count, number) : count * number", "std::max(count, number) : count * number"),
            (
                "const double half = 0.5 * values[place] / counts[place];",
                "const double half = values[place] / counts[place];",
            ),
        ],
    ),
    "search.cpp": (
        "tests/search",
        [
            ("count * double(postings[place] &", "double(postings[place] &"),
            ("low = middle + 1;", "low = middle + 2;"),
        ],
    ),
    "edits.cpp": (
        "tests/sets",
        [
            ("add(g, done_g, 1), add(h, done_h, -1);", "add(g, done_g, 1), add(h, done_h, 1);"),
            ("if (around(a, b) - before >= -1e-9)", "if (true)"),
            (".out = rows[b][a].in = kind;", ".out = kind;"),
        ],
    ),
    "cliques.cpp": ("tests/kernels", [("left.kinds[e] == right.kinds[f]", "true")]),
    "subgraphs.cpp": (
        "tests/kernels",
        [("if (word < best) best = word, symmetries = 0;", "if (word < best) best = word;")],
    ),
    "grids.cpp": (
        "tests/codes tests/propagation tests/images tests/kernels",
        [
            ("2 * length - 1 - folded", "2 * length - 2 - folded"),
            ("shifts + size / 2, i);", "shifts + size / 4, i);"),
        ],
    ),
    "structure.cpp": (
        "tests/nodes tests/graphs",
        [("cores[j] > k) by_degree", "cores[j] >= k) by_degree")],
    ),
}


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
            shutil.copytree(ROOT / part, tree / part, ignore=ignored, copy_function=shutil.copyfile)
        else:
            shutil.copy(ROOT / part, tree / part)
    every = [(file, tests, *pair) for file, (tests, pairs) in MUTANTS.items() for pair in pairs]
    words, unnoticed = sys.argv[1:], []
    for number, (file, tests, right, wrong) in enumerate(every, 1):
        if words and str(number) not in words and file not in words:
            continue
        path = tree / "src" / "core" / file
        text = path.read_text()
        if text.count(right) != 1:
            sys.exit(f"{number}: {file} has {text.count(right)} times {right!r}")
        path.write_text(text.replace(right, wrong))
        build(programs)
        if passes(tests):
            unnoticed.append(number)
        print(number, file, repr(wrong), "MISSED" if number in unnoticed else "noticed", flush=True)
        path.write_text(text)
    if unnoticed:
        sys.exit(f"{len(unnoticed)} of {len(every)} mistakes were not noticed: {unnoticed}")


if __name__ == "__main__":
    main()
