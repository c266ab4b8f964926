"""Search for counterfactuals: all single edits, and pairs of edits within a budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.progress import ProgressBar
from propkernels.explain.edits import ADD_LEAF, NOTHING, Editor, Rows, in_pairs

PAIRS_AT_ONCE = 2**13  # pairs of edits that are decided together, by several threads
MOST_MOLECULES = 20_000  # candidate molecules checked by RDKit, valid or not
DIGITS = 12  # decimals of margins that are compared; ties keep the order of the edits
Margins = NDArray[np.float64]
Decide = Callable[[Rows], NDArray[np.float64]]
Judge = Callable[[NDArray[np.float64]], tuple[Margins, NDArray[np.bool_]]]
Validate = Callable[[Rows], Any]


class Found(NamedTuple):
    """One or two edits, their margin beyond the decision boundary, and the edited molecule (or None)."""

    rows: Rows
    margin: float
    molecule: Any = None


@dataclass(frozen=True)
class Searched:
    """Result of a search, and its extent.

    Attributes
    ----------
    found : list of Found
        The best first.
    reached : bool
        Whether they change the prediction; otherwise they come closest to that.
    n_single, n_pairs : int
        Numbers of single edits and of pairs with a decision.
    n_extended, n_extendable : int
        Number of single edits that were extended by a second edit, and that could have been.
    n_unchecked : int
        Number of edits not checked for valid molecules, because too many before them were invalid.
    """

    found: list[Found]
    reached: bool
    n_single: int
    n_pairs: int = 0
    n_extended: int = 0
    n_extendable: int = 0
    n_unchecked: int = 0

    @property
    def exhaustive(self) -> bool:
        """Whether every pair that could matter has a decision."""
        return self.n_extended == self.n_extendable


@dataclass(frozen=True)
class Search:
    """Settings of a search.

    Attributes
    ----------
    editor : Editor
    decide : callable
        From edits, (m, 2, 5), to decisions, (m, decisions); NaN for impossible edits.
    judge : callable
        From decisions to margins (larger is better), and a mask of predictions that change as requested.
    n : int
        Number of results.
    budget : int
        Largest number of pairs to try.
    ranked : bool
        True: fewer edits come first, and a pair never contains an edit that suffices by itself. False:
        only margins count.
    validate : callable or None
        From edits, (k, 5), to the edited molecule (hashable), or None if it is invalid.
    """

    editor: Editor
    decide: Decide
    judge: Judge
    n: int
    budget: int
    ranked: bool
    validate: Validate | None = None

    def run(self, max_edits: int) -> Searched:
        """Decide on all single edits and, if these do not suffice, on pairs."""
        singles = self.editor.single_edits()
        margins, changed = self._judged(in_pairs(None, singles))
        valid = self._valid(singles)
        changed &= valid
        found, _ = self._best(singles[:, None], margins, changed, self.n)
        searched = Searched(found, bool(found), len(singles))
        if max_edits == 1 or (self.ranked and len(found) >= self.n) or not len(singles):
            return self._closed(searched, singles[:, None], margins)
        return self._with_pairs(singles, margins, changed, valid, searched)

    def _valid(self, singles: Rows) -> NDArray[np.bool_]:
        """Mask of single edits that give a valid molecule (all True for other graphs)."""
        if self.validate is None:
            return np.ones(len(singles), dtype=bool)
        return np.array([self.validate(row[None]) is not None for row in singles], dtype=bool)

    def _judged(self, pairs: Rows) -> tuple[Margins, NDArray[np.bool_]]:
        """Margins (minus infinity for impossible edits), and whether predictions change as requested."""
        decisions = self.decide(pairs)
        possible = ~np.isnan(decisions).any(axis=1)
        margins, changed = np.full(len(pairs), -np.inf), np.zeros(len(pairs), dtype=bool)
        if possible.any():
            margins[possible], changed[possible] = self.judge(decisions[possible])
        return margins, changed

    def _with_pairs(
        self,
        singles: Rows,
        margins: Margins,
        changed: NDArray[np.bool_],
        valid: NDArray[np.bool_],
        before: Searched,
    ) -> Searched:
        """Extend single edits by second ones, the most promising first, within the budget."""
        is_open = ~changed if self.ranked else np.ones(len(singles), dtype=bool)
        order = np.lexsort((np.arange(len(singles)), -np.round(margins, DIGITS), ~valid))
        order = order[is_open[order]]
        place = np.full(len(singles), -1)
        place[order] = np.arange(len(order))
        tried: list[Any] = []
        n_pairs = 0
        with ProgressBar("Counterfactuals: pairs of edits", min(self.budget, len(order) ** 2 // 2)) as bar:
            n_extended, waiting = 0, list[Rows]()
            for i in order:
                pairs = in_pairs(singles[i], self._seconds(singles, i, place >= place[i]))
                if n_pairs + len(pairs) > self.budget:
                    break
                n_pairs, n_extended = n_pairs + len(pairs), n_extended + 1
                waiting.append(pairs)
                if sum(map(len, waiting)) >= PAIRS_AT_ONCE:
                    tried.append(self._tried(waiting, bar))
                    waiting = []
            if waiting:
                tried.append(self._tried(waiting, bar))
        searched = replace(before, n_pairs=n_pairs, n_extended=n_extended, n_extendable=len(order))
        if not tried:
            return self._closed(searched, singles[:, None], margins)
        pairs, *judged = (np.concatenate(several) for several in zip(*tried, strict=True))
        return self._merged(singles, (margins, changed), pairs, judged, searched)

    def _tried(self, waiting: list[Rows], bar: ProgressBar) -> tuple[Any, ...]:
        """Return several pairs of edits with their margins, and whether predictions change."""
        pairs = np.concatenate(waiting)
        bar.step(len(pairs))
        return pairs, *self._judged(pairs)

    def _merged(self, singles: Rows, one: Any, pairs: Rows, two: Any, searched: Searched) -> Searched:
        """Append pairs to the single edits, or rank all of them by margin."""
        if self.ranked:
            found, known = list(searched.found), {each.molecule for each in searched.found}
            more, n_unchecked = self._best(pairs, two[0], two[1], self.n - len(found), known)
        else:
            found, known = [], set()
            pairs = np.concatenate([in_pairs(None, singles), pairs])
            two = [np.concatenate(both) for both in zip(one, two, strict=True)]
            more, n_unchecked = self._best(pairs, two[0], two[1], self.n)
        found += more
        searched = replace(searched, found=found, reached=bool(found), n_unchecked=n_unchecked)
        return self._closed(searched, pairs, two[0])

    def _seconds(self, singles: Rows, i: int, later: NDArray[np.bool_]) -> Rows:
        """Second edits: single edits not yet paired with the first, and those it makes possible."""
        chosen = later.copy()
        chosen[i] = singles[i, 0] == ADD_LEAF  # two equal new leaves are a valid pair
        seconds = singles[chosen]
        seconds = seconds[~self.editor.is_redundant(singles[i], seconds)]
        return np.concatenate([seconds, self.editor.edits_after(singles[i])])

    def _best(
        self, edits: Rows, margins: Margins, wanted: NDArray[np.bool_], n: int, known: Any = frozenset()
    ) -> tuple[list[Found], int]:
        """Return the n best results (valid, distinct molecules), and the number of unchecked edits."""
        order = np.argsort(-np.round(margins, DIGITS), kind="stable")
        order = order[wanted[order]]
        seen: set[Any] = set(known)
        best: list[Found] = []
        for k, i in enumerate(order):
            if len(best) >= n:
                break
            if self.validate is not None and k >= MOST_MOLECULES:
                return best, len(order) - k
            rows = edits[i][edits[i][:, 0] != NOTHING]
            molecule = None if self.validate is None else self.validate(rows)
            if self.validate is None or (molecule is not None and molecule not in seen):
                seen.add(molecule)
                best.append(Found(rows, float(margins[i]), molecule))
        return best, 0

    def _closed(self, searched: Searched, edits: Rows, margins: Margins) -> Searched:
        """Return the result; if no edit changes the prediction, with the edits that come closest."""
        if searched.found:
            return searched
        closest, n_unchecked = self._best(edits, margins, margins > -np.inf, self.n)
        return replace(searched, found=closest, reached=False, n_unchecked=n_unchecked)
