"""The runner protocol of Benchmarks/README.md for peers in Python, and the message that all of them seal."""

from __future__ import annotations

import sys
from importlib.metadata import version
from itertools import repeat
from time import perf_counter_ns
from typing import Callable

Operation = Callable[[], object]

MESSAGE = b"x" * 256
WARM_UP = 16


def length_prefixed(text: str) -> bytes:
    return len(text).to_bytes(2, "big") + text.encode()


def info(suite: int) -> bytes:
    """The info of the library (PROTOCOL section 4), base profile."""
    context = b"pushcrypt/1\0" + bytes([suite, 0])
    return context + length_prefixed("AAAAAAAAAAA") + length_prefixed("") + length_prefixed("com.example.app")


def name_and_versions(name: str, packages: list[str]) -> str:
    return " ".join([name] + [f"{package} {version(package)}" for package in packages])


def nanoseconds(operation: Operation, count: int) -> int:
    start = perf_counter_ns()
    for _ in repeat(None, count):
        operation()
    return perf_counter_ns() - start


def answer(line: str, jobs: dict[str, Callable[[], Operation]]) -> str:
    """Time of one thread: Python's lock makes several threads meaningless."""
    words = line.split()
    if len(words) != 2 or words[0] not in jobs:
        return "unsupported"
    operation = jobs[words[0]]()
    nanoseconds(operation, WARM_UP)
    return str(nanoseconds(operation, int(words[1])))


def serve(name: str, packages: list[str], jobs: dict[str, Callable[[], Operation]]) -> None:
    """Answers jobs until standard input ends. Each job makes its operation with fresh keys."""
    print(name_and_versions(name, packages), flush=True)
    for line in sys.stdin:
        print(answer(line, jobs), flush=True)
