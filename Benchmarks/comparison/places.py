"""Paths of the benchmarks."""

from __future__ import annotations

import sys
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent.parent
REPOSITORY = BENCHMARKS.parent
BUILD = BENCHMARKS / ".build"
# One for each version of Python: the folder can be seen from several systems.
VENV = BENCHMARKS / ".venv" / "{}.{}".format(*sys.version_info)
PEERS = BENCHMARKS / "peers"
FLOOR = BUILD / "floor"
