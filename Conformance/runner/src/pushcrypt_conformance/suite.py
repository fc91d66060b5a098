"""All cases, and those of a level."""
from __future__ import annotations

from . import days, keeping, opening, refusing, sealing
from .cases import LEVELS, Case, Level
from .material import Vectors


def all_cases(vectors: Vectors) -> list[Case]:
    return [case for part in (sealing, refusing, opening, keeping, days) for case in part.cases(vectors)]


def cases_of(vectors: Vectors, level: Level | None = None, only: str | None = None) -> list[Case]:
    """The cases of one level or of all, whose names contain `only`."""
    return [case for case in all_cases(vectors)
            if (level is None or case.level in LEVELS[level]) and (only is None or only in case.name)]
