"""Compares `pushcrypt seal --batch` with the library's Sealer on the same number of threads, with the same payload, and
measures the time of a new process to its first message."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

from .build import Missing, run
from .figures import Figure, divided
from .runners import Runner

TOPIC = "com.example.app"


def threads() -> int:
    """The number of cores that this process may use: a container may have fewer than the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def seconds(command: list[str], stdin: Path | None = None, stdout: Path | None = None) -> float:
    """The wall time of a process, from its start to its end."""
    with open(stdin or os.devnull, "rb") as source, open(stdout or os.devnull, "wb") as target:
        start = time.monotonic()
        result = subprocess.run(command, stdin=source, stdout=target, stderr=subprocess.PIPE)
        taken = time.monotonic() - start
    if result.returncode != 0:
        said = result.stderr.decode(errors="replace").strip()
        raise Missing(f"{' '.join(command)}: exit code {result.returncode}: {said[-400:]}")
    return taken


def check_is_there(tool: Path) -> None:
    if "--batch" not in run([str(tool), "seal", "--help"], "pushcrypt seal --help"):
        raise Missing("batch: this pushcrypt has no seal --batch")


def write_input(library: Path, suite: int, count: int, folder: Path) -> tuple[Path, list[str]]:
    """Writes a file of lines and returns it with its options. Suites 1 to 3 have a recipient in every line. Suite 4
    has a device of the master, which is in a file."""
    lines, key = folder / f"suite{suite}.jsonl", folder / f"suite{suite}.jwk"
    with open(lines, "wb") as target:
        subprocess.run([str(library), "batch", str(suite), str(count), str(key)], stdout=target, check=True)
    return lines, ["--to", str(key)] if suite == 4 else []


def count_of_lines(file: Path) -> int:
    with open(file, "rb") as lines:
        return sum(1 for _ in lines)


def batch_ratio(
    tool: Path, library_path: Path, library: Runner, suite: int, lines: int, rounds: int, folder: Path
) -> tuple[Figure, float, float]:
    """The ratio, and the medians of both in nanoseconds per message."""
    source, options = write_input(library_path, suite, lines, folder)
    command = [str(tool), "seal", "--batch", "--topic", TOPIC, *options]
    target, count = folder / "sealed.jsonl", threads()
    batch, alone = [], []
    for _ in range(rounds):
        batch.append(seconds(command, source, target) * 1e9 / lines)
        if count_of_lines(target) != lines:
            raise SystemExit(f"seal --batch: {count_of_lines(target)} lines of {lines} came out")
        taken = library.nanoseconds(f"payload{suite}seal", lines // count, count)
        assert taken is not None
        alone.append(taken / (lines // count * count))
    ratio = divided(batch, alone)
    assert ratio is not None
    return ratio, Figure.of(batch).median, Figure.of(alone).median


def measure_batch(
    tool: Path, library_path: Path, library: Runner, suites: list[int], lines: dict[int, int], rounds: int
) -> dict[str, tuple[Figure, float, float]]:
    check_is_there(tool)
    with tempfile.TemporaryDirectory() as name:
        return {
            f"batch.suite{suite}.over_library":
                batch_ratio(tool, library_path, library, suite, lines[suite], rounds, Path(name))
            for suite in suites
        }


def measure_cold_start(floor: Path, library: Path, suites: list[int], rounds: int) -> dict[str, tuple[Figure, float, float]]:
    """From the start of a process through its first sealed payload to its end, including making a fresh key."""
    found = {}
    for suite in suites:
        times: dict[Path, list[float]] = {library: [], floor: []}
        for _ in range(rounds):
            for program in times:
                times[program].append(seconds([str(program), "first", f"payload{suite}seal"]) * 1e9)
        ratio = divided(times[library], times[floor])
        assert ratio is not None
        found[f"coldstart.suite{suite}.over_floor"] = (
            ratio, Figure.of(times[library]).median, Figure.of(times[floor]).median)
    return found
