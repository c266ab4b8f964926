"""``propkernels watch``: changes in a stream of contacts, window by window."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from propkernels.cli import arguments
from propkernels.cli.console import Force, check_output, print_records, print_text, spinner

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from propkernels.graphs.database import GraphDatabase

FORMATS = {"p_value": ".4f", "evidence": ".3f", "rarity": ".3f", "share_before": ".2f", "share_now": ".2f"}
SOURCE = ("source", "source_id", "src", "from", "node1", "i")
TARGET = ("target", "target_id", "dst", "to", "node2", "j")
TIME = ("time", "timestamp", "t", "date", "datetime", "when")
MOST_NAMED = 4  # vertices with a surrounding
NODE, LABEL = ("node", "vertex", "id"), ("label", "state")
Guarantee = Literal["stream", "window"]  # what a probability of false alarms bounds
View = Literal["static", "forward", "both"]  # how information moves in time


class Stream(NamedTuple):
    """A stream of contacts: graphs in time, the number of the window of each, and the begins of windows."""

    graphs: GraphDatabase
    number: NDArray[np.int64]
    begins: list[str]

    def window(self, first: int, last: int | None = None) -> GraphDatabase:
        """Return the graphs of a window, or of the windows before the last one."""
        import numpy as np

        end = first + 1 if last is None else last
        return self.graphs[np.flatnonzero((self.number >= first) & (self.number < end))]


def watch(
    contacts: Annotated[
        Path, typer.Argument(metavar="CONTACTS", help="CSV or TSV file: source, target, time.")
    ],
    window: Annotated[
        float, typer.Option("--window", metavar="LENGTH", help="Length of a window; of dates: in seconds.")
    ],
    parts: Annotated[
        int, typer.Option("--parts", min=1, metavar="N", help="Graphs per window, one per part of it.")
    ] = 4,
    reference: Annotated[
        int | None,
        typer.Option(
            "--reference", min=1, metavar="N", help="First windows, which are normal; default: a third."
        ),
    ] = None,
    alpha: Annotated[
        float, typer.Option("--alpha", metavar="X", help="Largest probability of a false alarm.")
    ] = 0.05,
    guarantee: Annotated[
        Guarantee, typer.Option("--guarantee", help="What --alpha bounds: the whole stream, or each window.")
    ] = "stream",
    time: Annotated[
        View, typer.Option("--time", help="How information moves; static: times are ignored.")
    ] = "static",
    t_max: arguments.TMax = 1,
    node_labels: Annotated[
        Path | None,
        typer.Option("--labels", metavar="FILE", help="CSV or TSV file of labels: node, time, label."),
    ] = None,
    directed: Annotated[
        bool, typer.Option("--directed", help="Contacts lead from source to target.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="CSV file with one line per window.")
    ] = None,
    force: Force = False,
    top: Annotated[
        int, typer.Option("--top", min=1, metavar="N", help="Vertices and surroundings per alarm.")
    ] = 5,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    output_format: arguments.FormatOption = "table",
) -> None:
    """Watch a stream of contacts for changes, window by window.

    The first windows are the reference; every later one gets a p-value and adds to the evidence of change.
    With --guarantee stream, the probability of any false alarm, however long the stream, is at most --alpha,
    as long as graphs of parts of windows are exchangeable. Alarms list the vertices with unusual
    surroundings, and the surroundings that have become more or less frequent.
    """
    if output is not None:
        check_output(output, force, "windows.csv")
    with spinner(f"Reading {contacts}"):
        stream = read_stream(contacts, node_labels, window, parts, directed)
    first = reference_size(len(stream.begins), reference)
    from propkernels.sets.drift import DriftDetector

    kernel = watching_kernel(stream.graphs, time, t_max, seed)
    detector = DriftDetector(alpha=alpha, guarantee=guarantee, kernel=kernel, random_state=seed, n_jobs=jobs)
    detector.fit(stream.window(0, first))
    records, alarms = [], []
    with spinner("Watching"):
        for number in range(first, len(stream.begins)):
            before, graphs = detector.reference_, stream.window(number)
            found = detector.update(graphs)
            records.append(window_record(stream.begins[number], graphs, found))
            if found.alarm:
                alarms.append(Alarm(stream.begins[number], found, graphs, before))
    if output_format != "table":
        print_records(records, output_format)
    else:
        text = f"The first {first:,} of {len(stream.begins):,} windows are the reference; "
        print_text(f"{text}{len(alarms):,} alarms.")
        print_records(records, output_format, FORMATS)
        for alarm in alarms:
            _report(alarm, kernel, top, seed)
    if output is not None:
        _write(records, output)
        typer.echo(f"Wrote {output}.", err=output_format != "table")


class Alarm(NamedTuple):
    """An alarm: the begin of its window, the result of the test, graphs of the window and the reference."""

    begin: str
    found: Any
    graphs: GraphDatabase
    reference: GraphDatabase


def watching_kernel(graphs: GraphDatabase, time: str, t_max: int, seed: int) -> Any:
    """Return the kernel of windows; vertices without labels start with the magnitude of their degree."""
    from propkernels.kernels.propagation_kernel import PropagationKernel

    labels = "auto" if graphs.label_column is not None else "log_degree"
    return PropagationKernel(t_max=t_max, time=time, labels=labels, normalize=True, random_state=seed)


def read_stream(path: Path, labels: Path | None, length: float, parts: int, directed: bool) -> Stream:
    """Return a table of contacts as graphs in time, one per part of a window."""
    import numpy as np

    from propkernels._utils.optional import import_optional
    from propkernels.convert.contacts import from_contacts
    from propkernels.convert.windows import cut_windows, window_numbers

    pd = import_optional("pandas", extra="pandas", purpose="propkernels watch needs")
    table, are_dates = _table(pd, path, {"source": SOURCE, "target": TARGET, "time": TIME})
    states = None if labels is None else _table(pd, labels, {"node": NODE, "time": TIME, "label": LABEL})[0]
    whole = from_contacts(table, graph=None, node_labels=states, directed=directed)
    start = float(table["time"].min())
    graphs = cut_windows(whole, length / parts, start=start)
    assert graphs.moments is not None
    part, _ = window_numbers(graphs.moments.times[graphs.graph_ptr[:-1]], length / parts, start)
    found, number = np.unique(part // parts, return_inverse=True)
    return Stream(graphs, number, [begin_text(start + k * length, are_dates) for k in found.tolist()])


def begin_text(seconds: float, is_date: bool) -> str:
    """Return the begin of a window as a number, or as a date.

    Examples
    --------
    >>> begin_text(3600.0, False), begin_text(3600.0, True)
    ('3600', '1970-01-01T01:00:00')
    """
    if not is_date:
        return f"{seconds:.15g}"
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat()


def _table(pd: Any, path: Path, columns: dict[str, tuple[str, ...]]) -> tuple[Any, bool]:
    """Return the columns of a file, by usual names, as a DataFrame, and whether its times are dates."""
    from propkernels.datasets.tables import find_column, read_table

    cells = read_table(path)
    chosen = {}
    for name, usual in columns.items():
        found = find_column(list(cells), None, usual, path)
        if found is None:
            raise ValueError(f"{path} has no column {name!r}; its columns are {', '.join(cells)}")
        chosen[name] = cells[found]
        blank = next((row for row, cell in enumerate(cells[found], 1) if not cell.strip()), None)
        if blank is not None and name != "label":
            raise ValueError(f"row {blank} of {path} has no {name}")
    times, are_dates = times_of(pd, chosen["time"], path)
    return pd.DataFrame(chosen | {"time": times}), are_dates


def times_of(pd: Any, cells: list[str], path: Path) -> tuple[Any, bool]:
    """Return cells as numbers, dates as seconds since 1970, and whether they are dates."""
    from propkernels.convert.contacts import seconds_of

    numbers = pd.to_numeric(pd.Series(cells), errors="coerce").astype(float)
    numbers = numbers.where(numbers.abs() < math.inf)
    if not numbers.isna().any():
        return numbers, False
    dates = pd.to_datetime(pd.Series(cells), errors="coerce", utc=True, format="ISO8601")
    if dates.isna().any():
        row = int((numbers.isna() & dates.isna() if dates.isna().all() else dates.isna()).to_numpy().argmax())
        raise ValueError(
            f"row {row + 1} of {path} needs a number or an ISO date as time, got {cells[row][:40]!r}"
        )
    return pd.Series(seconds_of(dates)), True


def reference_size(n_windows: int, wanted: int | None) -> int:
    """Return the number of windows of the reference; raise if too few are left."""
    first = max(n_windows // 3, 1) if wanted is None else wanted
    if n_windows <= first:
        raise ValueError(
            f"there are {n_windows} windows, and the first {first} are the reference: choose a smaller "
            "--window, or a smaller --reference"
        )
    return first


def window_record(begin: str, graphs: GraphDatabase, found: Any) -> dict[str, Any]:
    """Return the record of a window: begin, vertices, contacts, p-value, evidence and alarm."""
    from propkernels.graphs.moments import CONTACT, RECEIVED, edges_of

    assert graphs.moments is not None
    return {
        "begin": begin,
        "vertices": len(set(graphs.moments.vertices.ids.tolist())),
        "contacts": int(edges_of(graphs, (CONTACT,)).sum()) // 2 + int(edges_of(graphs, (RECEIVED,)).sum()),
        "p_value": found.p_value,
        "evidence": found.evidence,
        "alarm": "alarm" if found.alarm else "",
    }


def changed_vertices(alarm: Alarm, kernel: Any, top: int, seed: int) -> list[dict[str, Any]]:
    """Return the vertices of a window with the rarest surroundings, compared with the reference."""
    import numpy as np

    from propkernels.novelty.detector import NoveltyDetector

    detector = NoveltyDetector(kernel=kernel, score="rarity", random_state=seed).fit(alarm.reference)
    explanation, moments = detector.explain(alarm.graphs), alarm.graphs.moments
    assert moments is not None
    vertices, rarity = moments.vertices, explanation.contributions.sum(axis=1)
    sums = np.bincount(vertices.ids, weights=rarity, minlength=len(vertices.values))
    records = []
    for v in np.argsort(-sums, kind="stable")[:top].tolist():
        own = np.flatnonzero(vertices.ids == v)
        node = int(own[np.argmax(rarity[own])]) if len(own) else -1
        if node >= 0:
            step = int(explanation.unseen_nodes[node])
            records.append(
                {
                    "vertex": str(vertices.values[v]),
                    "rarity": float(sums[v]),
                    "most_at": float(moments.times[node]),
                    "unseen_from": f"t = {step}" if step >= 0 else "-",
                }
            )
    return records


def changed_surroundings(alarm: Alarm, top: int) -> list[dict[str, Any]]:
    """Return the surroundings that differ most between reference and window, with vertices that have them."""
    witness = alarm.found.witness
    return [
        {
            "t": one.t,
            "more": "now" if one.more_in == "B" else "before",
            "share_before": one.share_a,
            "share_now": one.share_b,
            "labels": ", ".join(map(str, one.labels)) or "-",
            "vertices": _vertices(alarm, one),
        }
        for one in (witness[k] for k in range(min(top, len(witness))))
    ]


def _vertices(alarm: Alarm, surrounding: Any) -> str:
    """Return the names of the vertices with a surrounding, in its example."""
    graphs = alarm.graphs if surrounding.more_in == "B" else alarm.reference
    moments = graphs[[surrounding.graph]].moments
    assert moments is not None
    ids = dict.fromkeys(moments.vertices.ids[surrounding.nodes.ravel()].tolist())
    names = [str(moments.vertices.values[i]) for i in ids]
    return ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")


def _report(alarm: Alarm, kernel: Any, top: int, seed: int) -> None:
    """Print the vertices and surroundings that have changed at an alarm."""
    print_text(f"\nAlarm at {alarm.begin}: vertices with unusual surroundings")
    print_records(changed_vertices(alarm, kernel, top, seed), "table", FORMATS)
    print_text("Surroundings that have become more or less frequent")
    print_records(changed_surroundings(alarm, top), "table", FORMATS)


def _write(records: list[dict[str, Any]], output: Path) -> None:
    import csv

    from propkernels._utils.safe_files import atomic_write

    with atomic_write(output, text=True) as stream:
        writer = csv.DictWriter(stream, list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
