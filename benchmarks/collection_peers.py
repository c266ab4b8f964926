"""scikit-fingerprints and polygraph-benchmark on the molecules of :mod:`benchmarks.collections`.

Neither is a dependency: install them into an environment of their own, with this package, and run
``python -m benchmarks.collections FOLDER --only fingerprints polygraph --write`` there. Both sides of a row
run in one process. Where a package is missing, the page says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

import propkernels as pk

Values = dict[str, Any]
N_SEARCHED, N_SPLIT, N_TESTED = 100_000, 10_000, 1000
N_NULL, N_SMALL = 200, 40  # samples of one distribution, and their graphs per side
SIMILARITY = 0.6


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds of a call, and its result."""
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


def installed(package: str) -> str:
    """Return the version of a package; an empty text if it is missing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def measure_fingerprints(
    smiles: Sequence[str], graphs: pk.GraphDatabase, split: pk.GraphDatabase, kernel: Any
) -> Values:
    """Search and split beside scikit-fingerprints: ``graphs`` and ``split`` are the first of ``smiles``."""
    if not installed("scikit-fingerprints"):
        return {"missing": "scikit-fingerprints is not installed here, and was not measured."}
    from skfp.distances import bulk_tanimoto_binary_similarity, bulk_tanimoto_count_similarity
    from skfp.fingerprints import ECFPFingerprint
    from skfp.model_selection import butina_train_test_split

    few = list(smiles[:N_SPLIT])
    counts = ECFPFingerprint(count=True, sparse=True).transform(list(smiles[: len(graphs)]))
    index = pk.GraphIndex(kernel=kernel, similarity="jaccard").fit(graphs)
    places = np.random.default_rng(0).choice(len(graphs), 20, replace=False).tolist()

    def nearest(place: int) -> Any:
        values = bulk_tanimoto_count_similarity(counts[[place]], counts)[0]
        return np.argpartition(-values, 1000)[:1000]

    found: Values = {"version": installed("scikit-fingerprints"), "graphs": len(graphs), "split": len(few)}
    index.query(graphs[places[0]], k=1000)
    found["k = 1000"] = [1e3 * float(np.median([seconds(call)[0] for call in calls])) for calls in (
        [lambda i=i: index.query(graphs[i], k=1000) for i in places],
        [lambda i=i: nearest(i) for i in places],
    )]  # fmt: skip
    splitter = pk.SimilaritySplit(1, test_size=0.2, threshold=SIMILARITY, kernel=kernel, random_state=0)
    ours = seconds(lambda: next(splitter.split(split)))
    theirs = seconds(lambda: butina_train_test_split(few, threshold=1 - SIMILARITY, return_indices=True))
    found["split seconds"] = [ours[0], theirs[0]]
    prints = ECFPFingerprint(sparse=True).transform(few)
    to_known = bulk_tanimoto_binary_similarity(prints[theirs[1][1]], prints[theirs[1][0]])
    known = pk.GraphIndex(kernel=kernel, similarity="jaccard").fit(split[ours[1][0]])
    leaks = known.query(split[ours[1][1]], at_least=SIMILARITY).ids
    is_leak = [len(one) > 0 for one in leaks], to_known.max(axis=1) >= SIMILARITY
    found["leaks"] = [float(np.mean(own)) for own in is_leak]
    return found


def measure_polygraph(pool: pk.GraphDatabase) -> Values:
    """Test samples of ``pool`` beside polygraph."""
    if not installed("polygraph-benchmark"):
        return {"missing": "polygraph-benchmark is not installed here, and was not measured."}
    kernel = pk.WeisfeilerLehman(t_max=2)
    found: Values = {"version": installed("polygraph-benchmark")}
    found["test"] = _one_test(pool[:N_TESTED], pool[N_TESTED : 2 * N_TESTED], kernel)
    found["level"] = _levels(pool, kernel)
    return found


def _polygraph_test(first: list[Any]) -> Any:
    """Return polygraph's permutation test of MMD^2 (Gretton et al., equation 3) with refinement by labels."""
    from polygraph.two_sample_tests.permutation_mmd import BootStrapMMDTest
    from polygraph.utils.descriptors import WeisfeilerLehmanDescriptor
    from polygraph.utils.kernels import LinearKernel

    descriptor = WeisfeilerLehmanDescriptor(iterations=2, use_node_labels=True, node_label_key="label")
    return BootStrapMMDTest(first, LinearKernel(descriptor), variant="umve")


def _one_test(first: pk.GraphDatabase, second: pk.GraphDatabase, kernel: Any) -> Values:
    """Return seconds, statistic and p-value of one test, ours and polygraph's."""
    pk.two_sample_test(first[:20], second[:20], kernel=kernel, n_permutations=9)
    ours = seconds(lambda: pk.two_sample_test(first, second, kernel=kernel, n_permutations=999))
    left, right = (pk.convert.to_networkx(own) for own in (first, second))
    _polygraph_test(left[:20]).compute(right[:20], 9)  # compiled before it is timed

    def theirs() -> Any:
        return _polygraph_test(left)._get_realized_and_samples(right, 999)

    taken, (statistic, permuted) = seconds(theirs)
    return {
        "graphs": len(first),
        "seconds": [ours[0], taken],
        "statistic": [ours[1].statistic, float(statistic)],
        "p": [ours[1].p_value, float((permuted >= statistic).mean())],
    }


def _levels(pool: pk.GraphDatabase, kernel: Any) -> Values:
    """Return the share of p-values up to 0.05 among samples of one distribution, and the least one."""
    rng, values = np.random.default_rng(1), ([], [])  # type: tuple[list[float], list[float]]
    for number in range(N_NULL):
        places = rng.permutation(len(pool))[: 2 * N_SMALL]
        first, second = pool[places[:N_SMALL]], pool[places[N_SMALL:]]
        values[0].append(
            pk.two_sample_test(first, second, kernel=kernel, n_permutations=99, random_state=number).p_value
        )
        left, right = (pk.convert.to_networkx(own) for own in (first, second))
        values[1].append(float(_polygraph_test(left).compute(right, 99)))
    shares = [float(np.mean(np.array(own) <= 0.05)) for own in values]
    return {"repetitions": N_NULL, "graphs": N_SMALL, "share": shares, "least": [min(own) for own in values]}


# The page


def fingerprint_lines(found: Values) -> Iterator[str]:
    """Yield the section on scikit-fingerprints."""
    yield "## vs. scikit-fingerprints"
    yield ""
    if "missing" in found:
        yield found["missing"]
        return
    yield from FINGERPRINTS.format(**found).splitlines()
    ours, theirs = found["k = 1000"]
    yield f"| k = 1000 among {found['graphs']:,}, one core | {ours:.1f} ms | {theirs:.1f} ms |"
    ours, theirs = found["split seconds"]
    yield f"| split {found['split']:,} at {SIMILARITY} | {ours:.1f} s | {theirs:.1f} s |"
    ours, theirs = found["leaks"]
    name = f"test molecules with a training molecule at {SIMILARITY} or more"
    yield f"| {name} | {100 * ours:.1f} % | {100 * theirs:.1f} % |"


def polygraph_lines(found: Values) -> Iterator[str]:
    """Yield the section on polygraph-benchmark."""
    yield "## vs. polygraph-benchmark"
    yield ""
    if "missing" in found:
        yield found["missing"]
        return
    yield from POLYGRAPH.format(**found).splitlines()
    one, level = found["test"], found["level"]
    rows = [
        (f"MMD² of {one['graphs']:,} and {one['graphs']:,} molecules", "{:.6g}", one["statistic"]),
        ("its p-value, 999 permutations", "{:.3f}", one["p"]),
        ("processor time", "{:.2f} s", one["seconds"]),
        (
            f"p at most 0.05, {level['repetitions']} pairs of samples of one distribution",
            "{:.1f} %",
            [100 * share for share in level["share"]],
        ),
        ("least p-value, 99 permutations", "{:.2f}", level["least"]),
    ]
    for name, form, (ours, theirs) in rows:
        yield f"| {name} | {form.format(ours)} | {form.format(theirs)} |"


FINGERPRINTS = """scikit-fingerprints {version} compares a query with all molecules. Its similarity of counts
divides dot products; ours divides sums of smaller counts by sums of larger ones. Its split clusters binary
fingerprints by Butina's method and deals out whole clusters, so that molecules of different clusters may be
near; ours deals out connected groups. Leaks are counted by the similarity of each split.

| task | propkernels | scikit-fingerprints |
|---|---|---|"""
POLYGRAPH = """polygraph-benchmark {version} computes the same statistic, from a matrix of all pairs. Its
p-value is the share of permutations alone, which can be 0; ours counts the given order too, which makes it
exact.

| test | propkernels | polygraph-benchmark |
|---|---|---|"""
