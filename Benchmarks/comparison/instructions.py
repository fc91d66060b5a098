"""Instructions of an operation: the difference between a run with more operations and a run with fewer. Unlike times,
they hardly change from run to run. `perf` counts the processor's instructions. If the processor's counter can't be
read, valgrind counts the instructions of its emulated processor, which has neither AVX-512 nor SHA instructions."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from .build import Missing

FEW, MANY = 40, 240


def output(command: list[str], jobs: str) -> str:
    result = subprocess.run(command, input=jobs, capture_output=True, text=True)
    return result.stdout + result.stderr


def counted_by_perf(program: Path, jobs: str) -> int | None:
    said = output(["perf", "stat", "-x", ",", "-e", "instructions:u", str(program)], jobs)
    found = re.search(r"^(\d+),[^,]*,instructions:u", said, re.MULTILINE)
    return int(found[1]) if found else None


def counted_by_valgrind(program: Path, jobs: str) -> int | None:
    with tempfile.TemporaryDirectory() as folder:
        out = f"--callgrind-out-file={folder}/out"
        said = output(["valgrind", "--tool=callgrind", out, str(program)], jobs)
    found = re.search(r"Collected : (\d+)", said)
    return int(found[1]) if found else None


def counter(program: Path):
    """The first counter that works here, and its name."""
    if shutil.which("perf") and counted_by_perf(program, "") is not None:
        return counted_by_perf, "perf"
    if shutil.which("valgrind"):
        return counted_by_valgrind, "valgrind"
    raise Missing("instructions: neither perf with a counter nor valgrind is here")


def instructions(program: Path, job: str, counted) -> float | None:
    few, many = counted(program, f"{job} {FEW}\n"), counted(program, f"{job} {MANY}\n")
    if few is None or many is None:
        return None
    return (many - few) / (MANY - FEW)


def measure_instructions(floor: Path, library: Path, jobs: list[str]) -> tuple[str, dict[str, tuple[float, float]]]:
    """The counter's name; instructions of the library and of the floor by job."""
    counted, name = counter(floor)
    found = {}
    for job in jobs:
        of_library, of_floor = instructions(library, job, counted), instructions(floor, job, counted)
        if of_library and of_floor:
            found[job] = (of_library, of_floor)
    return name, found
