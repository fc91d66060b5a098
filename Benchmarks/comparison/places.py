"""Paths of the benchmarks."""

from __future__ import annotations

from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent.parent
REPOSITORY = BENCHMARKS.parent
BUILD = BENCHMARKS / ".build"
VENV = BENCHMARKS / ".venv"
PEERS = BENCHMARKS / "peers"
FLOOR = BUILD / "floor"
