"""Pharmacophoric roles of atoms: those of FCFP, for all atoms of many molecules at once.

The definitions are RDKit's patterns (after Gobbi and Poppinger 1998), which RDKit matches one molecule and
one role at a time. Each pattern covers an atom and its neighborhood up to two bonds, so it is evaluated by
sums over bonds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.locks import cached_property

Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]
ROLES = ("donor", "acceptor", "aromatic", "halogen", "basic", "acidic")
NITROGEN, OXYGEN, CARBON, SULFUR, PHOSPHORUS = 7, 8, 6, 16, 15
HALOGENS = (9, 17, 35, 53)
SINGLE, AROMATIC, DOUBLE = 1.0, 1.5, 2.0
ELEMENTS = 256  # atomic numbers of RDKit, which end at 118, are below


@dataclass(frozen=True)
class Atoms:
    """Atoms of many molecules, and their bonds in both directions.

    Attributes
    ----------
    number, charge, hydrogens, valence : ndarray of int64, (atoms,)
        Total number of hydrogens and total valence.
    source, target : ndarray of int64, (entries,)
        Ends of the bonds, atoms counted over all molecules.
    order : ndarray of float64, (entries,)
        1, 1.5, 2 or 3.
    """

    number: Numbers
    charge: Numbers
    hydrogens: Numbers
    valence: Numbers
    source: Numbers
    target: Numbers
    order: NDArray[np.float64]

    def is_one_of(self, *numbers: int) -> Flags:
        """Return a mask of the atoms with one of the atomic numbers."""
        return np.isin(np.arange(ELEMENTS), numbers)[self.number]

    def count(self, orders: tuple[float, ...], of: Flags) -> Numbers:
        """Return the number of neighbors with a property over bonds of the given orders, per atom."""
        ends = [self._bonds[order] for order in orders]
        chosen = np.concatenate([source[of[target]] for source, target in ends])
        return np.bincount(chosen, minlength=len(self.number))

    @cached_property
    def _bonds(self) -> dict[float, tuple[Numbers, Numbers]]:
        """Sources and targets of the bonds of each order."""
        places = {order: np.flatnonzero(self.order == order) for order in (SINGLE, AROMATIC, DOUBLE)}
        return {order: (self.source[at], self.target[at]) for order, at in places.items()}


def role_bits(atoms: Atoms) -> Numbers:
    """Return the roles of each atom as a sum of powers of two, in the order of ROLES."""
    aromatic = atoms.count((AROMATIC,), np.ones(len(atoms.number), dtype=bool)) > 0
    found = (
        _donors(atoms, aromatic),
        _acceptors(atoms, aromatic),
        aromatic,
        atoms.is_one_of(*HALOGENS),
        _basic(atoms, aromatic),
        _acidic(atoms, aromatic),
    )
    return np.sum([flags.astype(np.int64) << i for i, flags in enumerate(found)], axis=0)


def _donors(atoms: Atoms, aromatic: Flags) -> Flags:
    """Patterns N;!H0;v3,v4&+1 and O,S;H1;+0 and n&H1&+0."""
    nitrogen, neutral = atoms.is_one_of(NITROGEN), atoms.charge == 0
    one = (atoms.hydrogens == 1) & neutral
    valence = (atoms.valence == 3) | ((atoms.valence == 4) & (atoms.charge == 1))
    amine = nitrogen & ~aromatic & (atoms.hydrogens > 0) & valence
    return amine | (atoms.is_one_of(OXYGEN, SULFUR) & ~aromatic & one) | (nitrogen & aromatic & one)


def _acceptors(atoms: Atoms, aromatic: Flags) -> Flags:
    """O and S with two bonds or a negative charge, N with three, n, o and s; but not beside a double bond."""
    chalcogen, nitrogen = atoms.is_one_of(OXYGEN, SULFUR), atoms.is_one_of(NITROGEN)
    plain, neutral = ~aromatic, atoms.charge == 0
    ends = atoms.is_one_of(OXYGEN, NITROGEN, PHOSPHORUS, SULFUR) & plain
    beside = atoms.count((SINGLE,), atoms.count((DOUBLE,), ends) > 0) > 0  # *-*=[O,N,P,S]
    hydroxyl = (atoms.hydrogens == 1) & (atoms.valence == 2) & ~beside
    ether = (atoms.hydrogens == 0) & (atoms.valence == 2)
    own = chalcogen & plain & (hydroxyl | ether | (atoms.charge == -1))
    amine = nitrogen & plain & (atoms.valence == 3) & ~beside
    pyridine = nitrogen & aromatic & (atoms.hydrogens == 0) & neutral
    return own | amine | pyridine | (chalcogen & aromatic & neutral & ~_near_nitrogen(atoms, aromatic))


def _near_nitrogen(atoms: Atoms, aromatic: Flags) -> Flags:
    """Patterns *:n and *:c:n."""
    beside = atoms.count((AROMATIC,), atoms.is_one_of(NITROGEN) & aromatic) > 0
    return beside | (atoms.count((AROMATIC,), beside & atoms.is_one_of(CARBON) & aromatic) > 0)


def _basic(atoms: Atoms, aromatic: Flags) -> Flags:
    """Nitrogen that is positive, or whose other neighbors all are carbon (or aromatic) without =O."""
    plain = ~aromatic
    carbonyl = atoms.count((DOUBLE,), atoms.is_one_of(OXYGEN) & plain) > 0
    carbon = atoms.is_one_of(CARBON) & plain & ~carbonyl
    bonds = (SINGLE, AROMATIC)
    any_carbon, only_carbon = (atoms.count(bonds, of) for of in (carbon | (aromatic & ~carbonyl), carbon))
    enough = np.select(
        [atoms.hydrogens == 2, atoms.hydrogens == 1, atoms.hydrogens == 0],
        [any_carbon >= 1, any_carbon >= 2, only_carbon >= 3],
        False,
    )
    amine = plain & (atoms.charge == 0) & enough
    return atoms.is_one_of(NITROGEN) & ((atoms.charge == 1) | amine)


def _acidic(atoms: Atoms, aromatic: Flags) -> Flags:
    """Pattern [C,S](=[O,S,P])-[O;H1,-1]."""
    plain = ~aromatic
    double = atoms.count((DOUBLE,), atoms.is_one_of(OXYGEN, SULFUR, PHOSPHORUS) & plain) > 0
    hydroxyl = atoms.is_one_of(OXYGEN) & plain & ((atoms.hydrogens == 1) | (atoms.charge == -1))
    single = atoms.count((SINGLE,), hydroxyl) > 0
    return atoms.is_one_of(CARBON, SULFUR) & plain & double & single
