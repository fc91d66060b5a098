"""Measures whole pushes: the processor time of a client that sends to a stand-in for APNs, which is another process."""

from __future__ import annotations

import os
import random
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import build
from .figures import Figure
from .places import REPOSITORY
from .runners import Runner

BACKEND = REPOSITORY / "Examples" / "backend"
# Those of Examples/backend/Sources/push-cost.
SUITES = (1, 2, 4)
PROFILES = {"seal": "sealed", "sign": "sealed and signed"}
# The processor time, in microseconds for a push, of the jobs of Examples/backend/Sources/push-cost/PushJobs.swift.
WAYS = ["plain", "alone", "each", "ahead"]
PROVIDER = ["--provider-key-id", "BENCHMARK1", "--team-id", "BENCHMARKS"]


@dataclass
class Group:
    """The jobs whose ratios are of interest. They run one directly after the other."""

    suite: int
    profile: str
    rounds: dict[str, list[float]] = field(default_factory=lambda: {way: [] for way in WAYS})

    @property
    def name(self) -> str:
        return f"suite{self.suite}.{PROFILES[self.profile].split()[-1]}"

    @property
    def title(self) -> str:
        return f"suite {self.suite}, {PROFILES[self.profile]}"

    def job(self, way: str) -> str:
        return "plain" if way == "plain" else f"{self.profile}{self.suite}.{way}"

    def measure(self, client: Runner, count: int, ways: list[str]) -> None:
        for way in ways:
            taken = client.nanoseconds(self.job(way), count)
            assert taken is not None
            self.rounds[way].append(taken / count / 1000)

    def microseconds(self, way: str) -> Figure:
        return Figure.of(self.rounds[way])

    def over_alone(self, way: str) -> Figure:
        """What the push takes more than a plain one ÷ sealing alone."""
        rounds = zip(self.rounds[way], self.rounds["plain"], self.rounds["alone"])
        return Figure.of([(sealed - plain) / alone for sealed, plain, alone in rounds])

    def over_plain(self, way: str) -> Figure:
        return Figure.of([sealed / plain for sealed, plain in zip(self.rounds[way], self.rounds["plain"])])


class StandIn:
    """A running stand-in for APNs."""

    def __init__(self, folder: Path) -> None:
        self.key, self.certificate = folder / "provider.p8", folder / "server.pem"
        port = folder / "port"
        files = ["--provider-key", self.key, "--certificate", self.certificate, "--port-file", port]
        # It prints every push.
        self.process = subprocess.Popen(
            [str(build.python_of_peers()), "-m", "pushcrypt.standin", *PROVIDER, *map(str, files)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY / "Senders/python/src")})
        for _ in range(100):
            if port.exists():
                break
            if self.process.poll() is not None:
                raise build.Missing("the stand-in for APNs ended")
            time.sleep(0.1)
        self.address = f"https://localhost:{port.read_text().strip()}"

    def client(self) -> Runner:
        program = build.swift_product("push-cost", BACKEND)
        files = ["--provider-key", str(self.key), "--trust", str(self.certificate)]
        return Runner.start("push-cost", [str(program), "--server", self.address, *PROVIDER, *files])

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def measure(client: Runner, rounds: int, count: int, progress) -> list[Group]:
    """Rounds of all groups, in another order each time. The first round isn't counted."""
    groups = [Group(suite, profile) for profile in PROFILES for suite in SUITES]
    order = random.Random(1)
    for group in groups:
        Group(group.suite, group.profile).measure(client, count, WAYS)
    for number in range(rounds):
        for group in order.sample(groups, len(groups)):
            group.measure(client, count, order.sample(WAYS, len(WAYS)))
        progress(number + 1, rounds)
    return groups
