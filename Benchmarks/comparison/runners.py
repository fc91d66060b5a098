"""The compared processes. Benchmarks/README.md describes their protocol."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import build
from .places import BENCHMARKS, PEERS

# Peers use the same construction as the library's suites 1 and 2. References use another one and are compared with the
# nearest suite.
PYTHON_PEERS = {"pyca": "pyca.py", "pyhpke": "pyhpke_runner.py", "tink": "tink_runner.py"}
PYTHON_REFERENCES = {
    "sealedbox": "sealedbox.py", "rfc8291": "rfc8291.py", "pywebpush": "pywebpush_runner.py", "aesgcm": "aesgcm.py",
}
OTHER_PEERS = ["swiftcrypto"]
OTHER_REFERENCES = ["node"]
PEER_NAMES = [*PYTHON_PEERS, *OTHER_PEERS]
REFERENCE_NAMES = [*PYTHON_REFERENCES, *OTHER_REFERENCES]


@dataclass
class Runner:
    name: str
    versions: str
    process: subprocess.Popen[str]

    @staticmethod
    def start(name: str, command: list[str]) -> Runner:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)
        assert process.stdout is not None
        versions = process.stdout.readline().strip()
        if not versions:
            raise build.Missing(f"{name}: {Runner.last_words(process)}")
        return Runner(name, versions, process)

    @staticmethod
    def last_words(process: subprocess.Popen[str]) -> str:
        """The last line of standard error of a runner that ended."""
        assert process.stderr is not None
        return (process.stderr.read().strip().splitlines() or ["ended without a message"])[-1]

    def nanoseconds(self, job: str, count: int, threads: int = 1) -> int | None:
        """The time of `count` operations on each thread; None for a job that the runner doesn't have."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{job} {count}\n" if threads == 1 else f"{job} {count} {threads}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            raise SystemExit(f"{self.name} ended in {job}: {self.last_words(self.process)}")
        return None if answer == "unsupported" else int(answer)

    def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def node_command() -> list[str]:
    node = shutil.which("node")
    if node is None:
        raise build.Missing("node is not installed")
    return [node, str(PEERS / "node.mjs")]


def command(name: str) -> list[str]:
    """Builds or installs a peer and returns the command that starts it."""
    if name == "swiftcrypto":
        return [str(build.swift_product("swiftcrypto-runner"))]
    if name == "node":
        return node_command()
    script = (PYTHON_PEERS | PYTHON_REFERENCES)[name]
    return [str(build.python_of_peers()), str(PEERS / script)]


def swift_crypto_version() -> str:
    """The version from the resolved packages: swift-crypto doesn't report it."""
    pins = json.loads((BENCHMARKS / "Package.resolved").read_text())["pins"]
    return next((pin["state"]["version"] for pin in pins if pin["identity"] == "swift-crypto"), "")


def start_peer(name: str) -> Runner:
    runner = Runner.start(name, command(name))
    if name == "swiftcrypto":
        runner.versions += f" {swift_crypto_version()} (BoringSSL)"
    return runner


def start_peers(names: list[str]) -> list[Runner]:
    """Starts the available peers and reports the others."""
    started = []
    for name in names:
        try:
            build.say(f"preparing {name}")
            started.append(start_peer(name))
        except build.Missing as missing:
            build.say(f"skipped: {name}: {missing}")
    return started


def start_own(floor: Path, library: Path) -> list[Runner]:
    return [Runner.start("floor", [str(floor)]), Runner.start("library", [str(library)])]
