"""The search: all single edits, and pairs of edits as far as a budget goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.progress import ProgressBar
from propkernels.explain.edits import ADD_LEAF, NOTHING, Editor, Rows, in_pairs

MOST_MOLECULES = 20_000  # that are asked about, valid or not
DIGITS = 12  # margins that differ less are equal, and keep the order in which edits are listed
Margins = NDArray[np.float64]
Decide = Callable[[Rows], NDArray[np.float64]]
Judge = Callable[[NDArray[np.float64]], tuple[Margins, NDArray[np.bool_]]]
Validate = Callable[[Rows], Any]


class Found(NamedTuple):
    """One or two edits, how far they go beyond the boundary, and what a molecule becomes by them."""

    rows: Rows
    margin: float
    molecule: Any = None


@dataclass(frozen=True)
class Searched:
    """What a search found, and how much of what there is it has seen.

    Attributes
    ----------
    found : list of Found
        The best first.
    reached : bool
        Whether they change the prediction; otherwise they are the closest to it.
    n_single, n_pairs : int
        Numbers of single edits and of pairs that were decided.
    n_extended, n_extendable : int
        Single edits that were extended by a second one, and those that could have been.
    n_unchecked : int
        Edits that may be molecules, and were not asked about since too many before them are none.
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
        """Whether every pair was decided that could have mattered."""
        return self.n_extended == self.n_extendable


@dataclass(frozen=True)
class Search:
    """What is searched for, and with what.

    Attributes
    ----------
    editor : Editor
    decide : callable
        From edits, (m, 2, 5), to decisions, (m, decisions), NaN where an edit cannot be made.
    judge : callable
        From decisions to margins, the larger the better, and to whether the prediction changes as wanted.
    n : int
        Number of edits wanted.
    budget : int
        Number of pairs that are decided at most.
    ranked : bool
        True: fewer edits come first, and a pair never contains an edit that suffices by itself. False:
        only margins count.
    validate : callable or None
        From edits, (k, 5), to what a molecule becomes by them, hashable; None: it cannot.
    """

    editor: Editor
    decide: Decide
    judge: Judge
    n: int
    budget: int
    ranked: bool
    validate: Validate | None = None

    def run(self, max_edits: int) -> Searched:
        """Decide about all single edits and, where these are not enough, about pairs."""
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
        """Tell which single edits make a molecule of a molecule; all, where there is none."""
        if self.validate is None:
            return np.ones(len(singles), dtype=bool)
        return np.array([self.validate(row[None]) is not None for row in singles], dtype=bool)

    def _judged(self, pairs: Rows) -> tuple[Margins, NDArray[np.bool_]]:
        """Margins, minus infinity where an edit cannot be made, and whether the prediction changes."""
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
        """Extend single edits by second ones, the most promising first, until the budget is spent."""
        is_open = ~changed if self.ranked else np.ones(len(singles), dtype=bool)
        order = np.lexsort((np.arange(len(singles)), -np.round(margins, DIGITS), ~valid))
        order = order[is_open[order]]
        place = np.full(len(singles), -1)
        place[order] = np.arange(len(order))
        tried: list[Any] = []
        n_pairs = 0
        with ProgressBar("Counterfactuals: pairs of edits", min(self.budget, len(order) ** 2 // 2)) as bar:
            for i in order:
                pairs = in_pairs(singles[i], self._seconds(singles, i, place >= place[i]))
                if n_pairs + len(pairs) > self.budget:
                    break
                tried.append((pairs, *self._judged(pairs)))
                n_pairs += len(pairs)
                bar.step(len(pairs))
        searched = replace(before, n_pairs=n_pairs, n_extended=len(tried), n_extendable=len(order))
        if not tried:
            return self._closed(searched, singles[:, None], margins)
        pairs, *judged = (np.concatenate(several) for several in zip(*tried, strict=True))
        return self._merged(singles, (margins, changed), pairs, judged, searched)

    def _merged(self, singles: Rows, one: Any, pairs: Rows, two: Any, searched: Searched) -> Searched:
        """Single edits first and then pairs; or all of them by their margins."""
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
        """Second edits: single edits not tried with the first one before, and what it makes possible."""
        chosen = later.copy()
        chosen[i] = singles[i, 0] == ADD_LEAF  # two equal leaves are two edits
        seconds = singles[chosen]
        seconds = seconds[~self.editor.is_redundant(singles[i], seconds)]
        return np.concatenate([seconds, self.editor.edits_after(singles[i])])

    def _best(
        self, edits: Rows, margins: Margins, wanted: NDArray[np.bool_], n: int, known: Any = frozenset()
    ) -> tuple[list[Found], int]:
        """The n best of those wanted, molecules once, and what is not one never; how many are left."""
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
        """Where nothing changes the prediction, what comes closest to it."""
        if searched.found:
            return searched
        closest, n_unchecked = self._best(edits, margins, margins > -np.inf, self.n)
        return replace(searched, found=closest, reached=False, n_unchecked=n_unchecked)
