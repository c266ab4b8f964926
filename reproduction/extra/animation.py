"""The worked example of the paper as a moving picture: labels spread, bins fill, kernels add up.

Every color, bin, count and contribution comes from ``reproduction.experiments.worked_example.compute``, that
is, from the package itself. Write ``docs/pictures/propagation.svg``::

    python -m reproduction.extra.animation

The picture is one SVG without scripts: rules of CSS move its parts, and people who asked their system for
less motion see the end of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from reproduction.experiments.worked_example import EDGES, PLACES, Step, compute

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "propagation.svg"
SECONDS = 18
WIDTH, HEIGHT = 860, 520
LEFT = (50, 490)  # of each graph
NAMES = ("graph G", "graph H")
FALL = ((14, 26), (60, 72))  # when nodes fall into bins, in percent of the loop, at t = 0 and t = 1
SPREAD = (44, 54)
LAST = 97
BIN, FLOOR, RADIUS = 62, 392, 15


def color(probability: float) -> str:
    """White for label 0, dark red for label 1."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return "#ffffff" if probability == 0 else to_hex(colormaps["OrRd"](0.1 + 0.9 * probability))


def place(graph: int, node: int) -> tuple[float, float]:
    """Where a node is drawn."""
    x, y = PLACES[node]
    return LEFT[graph] + 30 + 78 * float(x), 250 - 52 * float(y)


def frames(name: str, *states: tuple[float, str]) -> str:
    """Return rules of CSS: what an element looks like at which percentages of the loop."""
    return f"@keyframes {name}{{{''.join(f'{at:g}%{{{how}}}' for at, how in states)}}}"


class Drawing:
    """Shapes and the rules that move them."""

    def __init__(self) -> None:
        self.shapes: list[str] = []
        self.rules: list[str] = []

    def add(self, shape: str, *states: tuple[float, str]) -> None:
        """Add a shape; with states, it moves through them in every loop."""
        if states:
            name = f"m{len(self.rules)}"
            self.rules.append(frames(name, *states))
            shape = shape.replace(" ", f' class="m" style="animation-name:{name}" ', 1)
        self.shapes.append(shape)

    def text(self, x: float, y: float, words: str, *states: tuple[float, str], size: int = 15) -> None:
        """Add centered words."""
        self.add(f'<text x="{x:g}" y="{y:g}" font-size="{size}">{words}</text>', *states)


def between(start: float, end: float) -> tuple[tuple[float, str], ...]:
    """Visible from one percentage of the loop to another."""
    unseen, seen = "opacity:0", "opacity:1"
    before = ((0, unseen), (start, unseen)) if start else ((0, seen),)
    return (*before, (start + 1.5, seen), (end, seen), (min(end + 1.5, 100), unseen), (100, unseen))


def draw_edges(drawing: Drawing, graph: int, steps: list[Step]) -> None:
    """Edges, and what runs along them while labels spread."""
    for u, v in EDGES[graph]:
        (x, y), (z, w) = place(graph, u), place(graph, v)
        drawing.add(f'<line x1="{x:g}" y1="{y:g}" x2="{z:g}" y2="{w:g}" stroke="#888" stroke-width="2"/>')
    for u, v in [pair for edge in EDGES[graph] for pair in (edge, edge[::-1])]:
        (x, y), (z, w) = place(graph, u), place(graph, v)
        fill = color(float(steps[0].probabilities[6 * graph + u]))
        moved = f"transform:translate({z - x:g}px,{w - y:g}px)"
        start, end = SPREAD
        drawing.add(
            f'<circle cx="{x:g}" cy="{y:g}" r="6" fill="{fill}" stroke="#555"/>',
            (0, "opacity:0"),
            (start, "opacity:0;transform:none"),
            (start + 0.5, "opacity:1;transform:none"),
            (end - 0.5, f"opacity:1;{moved}"),
            (end, f"opacity:0;{moved}"),
            (100, "opacity:0"),
        )


def draw_nodes(drawing: Drawing, graph: int, steps: list[Step]) -> None:
    """Nodes, which change their color when labels have spread."""
    for node in range(6):
        x, y = place(graph, node)
        first, second = (color(float(step.probabilities[6 * graph + node])) for step in steps)
        drawing.add(
            f'<circle cx="{x:g}" cy="{y:g}" r="{RADIUS}" fill="{second}" stroke="#222" stroke-width="1.5"/>',
            (0, f"fill:{first}"),
            (SPREAD[1] - 3, f"fill:{first}"),
            (SPREAD[1], f"fill:{second}"),
            (LAST, f"fill:{second}"),
            (100, f"fill:{first}"),
        )


def draw_bins(drawing: Drawing, graph: int, t: int, step: Step) -> None:
    """The bins of an iteration, the nodes that fall into them, and their counts."""
    end = FALL[t][1]
    shown = between(0 if t == 0 else SPREAD[0], SPREAD[0] if t == 0 else LAST)
    middle = LEFT[graph] + 186
    slots = [
        middle + BIN * (number - (len(step.counts[graph]) - 1) / 2)
        for number in range(len(step.counts[graph]))
    ]
    for x in slots:
        walls = f"M{x - 22:g} {FLOOR - 78} V{FLOOR} H{x + 22:g} V{FLOOR - 78}"
        drawing.add(f'<path d="{walls}" fill="none" stroke="#555" stroke-width="2"/>', *shown)
    heights = [0] * len(slots)
    for node in range(6):
        number = int(step.bins[6 * graph + node])
        target = (slots[number], FLOOR - 14 - 25 * heights[number])
        heights[number] += 1
        fall(drawing, place(graph, node), target, color(float(step.probabilities[6 * graph + node])), t, node)
    for x, count in zip(slots, step.counts[graph], strict=True):
        drawing.text(x, FLOOR + 22, str(count), *between(end, SPREAD[0] if t == 0 else LAST), size=17)


def fall(
    drawing: Drawing, start: tuple[float, float], end: tuple[float, float], fill: str, t: int, node: int
) -> None:
    """Let the copy of a node fall into its bin, one node after the other."""
    first, last = FALL[t]
    begin = first + (last - first - 4) * node / 6
    back = f"transform:translate({start[0] - end[0]:g}px,{start[1] - end[1]:g}px)"
    gone = SPREAD[0] if t == 0 else LAST
    drawing.add(
        f'<circle cx="{end[0]:g}" cy="{end[1]:g}" r="11" fill="{fill}" stroke="#222" stroke-width="1.2"/>',
        (0, f"opacity:0;{back}"),
        (begin, f"opacity:0;{back}"),
        (begin + 0.4, f"opacity:1;{back}"),
        (begin + 4, "opacity:1;transform:none"),
        (gone, "opacity:1;transform:none"),
        (gone + 1.5, "opacity:0;transform:none"),
        (100, "opacity:0"),
    )


def draw_words(drawing: Drawing, steps: list[Step]) -> None:
    """What happens, and the kernel as it adds up."""
    middle = WIDTH / 2
    first, second = (step.contribution for step in steps)
    captions = [
        ("t = 0: each node knows its own label; nodes without a label know nothing yet", (0, FALL[0][0] - 2)),
        ("nodes with nearly equal distributions fall into the same bin", (FALL[0][0], FALL[0][1] + 2)),
        (
            f"count, and multiply bin by bin: {products(steps[0])} = {first}",
            (FALL[0][1] + 4, SPREAD[0] - 1.5),
        ),
        (
            "t = 1: labels spread along the edges; a node becomes the mean of its neighbors",
            (SPREAD[0], FALL[1][0] - 2),
        ),
        ("new distributions, new bins", (FALL[1][0], FALL[1][1] + 2)),
        (f"count, and multiply bin by bin: {products(steps[1])} = {second}", (FALL[1][1] + 4, 86)),
        ("the kernel is the sum over the steps", (88, LAST)),
    ]
    for words, (start, end) in captions:
        drawing.text(middle, 462, words, *between(start, end), size=17)
    sums = [("K = 0", (0, FALL[0][1] + 4)), (f"K = {first}", (FALL[0][1] + 6, FALL[1][1] + 4))]
    for words, (start, end) in sums:
        drawing.text(middle, 498, words, *between(start, end), size=21)
    total = f"K = {first} + {second} = {first + second}"
    drawing.text(middle, 498, total, *between(FALL[1][1] + 6, LAST), size=21)


def products(step: Step) -> str:
    """The terms of a dot product, in words."""
    return " + ".join(f"{a}·{b}" for a, b in step.counts.T)


def animation() -> str:
    """Return the picture."""
    steps, drawing = compute(), Drawing()
    for graph, name in enumerate(NAMES):
        drawing.text(LEFT[graph] + 186, 32, name, size=18)
        draw_edges(drawing, graph, steps)
        draw_nodes(drawing, graph, steps)
        for t, step in enumerate(steps):
            draw_bins(drawing, graph, t, step)
    draw_words(drawing, steps)
    return page(drawing)


def page(drawing: Drawing) -> str:
    """Put shapes and rules together."""
    loop = f"animation-duration:{SECONDS}s;animation-iteration-count:infinite"
    moving = f".m{{{loop};animation-timing-function:ease-in-out}}"
    paused = f"animation-play-state:paused;animation-delay:-{SECONDS * 0.94:g}s"
    still = f"@media (prefers-reduced-motion: reduce){{.m{{{paused}}}}}"
    style = "\n".join(
        ["text{text-anchor:middle;font-family:sans-serif;fill:#222}", moving, still, *drawing.rules]
    )
    title = "Labels spread over two graphs, nodes fall into bins, and the products of the counts add up"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
    ground = f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="#ffffff"/>'
    return "\n".join(
        [head, f"<title>{title}</title>", f"<style>{style}</style>", ground, *drawing.shapes, "</svg>\n"]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(
        prog="python -m reproduction.extra.animation", description="Write the worked example as a moving SVG."
    )
    parser.add_argument("-o", "--output", type=Path, default=PICTURE, metavar="FILE")
    output = parser.parse_args(arguments).output
    output.write_text(animation(), encoding="utf-8")
    print(f"{output} has {output.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
