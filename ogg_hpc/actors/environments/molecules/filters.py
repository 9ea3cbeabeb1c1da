"""Filters: molecules that are valid, and that nobody wants."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rdkit import Chem
from rdkit.Chem.FilterCatalog import FilterCatalog, FilterCatalogParams

from ogg_hpc.actors.environments.molecules.strain import is_strained

Refuses = Callable[[Chem.Mol], bool]


def make_filters(names: Sequence[str]) -> dict[str, Refuses]:
    """Return what refuses molecules, by the names that `MoleculeSettings.filters` has.

    ``steric`` refuses what is strained (`strain`). The others are catalogues of functional groups
    that come with RDKit: ``zinc`` leaves out what ZINC does, as GCPN does; ``brenk`` is of Brenk
    et al. (2008), ``nih`` of Doveston et al. (2015) and Jadhav et al. (2010), ``pains`` of Baell
    and Holloway (2010).
    """
    return {name: is_strained if name == "steric" else _catalogue(name) for name in names}


def _catalogue(name: str) -> Refuses:
    parameters = FilterCatalogParams()
    parameters.AddCatalog(getattr(FilterCatalogParams.FilterCatalogs, name.upper()))
    refuses: Refuses = FilterCatalog(parameters).HasMatch
    return refuses
