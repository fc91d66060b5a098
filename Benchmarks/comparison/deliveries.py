"""Measures deliveries in processes of their own: times, system calls, memory and code size."""

from __future__ import annotations

import os
import random
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from .build import Missing, run
from .places import BENCHMARKS, BUILD

# What a delivery uses: see Variant in Sources/DeliveryProcess/Deliveries.swift.
VARIANTS = ["copy", "none", "store", "files"]
SESSIONS = VARIANTS[1:]
# The number of pushes at the start of a round that aren't counted.
UNCOUNTED = 10


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


@dataclass
class Place:
    """A folder that `runner deliveries` has filled, with the pushes of one suite."""

    process: Path
    suite: int
    folder: Path

    @staticmethod
    def prepared(runner: Path, process: Path, suite: int, count: int, folder: Path) -> Place:
        place = Place(process, suite, folder / f"suite{suite}")
        place.folder.mkdir()
        run([str(runner), "deliveries", str(suite), str(count), str(place.folder)], f"pushes of suite {suite}")
        return place

    def command(self, variant: str, *words: object) -> list[str]:
        return [str(self.process), str(self.folder), variant, *map(str, words)]

    def forget(self) -> None:
        """Removes the stores, so that pushes can be delivered again."""
        for variant in VARIANTS:
            shutil.rmtree(self.folder / variant, ignore_errors=True)


@dataclass
class Warm:
    """A process that delivers pushes on request, and the times of its rounds in microseconds."""

    place: Place
    variant: str
    rounds: list[list[float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.process = subprocess.Popen(
            self.place.command(self.variant, "answer"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def deliver(self, count: int) -> list[float]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        times = [int(word) / 1000 for word in self.process.stdout.readline().split()]
        if len(times) != count:
            raise Missing(f"suite {self.place.suite}, {self.variant}: {len(times)} of {count} pushes were delivered")
        return times

    def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    @property
    def name(self) -> str:
        return f"suite{self.place.suite}.{self.variant}"


def measure_warm(places: list[Place], rounds: int, count: int) -> list[Warm]:
    """Rounds in which every process delivers pushes, in another order each time. Neither the first round is counted nor the
    first pushes of each: the other processes have used the processor's caches meanwhile."""
    processes = [Warm(place, variant) for place in places for variant in VARIANTS]
    for index in range(rounds + 1):
        for process in random.sample(processes, len(processes)):
            times = process.deliver(UNCOUNTED + count)
            if index > 0:
                process.rounds.append(times[UNCOUNTED:])
    for process in processes:
        process.stop()
    return processes


def first_push(command: list[str]) -> float:
    """Milliseconds from the start of a process to the time that it prints."""
    start = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise Missing(f"{' '.join(command)}: {result.stderr.strip()[-400:]}")
    return (int(result.stdout) - start) / 1e6


def measure_cold(places: list[Place], empty: Path, rounds: int) -> dict[str, list[float]]:
    """By round, new processes from their start to the handler; `empty` is a process without any library."""
    found: dict[str, list[float]] = {}
    for index in range(rounds):
        commands = {"empty": [str(empty)]}
        for place in places:
            for variant in VARIANTS:
                commands[f"suite{place.suite}.{variant}"] = place.command(variant, "first", index)
        for name in random.sample(list(commands), len(commands)):
            found.setdefault(name, []).append(first_push(commands[name]))
    return found


@dataclass
class Calls:
    """System calls of a push, and those of them that come before its handler."""

    all: Counter[str] = field(default_factory=Counter)
    before: Counter[str] = field(default_factory=Counter)
    pushes: int = 0

    def of(self, pattern: str, counted: Counter[str]) -> float:
        return sum(number for name, number in counted.items() if re.fullmatch(pattern, name)) / self.pushes


def measure_calls(place: Place, variant: str, count: int) -> Calls:
    """Counts between the marks that the process writes."""
    tracer = shutil.which("strace")
    if tracer is None:
        raise Missing("the system calls aren't counted: strace is not installed")
    calls, step = Calls(), ""
    with tempfile.NamedTemporaryFile("r") as trace:
        run([tracer, "-f", "-qq", "-o", trace.name, *place.command(variant, "steps", count)], "strace")
        for line in trace:
            mark = re.search(r'write\(\d+, "step (\w+)"', line)
            name = re.match(r"\d+ +(\w+)\(", line)
            if mark:
                step = mark.group(1)
                calls.pushes += step == "received"
            elif name and step in ("received", "handled"):
                calls.all[name.group(1)] += 1
                if step == "received":
                    calls.before[name.group(1)] += 1
    return calls


def growth(command: list[str]) -> tuple[int, int]:
    """KiB: the growth of the highest resident memory, and that of memory that isn't from files."""
    resident, anonymous = run(command, "memory").split()
    return int(resident), int(anonymous)


def measure_memory(place: Place, variant: str, count: int, runs: int) -> tuple[float, float]:
    found = []
    for _ in range(runs):
        place.forget()
        found.append(growth(place.command(variant, "memory", count)))
    return median(resident for resident, _ in found), median(anonymous for _, anonymous in found)


def measure_film(place: Place, variant: str, runs: int) -> tuple[float, float]:
    found = []
    with FilmServer(place.folder / "film") as server:
        for _ in range(runs):
            place.forget()
            found.append(growth(place.command(variant, "film", server.port)))
    return median(resident for resident, _ in found), median(anonymous for _, anonymous in found)


class FilmServer:
    """Answers every request on loopback with one file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __enter__(self) -> FilmServer:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.listener.close()

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection, open(self.file, "rb") as body:
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    head += connection.recv(1) or b"\r\n\r\n"
                connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
                connection.sendfile(body)


def stripped_size(product: str, linking: list[str]) -> int:
    """Bytes of a program that was built for size and stripped."""
    command = ["swift", "build", "-c", "release", "--package-path", str(BENCHMARKS), "--scratch-path",
               str(BUILD / "size"), "-Xswiftc", "-Osize", *linking]
    run([*command, "--product", product], f"building {product} for size")
    program = Path(run([*command, "--show-bin-path"], f"building {product}").strip()) / product
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / product
        run(["strip", "-o", str(target), str(program)], "strip")
        return target.stat().st_size


def measure_sizes() -> dict[str, int]:
    """Bytes that the library adds to an empty program: linked with the system's and Swift's libraries as they are, and with
    Swift's libraries inside the program."""
    found = {}
    for name, linking in {"shared": [], "static": ["--static-swift-stdlib"]}.items():
        found[name] = stripped_size("delivery-process", linking) - stripped_size("empty-process", linking)
    return found


def file_system(folder: Path) -> str:
    """The kind of file system of a folder, such as ext4 or tmpfs."""
    path, best, kind = os.path.realpath(folder), "", "unknown"
    try:
        mounts = Path("/proc/mounts").read_text().splitlines()
    except OSError:
        return kind
    for line in mounts:
        _, point, name, *_ = line.split()
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, name
    return kind
