"""Options shared by commands, how they read data sets, and how they make kernels."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from propkernels.cli.console import option, warnings_as_lines

if TYPE_CHECKING:
    from propkernels.datasets import Dataset
    from propkernels.datasets.tables import Reading
    from propkernels.scale.readers import Plan

# Choices of options
Format = Literal["table", "csv", "json"]  # output formats of results
FormatOption = Annotated[Format, option("--format", "Output as a table, CSV or JSON.")]


def _check_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("the number of threads must not be 0: use 1 or more, or -1 for all cores")
    return jobs


Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Data set, file or folder: see 'propkernels help input'.")
]
GraphNumber = Annotated[int, option("--graph -g", "Number of a graph or molecule, from 0.", "N", min=0)]
TMax = Annotated[int, option("--t-max", "Number of propagation steps.", "N", min=0)]
Seed = Annotated[int, option("--seed", "Seed of all random numbers.", "N", min=0)]
KeyColumns = Annotated[
    list[str] | None,
    option(
        "--column",
        "Column of tables of edges, nodes and graphs that holds the graph, node, source, target or "
        "weight, such as source=from; may be repeated.",
        "KEY=COLUMN",
    ),
]
Jobs = Annotated[int, option("--jobs -j", "Threads; -1: all cores.", "N", callback=_check_jobs)]


KernelName = Literal["auto", "propagation", "p2k", "wl", "shortest-path", "graph-hopper", "labels"]


Task = Literal["auto", "classes", "numbers"]  # kind of target
KERNEL_NAMES = {  # for readers
    "PropagationKernel": "propagation kernel",
    "WeisfeilerLehman": "Weisfeiler-Lehman",
    "ShortestPath": "shortest paths",
    "LabelHistogram": "label counts",
    "DescriptorKernel": "descriptors",
    "SumKernel": "a sum of kernels",
}
KERNELS = "propagation, p2k, wl, shortest-path, graph-hopper or labels"
KernelOption = Annotated[
    KernelName, option("--kernel", f"Kernel: auto (by labels and attributes), {KERNELS}.", "KERNEL")
]


def build_kernel(name: str, t_max: int | None, seed: int | None, jobs: int) -> Any:
    """Return a kernel by name, with the settings it supports; None for "auto"."""
    if name == "auto":
        return None
    from propkernels.kernels.neighborhoods import named_kernel

    settings = {"t_max": t_max, "random_state": seed, "n_jobs": jobs}
    return named_kernel(name, **{k: v for k, v in settings.items() if v is not None})


def describe_kernel(kernel: Any, without: tuple[str, ...] = ()) -> str:
    """Return the name of a kernel with its non-default parameters, in words.

    Examples
    --------
    >>> import propkernels as pk
    >>> describe_kernel(pk.PropagationKernel(t_max=3, base_kernel="jaccard", random_state=7, n_jobs=2))
    'propagation kernel (base kernel jaccard, t_max 3)'
    """
    defaults = type(kernel)().get_params(deep=False)
    changed = {
        name: value
        for name, value in kernel.get_params(deep=False).items()
        if name not in ("random_state", "n_jobs", *without) and repr(value) != repr(defaults[name])
    }
    texts = [
        f"{name if name == 't_max' else name.replace('_', ' ')} {'yes' if value is True else value}"
        for name, value in changed.items()
    ]
    return KERNEL_NAMES.get(type(kernel).__name__, type(kernel).__name__) + (
        f" ({', '.join(texts)})" if texts else ""
    )


ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="File written by 'propkernels fit'.")]


@dataclass(frozen=True)
class Fitted:
    """A model read from a file.

    Attributes
    ----------
    model : estimator
        A classifier or regressor of graphs, or the steps of a pipeline that follow the first.
    notes : dict
        Notes of its file about the data set it was fitted on.
    first : transformer or None
        First step of a pipeline, which makes graphs of molecules or images.
    """

    model: Any
    notes: dict[str, str]
    first: Any = None

    def graphs_of(self, raw: Any, place: str) -> Any:
        """Return the graphs that the first step makes of molecules or images."""
        if raw is None:
            step = type(self.first).__name__
            raise ValueError(f"the model begins with {step}, and {place} has nothing for it")
        with warnings_as_lines():
            return self.first.transform(raw)

    def prepared(self, data: Dataset) -> Dataset:
        """Return a data set whose graphs are those that the pipeline makes; unchanged without a pipeline."""
        if self.first is None:
            return data
        made = self.graphs_of(
            next((data.extras[kind] for kind in RAW if kind in data.extras), None), data.name
        )
        ids = getattr(data.graphs, "ids", None)
        return replace(data, graphs=made if ids is None else made.with_ids(ids))

    def use_threads(self, jobs: int) -> None:
        """Tell the steps that have threads how many to use."""
        for _, step in getattr(self.model, "steps", [("", self.model)]):
            if "n_jobs" in step.get_params(deep=False):
                step.set_params(n_jobs=jobs)


RAW = ("smiles", "molecules", "images")  # extras of data sets that pipelines begin with


def open_model(path: Path) -> Fitted:
    """Return a saved classifier or regressor of graphs, or a pipeline that ends in one."""
    from sklearn.pipeline import Pipeline

    from propkernels.convert.rdkit import VIEWS
    from propkernels.images.quantizers import Quantizer
    from propkernels.molecules.transformer import MoleculesToGraphs
    from propkernels.nodes.estimators import NodeClassifier, NodeRegressor
    from propkernels.storage.model_files import read_model

    model, notes = read_model(path)
    if isinstance(model, (NodeClassifier, NodeRegressor)):
        raise ValueError(f"{path} holds a {type(model).__name__}: 'propkernels nodes predict' reads it")
    if not hasattr(model, "predict"):
        raise ValueError(
            f"{path} contains a {type(model).__name__}, which cannot predict: use a model written by 'fit'"
        )
    first = None
    if isinstance(model, Pipeline) and isinstance(model[0], (MoleculesToGraphs, Quantizer)):
        first, model = model[0], model[-1] if len(model) == 2 else model[1:]
    found = dict(notes)
    counters = [v.counter for v in model.rule_.vocabularies] if hasattr(model, "rule_") else []
    if any(isinstance(label, tuple) for counter in counters for label in counter.known_labels):
        found.setdefault("node_labels", ",".join(VIEWS))  # of a program, which read molecules as it comes
    return Fitted(model, found, first)


def class_called(model: Any, text: str) -> Any:
    """Return the class with a label or name; raise ValueError if the model has none."""
    known = class_names(model)
    called = {str(label): label for label in known} | {str(name): label for label, name in known.items()}
    if text not in called:
        from propkernels.datasets.tables import listed_names

        raise ValueError(f"the class {text} does not exist; the classes are {listed_names(list(called))}")
    return called[text]


def class_names(model: Any) -> dict[Any, str]:
    """Return the names of the classes of a model; a class without a name is written as it is."""
    labels = model.classes_.tolist()
    names = getattr(model, "class_names_", None)
    return dict(zip(labels, labels if names is None else names, strict=True))


def name_of_class(model: Any, prediction: Any) -> Any:
    """Return the name of a predicted class; numbers, and several labels, are returned as they are."""
    is_class = hasattr(model, "classes_") and not getattr(prediction, "ndim", 0)
    return class_names(model).get(prediction, prediction) if is_class else prediction


def check_graph(data: Dataset, graph: int) -> None:
    """Raise ValueError if a data set has no graph of this number."""
    if graph >= len(data.graphs):
        raise ValueError(f"{data.name} has graphs 0 to {len(data.graphs) - 1}, got {graph}")


PART_BY_PART = (".csv", ".tsv", ".smi", ".smiles", ".parquet", ".sdf")
LARGE = 2**21  # bytes of a file that is read part by part
NODES_PER_PART = 250_000
Errors = Literal["raise", "skip", "empty"]  # treatment of invalid molecules and graphs


@dataclass(frozen=True)
class Input:
    """Values of the options for reading a data set.

    Attributes
    ----------
    smiles_column, id_column, edge_labels : str or None
    target_columns, columns : list of str or None
    node_labels, standardize, descriptors : str or None
        Names, separated by commas.
    errors : Errors
    """

    smiles_column: Annotated[
        str | None, option("--smiles", "Column of SMILES in a table; default 'smiles' ...", "COLUMN")
    ] = None
    target_columns: Annotated[
        list[str] | None,
        option(
            "--target",
            "Column (SDF property; number for TU and Parquet) of the target; default 'target' ...; may "
            "be repeated.",
            "COLUMN",
        ),
    ] = None
    id_column: Annotated[
        str | None, option("--id-column", "Column of a table that names the molecules or graphs.", "COLUMN")
    ] = None
    node_labels: Annotated[
        str | None,
        option(
            "--node-labels",
            "Labels of atoms: symbol, symbol+aromatic, invariants, pharmacophore, or several (commas), "
            "by default all but the second; labels of other nodes: columns of their table.",
            "NAMES",
        ),
    ] = None
    edge_labels: Annotated[
        str | None, option("--edge-labels", "Column of the label in the table of edges.", "COLUMN")
    ] = None
    columns: KeyColumns = None
    standardize: Annotated[
        str | None,
        option(
            "--standardize",
            "Standard form of molecules: fragment (the largest), charge (neutral), tautomer "
            "(canonical), or several (commas).",
            "STEPS",
        ),
    ] = None
    descriptors: Annotated[
        str | None,
        option(
            "--descriptors",
            "Numbers of whole molecules for models: rdkit (all), or names such as tpsa (commas).",
            "NAMES",
        ),
    ] = None
    errors: Annotated[
        Errors,
        option(
            "--errors",
            "Invalid molecules and graphs: raise an error that names them, skip them, or read them as "
            "empty graphs.",
        ),
    ] = "raise"

    def reading(self, target_required: bool, notes: Mapping[str, str] | None, n_jobs: int | None) -> Reading:
        """Return the options of the readers; defaults are the notes of a model file, if there are any."""
        from propkernels.convert.rdkit import VIEWS
        from propkernels.datasets.tables import Reading

        noted = {} if notes is None else notes
        labels = self.node_labels or noted.get("label_columns")
        atoms = VIEWS if notes is None else tuple(noted.get("node_labels", "symbol").split(","))
        return Reading(
            smiles_column=self.smiles_column,
            target_columns=tuple(self.target_columns or ()),
            id_column=self.id_column,
            node_labels=_names(labels),
            edge_labels=self.edge_labels or noted.get("edge_labels"),
            key_columns=key_columns(self.columns or json.loads(noted.get("columns", "[]"))),
            atom_labels=atoms,
            standardize=_names(self.standardize or noted.get("standardize")),
            descriptors=_names(self.descriptors or noted.get("descriptors")),
            target_required=target_required,
            errors=self.errors,
            n_jobs=n_jobs,
        )

    def open(
        self,
        name: str,
        *,
        target_required: bool = False,
        notes: Mapping[str, str] | None = None,
        n_jobs: int | None = None,
    ) -> Dataset:
        """Return the data set of a name or path; warnings of the reader are printed as lines.

        Parameters
        ----------
        name : str
        target_required : bool, default=False
            Whether a data set without a target is an error.
        notes : mapping, optional
            Notes of a model file: molecules and tables are read as they were for the model.
        n_jobs : int, optional
            Processes that read molecules.
        """
        from propkernels.datasets.sources import check_molecules, read_source

        with warnings_as_lines():
            data = read_source(name, self.reading(target_required, notes, n_jobs))
        check_molecules(data, {"standardize": self.standardize, "descriptors": self.descriptors})
        changed = [f"{step} {n:,}" for step, n in getattr(data.graphs, "standardized", {}).items()]
        if changed:
            typer.echo(f"Molecules changed by standardization: {', '.join(changed)}.", err=True)
        return data

    def is_large(self, name: str) -> bool:
        """Return whether a file is read part by part: a large table of molecules, SDF or Parquet file."""
        path = Path(name)
        is_file = path.suffix.lower() in PART_BY_PART and path.is_file() and not self.edge_labels
        return is_file and path.stat().st_size > LARGE

    def plan(self, name: str, notes: Mapping[str, str]) -> Plan:
        """Return the parts of a file, to be read as for a model."""
        from propkernels.scale.partition import plan_sources

        unaimed = replace(self, target_columns=None)
        return plan_sources(name, NODES_PER_PART, unaimed.reading(False, notes, 1))

    def open_graph(self, name: str, graph: int, notes: Mapping[str, str]) -> tuple[Dataset, int]:
        """Return a data set with a graph, and its position; of a large file, only some rows are read.

        Raises
        ------
        ValueError
            If there is no such graph, or it cannot be read.
        """
        if not self.is_large(name):
            data = self.open(name, notes=notes)
            check_graph(data, graph)
            return data, graph
        from propkernels.datasets import Dataset
        from propkernels.scale.partition import iter_part

        plan = self.plan(name, notes)
        if graph >= plan.n_graphs:
            raise ValueError(f"{name} has graphs 0 to {plan.n_graphs - 1}, got {graph}")
        (part,) = (one for one in plan if one.first_id <= graph < one.first_id + len(one))
        for block in iter_part(part):
            found = block.ids.tolist()
            if graph in found:
                graphs = block.graphs if block.names is None else block.graphs.with_ids(block.names)
                extras = {} if block.graphs.sources is None else {"smiles": block.graphs.sources}
                empty: Any = block.ids[:, None][:, :0]
                return Dataset(Path(name).stem, graphs, empty, (), extras), found.index(graph)
        raise ValueError(f"graph {graph} of {name} cannot be read")

    def notes(self, data: Dataset) -> dict[str, str]:
        """Return notes for a model file about how its data set was read."""
        notes: dict[str, str] = {}
        if {"smiles", "molecules"} & set(data.extras):
            recipe = self.reading(False, None, None).recipe
            notes["node_labels"] = recipe if isinstance(recipe, str) else ",".join(recipe)
            given = {"standardize": self.standardize, "descriptors": self.descriptors}
            notes |= {name: value for name, value in given.items() if value}
        elif self.node_labels:
            notes["label_columns"] = self.node_labels
        if self.edge_labels:
            notes["edge_labels"] = self.edge_labels
        if self.columns:
            notes["columns"] = json.dumps(self.columns)
        if data.target.ndim == 2:
            notes["targets"] = json.dumps(self.target_columns or list(range(data.target.shape[1])))
        return notes


def key_columns(texts: list[str] | None) -> dict[str, str]:
    """Return columns by key, of texts such as "source=from"."""
    texts = texts or []
    pairs = [text.partition("=")[::2] for text in texts]
    for text, (key, column) in zip(texts, pairs, strict=True):
        if not key or not column:
            raise ValueError(f"--column takes a key and a column, such as source=from; got {text!r}")
    return dict(pairs)


def _names(text: str | None) -> tuple[str, ...]:
    """Return names separated by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip()) if text else ()


def reads_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of :class:`Input`, which it gets as its parameter ``source_options``.

    They are hidden: ``propkernels help input`` explains them once for all commands.
    """
    hints = get_type_hints(command, include_extras=True)
    options: dict[str, Any] = {}
    for name, kind in get_type_hints(Input, include_extras=True).items():
        info = copy(kind.__metadata__[0])
        info.hidden = True
        options[name] = Annotated[kind.__origin__, info]
    signature = inspect.signature(command)
    parameters = [
        parameter.replace(annotation=hints[name], kind=parameter.KEYWORD_ONLY)
        for name, parameter in signature.parameters.items()
        if name != "source_options"
    ]
    parameters += [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=getattr(Input, name), annotation=option
        )
        for name, option in options.items()
    ]

    @functools.wraps(command)
    def run(**values: Any) -> None:
        given = {name: values.pop(name) for name in options}
        command(**values, source_options=Input(**given))

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def ids_of(data: Dataset) -> list[Any] | None:
    """Return the ids of the graphs or the files of the images; None if there are none."""
    ids = getattr(data.graphs, "ids", None)
    return data.extras.get("paths") if ids is None else ids.tolist()


def name_of(data: Dataset, graph: int) -> str | None:
    """Return the name of a graph; None if the graphs have no ids, or numbers as ids."""
    ids = ids_of(data)
    return ids[graph] if ids is not None and isinstance(ids[graph], str) else None


def title_of(data: Dataset, graph: int, number: int | None = None) -> str:
    """Return a title for a graph, such as "Graph 3 of drugs (aspirin)"; number is that in a larger file."""
    name = name_of(data, graph)
    return f"Graph {graph if number is None else number} of {data.name}" + (f" ({name})" if name else "")


def with_edges(data: Dataset) -> Dataset:
    """Return the data set with images converted to graphs of pixels and their neighbors."""
    from propkernels.graphs import GridDatabase

    graphs: Any = data.graphs
    return replace(data, graphs=graphs.to_graphs()) if isinstance(graphs, GridDatabase) else data


def with_common_labels(several: list[Dataset]) -> list[Dataset]:
    """Return the data sets; numbers of node labels that have different names in them become these names."""
    names = [dict(data.graphs.names.labels) for data in several]
    merged = {value: name for one in names for value, name in one.items()}
    if not all(names) or all(merged[value] == name for one in names for value, name in one.items()):
        return several
    found = []
    for data in several:
        graphs: Any = data.graphs
        texts = [graphs.names.label(value) for value in graphs.label_column.values]
        labels = [None if i < 0 else texts[i] for i in graphs.label_column.ids.tolist()]
        named = graphs.with_labels(labels).with_names({text: text for text in texts})
        found.append(replace(data, graphs=named))
    return found


def one_target(data: Dataset) -> Dataset:
    """Return the data set; raise ValueError if it has several target columns."""
    if data.target.ndim == 2 and data.target.shape[1] > 1:
        raise ValueError(f"{data.name} has {data.target.shape[1]} target columns: choose one with --target")
    return data


def known_target(data: Dataset) -> Dataset:
    """Return the graphs with a target, after a line that counts those without one."""
    known = data.with_known_target()
    n_missing = len(data.graphs) - len(known.graphs)
    if n_missing:
        have = "has no target and is" if n_missing == 1 else "have no target and are"
        typer.echo(f"{n_missing:,} of {len(data.graphs):,} graphs {have} left out.", err=True)
    return known
