"""Kernels and features on data sets, after loading: seconds."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.case import Case, Result, Settings, estimator
from benchmarks.data import load
from benchmarks.timing import best_of, limit_threads
from propkernels.propagation import GaussianMixtures

PK = estimator("PropagationKernel", t_max=10)
FEATURES = estimator("PropagationFeatures", t_max=10)
HASHED = estimator("PropagationFeatures", t_max=10, n_features=2**20)
SUM = estimator("PropagationKernel", t_max=10, attributes="sum")
P2K = estimator("P2K", t_max=10)
P2K_PAPER = estimator("P2K", t_max=10, attributes=GaussianMixtures(scale=None, ridge=0))
WL = estimator("WeisfeilerLehman", t_max=10)
WL_FEATURES = estimator("WeisfeilerLehmanFeatures", t_max=10)
SP = estimator("ShortestPath")
GH = estimator("GraphHopper", attributes="gaussian")
GH_LABELS = estimator("GraphHopper", attributes=None)
CSM = estimator("SubgraphMatching", k=3)
CSM_7 = estimator("SubgraphMatching", k=7)
CSM_ATTRIBUTES = estimator("SubgraphMatching", k=7, attributes="truncated")

CASES = (
    Case("pk-mutag", "MUTAG", PK, seconds=0.005),
    Case("pk-enzymes", "ENZYMES", PK),
    Case("pk-proteins", "PROTEINS", PK),
    Case("pk-nci1", "NCI1", PK, seconds=0.35, megabytes=600),
    Case("pk-dd", "DD", PK, seconds=0.6),
    Case("features-hiv", "HIV", FEATURES, seconds=0.8),
    Case("hashed-features-hiv", "HIV", HASHED),
    Case("attributes-bzr", "BZR", SUM, seconds=0.15),
    Case("attributes-enzymes", "ENZYMES", SUM, seconds=0.8),
    Case("attributes-proteins-full", "PROTEINS_full", SUM, seconds=3.0),
    Case("p2k-bzr", "BZR", P2K, seconds=1.0),
    Case("p2k-paper-bzr", "BZR", P2K_PAPER, seconds=1.0),
    Case("p2k-enzymes", "ENZYMES", P2K, seconds=2.0),
    Case("p2k-proteins-full", "PROTEINS_full", P2K, seconds=3.0, megabytes=2000),
    Case("grids-plants", "PLANTS", PK, seconds=1.5),
    Case("grids-brodatz", "BRODATZ", PK, seconds=10.0, megabytes=4000, slow=True),
    Case("wl-mutag", "MUTAG", WL),
    Case("wl-enzymes", "ENZYMES", WL),
    Case("wl-proteins", "PROTEINS", WL),
    Case("wl-nci1", "NCI1", WL, seconds=0.8),
    Case("wl-dd", "DD", WL, seconds=1.5),
    Case("wl-features-hiv", "HIV", WL_FEATURES),
    Case("sp-mutag", "MUTAG", SP),
    Case("sp-enzymes", "ENZYMES", SP),
    Case("sp-proteins", "PROTEINS", SP),
    Case("sp-nci1", "NCI1", SP, seconds=2.0),
    Case("sp-dd", "DD", SP, seconds=30.0, slow=True),
    Case("gh-labels-mutag", "MUTAG", GH_LABELS, seconds=0.3),
    Case("gh-labels-enzymes", "ENZYMES", GH_LABELS, seconds=2.0),
    Case("gh-labels-proteins", "PROTEINS", GH_LABELS, slow=True),
    Case("gh-enzymes", "ENZYMES", GH, seconds=60.0, slow=True),
    Case("csm-mutag", "MUTAG", CSM, seconds=2.0),
    Case("csm-labels-enzymes", "ENZYMES", CSM_7),
    Case("csm-labels-nci1", "NCI1", CSM_7),
    Case("csm-enzymes", "ENZYMES", CSM_ATTRIBUTES, seconds=600.0, slow=True),
)


def measure(case: Case, settings: Settings) -> Iterator[Result]:
    """Time a case with every number of threads."""
    data = load(case.dataset)
    for threads in settings.threads:
        with limit_threads(threads):
            times = best_of(case.prepare(data, threads), settings)
        note = f"median {times['median']:.3g} s of {times['rounds']}"
        yield Result(
            case.name,
            "kernels",
            case.dataset,
            threads,
            "s",
            times["min"],
            case.seconds,
            note=note,
            processor=times["processor"],
            details=times,
        )
