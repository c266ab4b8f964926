"""Docstrings of public names: related names, references with a place to look, and an example."""

from __future__ import annotations

import inspect
import re
from operator import attrgetter

import pytest

import propkernels as pk

IN_MODULES = [
    "graphs.Graph",
    "graphs.Grid",
    "kernels.AttributeKernel",
    "kernels.DescriptorKernel",
    "kernels.GraphHopper",
    "kernels.LabelHistogram",
    "kernels.LabelHistogramFeatures",
    "kernels.ShortestPathFeatures",
    "kernels.SubgraphMatching",
    "models.ForeignGraphsWarning",
    "nodes.CoincidingWalkKernel",
    "nodes.NodeFeatures",
    "propagation.AbsorbingWalk",
    "propagation.AnisotropicDiffusion",
    "propagation.BeliefPropagation",
    "propagation.Convolution",
    "propagation.Diffusion",
    "propagation.GaussianMixtures",
    "propagation.LabelImputer",
    "propagation.LabelPropagation",
    "propagation.LabelSpreading",
    "propagation.PartialAbsorption",
    "propagation.PropagatedAttributes",
    "propagation.PropagationScheme",
    "sets.MaxMinPicker",
    "sets.SimilarityGroupKFold",
    "graphs.Graph",
    "graphs.Grid",
    "kernels.AttributeKernel",
    "kernels.DescriptorKernel",
    "kernels.GraphHopper",
    "kernels.LabelHistogram",
    "kernels.LabelHistogramFeatures",
    "kernels.ShortestPathFeatures",
    "kernels.SubgraphMatching",
    "models.ForeignGraphsWarning",
    "nodes.CoincidingWalkKernel",
    "nodes.NodeFeatures",
    "propagation.AbsorbingWalk",
    "propagation.AnisotropicDiffusion",
    "propagation.BeliefPropagation",
    "propagation.Convolution",
    "propagation.Diffusion",
    "propagation.GaussianMixtures",
    "propagation.LabelImputer",
    "propagation.LabelPropagation",
    "propagation.LabelSpreading",
    "propagation.PartialAbsorption",
    "propagation.PropagatedAttributes",
    "propagation.PropagationScheme",
    "sets.MaxMinPicker",
    "sets.SimilarityGroupKFold",
    "auditing.Audit",
    "convert.to_networkx",
    "convert.to_pandas",
    "convert.to_pyg",
    "datasets.load",
    "explain.Counterfactuals",
    "explain.Explanation",
    "explain.Similarity",
    "explorer.Exploration",
    "graphs.circular_neighborhood",
    "convert.curvature",
    "convert.knn_graph",
    "models.Evaluation",
    "models.PairedTest",
    "molecules.draw_molecule",
    "molecules.draw_similarity",
    "molecules.scaffolds",
    "novelty.Applicability",
    "novelty.NoveltyExplanation",
    "plotting.plot_embedding",
    "plotting.plot_evaluation",
    "plotting.plot_explanation",
    "plotting.plot_graph",
    "plotting.plot_kernel",
    "plotting.plot_similarity",
    "propagation.check_scheme",
    "propagation.transition_matrix",
    "scale.FeatureFolder",
    "scale.PartsFailedError",
    "scale.Plan",
    "storage.ModelFileError",
]


def public():
    """Names of the top level, and those of modules that guides use."""
    for name in sorted({*pk.__all__, *IN_MODULES}):
        value = attrgetter(name)(pk)
        if not name.startswith("_") and not inspect.ismodule(value) and not inspect.ismethod(value):
            yield name.split(".")[-1], value


PUBLIC = dict(public())
CLASSES = [name for name, value in PUBLIC.items() if inspect.isclass(value)]
WITHOUT_PAPER = {"Graph", "GraphDatabase", "Grid", "ModelFileError"}  # containers and errors
WITHOUT_PAPER |= {"FeatureFolder", "PartsFailedError", "Plan"}
WITHOUT_PAPER |= {"SimilarityGroupKFold", "SimilaritySplit"}  # splitters
TITLES = ["Parameters", "Attributes", "Returns", "Raises", "See Also", "Notes", "References", "Examples"]


def sections(value):
    """Titles of a numpydoc docstring with their lines, in order."""
    lines = inspect.getdoc(value).splitlines()
    starts = [i for i, line in enumerate(lines[1:]) if line and set(line) == {"-"} and lines[i] in TITLES]
    ends = [*starts[1:], len(lines)]
    return {lines[i]: lines[i + 2 : end] for i, end in zip(starts, ends, strict=True)}


def resolve(name):
    """The object that See Also names."""
    value = pk
    for part in name.removeprefix("propkernels.").split("."):
        value = getattr(value, part)
    return value


def test_there_are_public_names():
    assert len(PUBLIC) >= 50
    assert len(CLASSES) >= 30


@pytest.mark.parametrize("name", PUBLIC)
def test_first_line_is_a_sentence(name):
    first = inspect.getdoc(PUBLIC[name]).splitlines()[0]
    assert first[0].isupper() or first.split()[0].rstrip(":") in PUBLIC
    assert first.endswith("."), first


@pytest.mark.parametrize("name", PUBLIC)
def test_example(name):
    assert any(line.startswith(">>>") for line in sections(PUBLIC[name])["Examples"])


@pytest.mark.parametrize("name", PUBLIC)
def test_see_also_names_other_things_that_exist(name):
    lines = [line for line in sections(PUBLIC[name])["See Also"] if line.strip()]
    assert lines
    for line in lines:
        if line.startswith(" "):  # a description goes on
            continue
        related, separator, description = line.partition(" : ")
        assert separator, line
        assert description.strip().endswith("."), line
        assert resolve(related) is not PUBLIC[name], line


@pytest.mark.parametrize("name", [name for name in CLASSES if name not in WITHOUT_PAPER])
def test_references_can_be_found(name):
    """Author, year and title; the paper of this package with the algorithm, section or equation."""
    entries = re.split(r"\.\. \[\d+\] ", " ".join(map(str.strip, sections(PUBLIC[name])["References"])))[1:]
    assert entries
    for entry in entries:
        assert re.search(r"\((19|20)\d\d\)", entry), entry
        if "10.1007/s10994-015-5517-9" in entry:
            assert re.search(r"Algorithm|Section|Eq\.", entry), entry


@pytest.mark.parametrize("name", PUBLIC)
def test_sections_are_in_the_usual_order(name):
    found = list(sections(PUBLIC[name]))
    assert found == sorted(found, key=TITLES.index)
