"""Tests a program that implements the pushcrypt protocol: it answers lines of JSON, and the kit plays the other side.

`cli` has the command, `program` the program under test, `cases` what a case is, `suite` all cases of a level, `report` the reports.
`opening`, `sealing`, `refusing` and `keeping` have the cases, and `measure` checks a sealed push. Cases of vectors have their rules.
"""
from __future__ import annotations

__version__ = "0.1.0"
