"""Runs workers on a separate Redis server, kills one, delays one, adds a line that ends its worker, and checks the results.

`run` starts it.
"""
from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import redis

Line = dict[str, Any]

TOPIC = "com.example.app"
PATIENCE = 2
ATTEMPTS = 3
SAMPLE = 200
INPUT, SEALED, REFUSED, DEAD = "{pushes}", "{pushes}:sealed", "{pushes}:refused", "{pushes}:dead"
TOO_LONG = 5_000
INNOCENT = 20

# A tool that ends when it reads a line that contains "poison".
FRAIL_TOOL = """#!{python}
import subprocess, sys
tool = subprocess.Popen([{binary!r}, *sys.argv[1:]], stdin=subprocess.PIPE)
for line in sys.stdin.buffer:
    if b"poison" in line:
        tool.kill()
        sys.exit(1)
    tool.stdin.write(line)
    tool.stdin.flush()
tool.stdin.close()
sys.exit(tool.wait())
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Rehearse worker.py on this machine.")
    parser.add_argument("--work", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--pushcrypt", default=shutil.which("pushcrypt"), help="the binary; by default the one in PATH")
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--batch", type=int, default=100, help="lines that a worker takes at once")
    arguments = parser.parse_args()
    if not arguments.pushcrypt:
        raise SystemExit("run: no pushcrypt in PATH; give --pushcrypt BINARY")
    # Exits on SIGTERM, so that `finally` ends the started processes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # A socket's path may have 107 bytes, so it is in a separate temporary folder.
    with tempfile.TemporaryDirectory() as sockets:
        Rehearsal(arguments, Path(sockets, "redis")).run()


class Rehearsal:
    def __init__(self, arguments: argparse.Namespace, socket: Path) -> None:
        self.arguments = arguments
        self.binary = str(Path(arguments.pushcrypt).resolve())
        self.folder = arguments.work / "rehearsal"
        self.keyset = self.folder / "Keys" / "campaign"
        self.socket = socket
        self.redis = redis.Redis(unix_socket_path=str(socket), protocol=2)
        self.processes: list[subprocess.Popen[bytes]] = []
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        # A producer that got no answer tries again. So some messages are in the queue twice, with a campaign of their own.
        self.repeated = range(0, arguments.messages, 100)
        # Some devices get two different messages.
        self.paired = range(50, arguments.messages, 100)
        self.bad = range(0, arguments.messages, 500)

    def run(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.tool("keys", "create", self.keyset, "--kind", "shared", "--insecure-plaintext")
        try:
            self.start_redis()
            self.feed()
            self.work()
            self.verify_all()
            self.verify_sample()
            self.poison()
        finally:
            self.end()
        shutil.rmtree(self.folder)
        print("all checks passed")

    def tool(self, *options: str | Path, lines: bytes = b"") -> bytes:
        done = subprocess.run([self.binary, *options], input=lines, stdout=subprocess.PIPE, check=True)
        return done.stdout

    # Redis and its streams

    def start_redis(self) -> None:
        """Uses a socket without a port: no other user can reach it, and no other server uses the same port."""
        command = ["redis-server", "--port", "0", "--unixsocket", str(self.socket), "--unixsocketperm", "700"]
        command += ["--dir", str(self.folder), "--save", "", "--appendonly", "yes", "--logfile", "redis.log"]
        self.processes.append(subprocess.Popen(command))
        wait(self.answers, "redis-server starts")

    def answers(self) -> bool:
        try:
            return bool(self.redis.ping())
        except redis.ConnectionError:
            return False

    def feed(self) -> None:
        with self.redis.pipeline(transaction=False) as pipeline:
            for number in range(self.arguments.messages):
                line = message(name(number))
                if number in self.repeated:
                    line["campaign"] = f"message-{number}"
                    pipeline.xadd(INPUT, {"line": json.dumps(line)})
                if number in self.paired:
                    pipeline.xadd(INPUT, {"line": json.dumps(message(name(number), body="A second message."))})
                pipeline.xadd(INPUT, {"line": json.dumps(line)})
                if number in self.bad:
                    pipeline.xadd(INPUT, {"line": json.dumps(message(f"bad-{number}", body="x" * TOO_LONG))})
                    pipeline.xadd(INPUT, {"line": "not JSON,\nand on two lines"})
                if number % 1000 == 999:
                    pipeline.execute()
            pipeline.execute()

    def entries(self, stream: str) -> Iterator[Line]:
        start = "-"
        while page := self.redis.xrange(stream, min=start, count=1000):
            yield from (json.loads(fields[b"line"]) for _, fields in page)
            start = f"({page[-1][0].decode()}"

    # The work

    def work(self) -> None:
        start = time.monotonic()
        self.fail("worker-0")
        for number in (1, 2, 3):
            self.workers[f"worker-{number}"] = self.start_worker(f"worker-{number}", self.keyset)
        self.wait_for_share(0.25)
        held = self.stop_in_the_middle("worker-1")
        self.workers.pop("worker-1").kill()
        print(f"killed worker-1 while it held {held} lines")
        self.wait_for_share(0.5)
        held = self.stop_in_the_middle("worker-2")
        wait(lambda: self.in_hand("worker-2") == 0, "other workers have taken over its lines")
        self.workers["worker-2"].send_signal(signal.SIGCONT)
        print(f"delayed worker-2 while it held {held} lines, until others had taken them over")
        wait(lambda: self.redis.xlen(INPUT) == 0, "the queue is empty")
        seconds = time.monotonic() - start
        self.stop_workers()
        print(f"{self.redis.xlen(SEALED) / seconds:,.0f} messages/s: {seconds:.1f} s including both waits")

    def start_worker(
        self, name: str, keyset: Path, binary: str | None = None, patience: int = PATIENCE
    ) -> subprocess.Popen[bytes]:
        command = [
            sys.executable, str(Path(__file__).with_name("worker.py")), "--name", name,
            "--redis", f"unix://{self.socket}", "--batch", str(self.arguments.batch), "--patience", str(patience),
            "--attempts", str(ATTEMPTS), "--pushcrypt", binary or self.binary,
            "--", "--topic", TOPIC, "--to", str(keyset), "--jobs", "1",
        ]
        with (self.folder / f"{name}.log").open("ab") as log:
            worker = subprocess.Popen(command, stderr=log)
        self.processes.append(worker)
        return worker

    def fail(self, name: str) -> None:
        worker = self.start_worker(name, self.folder / "missing")
        require(worker.wait(timeout=60) != 0, "a worker without a key ends")
        require(self.in_hand(name) == 0, "a worker without a key takes no line")
        print(f"{name} had no key and ended without taking a line")

    def wait_for_share(self, share: float) -> None:
        enough = int(self.arguments.messages * share)
        wait(lambda: self.redis.xlen(SEALED) >= enough, f"{share:.0%} of the messages are sealed")

    def in_hand(self, worker: str) -> int:
        try:
            pending = self.redis.xpending(INPUT, "sealers")
        except redis.ResponseError:  # no worker has made the group yet
            return 0
        return next((one["pending"] for one in pending["consumers"] if one["name"] == worker.encode()), 0)

    def stop_in_the_middle(self, worker: str) -> int:
        """Stops a worker while it holds lines. If it holds none, lets it continue and stops it again."""
        process = self.workers[worker]
        while process.poll() is None and self.redis.xlen(INPUT):
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.05)
            if held := self.in_hand(worker):
                return held
            process.send_signal(signal.SIGCONT)
            time.sleep(0.003)
        raise SystemExit(f"run: {worker} or the queue ended before the worker held lines: give more --messages")

    def stop_workers(self) -> None:
        for worker in self.workers.values():
            worker.terminate()
        for name, worker in self.workers.items():
            require(worker.wait(timeout=60) == 0, f"{name} stops on SIGTERM")

    def end(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()

    # Checks of the results

    def verify_all(self) -> None:
        ids: dict[str, list[str]] = defaultdict(list)
        for line in self.entries(SEALED):
            ids[line["device"]].append(line["pushcrypt"]["id"])
        refused = self.redis.xlen(REFUSED)
        twice = {name(number) for numbers in (self.repeated, self.paired) for number in numbers}
        wanted = {name(number): 2 if name(number) in twice else 1 for number in range(self.arguments.messages)}
        paired = {name(number) for number in self.paired}
        require(ids.keys() == wanted.keys(), "every device has a payload, and there are no other payloads")
        require(
            all(len(set(some)) == (2 if device in paired else 1) for device, some in ids.items()),
            "a message that was added twice has one message id, and two messages to one device have two")
        require({device: len(some) for device, some in ids.items()} == wanted, "no line was sealed twice")
        require(refused == 2 * len(self.bad), "every bad line is refused once")
        codes = {fields[b"code"] for _, fields in self.redis.xrange(REFUSED)}
        require(codes == {b"tooLarge", b"malformedLine"}, "each refused line has its code")
        require(self.redis.xlen(DEAD) == 0, "no line is set aside")
        payloads = sum(len(some) for some in ids.values())
        print(f"{len(ids):,} devices, {payloads:,} payloads, {refused} lines refused")
        print(f"{len(self.repeated)} messages were added twice; the second payload has the message id of the first")
        print(f"{len(self.paired)} devices got two messages, with two message ids")

    def verify_sample(self) -> None:
        every = max(1, self.arguments.messages // SAMPLE)
        sample = list(self.entries(SEALED))[::every]
        lines = b"".join(json.dumps(line).encode() + b"\n" for line in sample)
        opened = self.tool("open", "--batch", "--keys", self.keyset, "--topic", TOPIC, lines=lines)
        for line in map(json.loads, opened.splitlines()):
            body = line["payload"]["aps"]["alert"]["body"]
            require(line["device"] in body or body == "A second message.", "each device opens its own payload")
        print(f"{len(sample)} opened")

    # A line that ends its worker

    def poison(self) -> None:
        """A service manager restarts the worker that the line ends; the other lines are sealed, and the line is set aside."""
        frail = self.folder / "frail"
        frail.write_text(FRAIL_TOOL.format(python=sys.executable, binary=self.binary))
        frail.chmod(0o700)
        sealed = self.redis.xlen(SEALED)
        for number in range(INNOCENT):
            if number == INNOCENT // 2:
                self.redis.xadd(INPUT, {"line": json.dumps(message("poison"))})
            self.redis.xadd(INPUT, {"line": json.dumps(message(name(number)))})
        starts = 0
        while self.redis.xlen(INPUT):
            worker = self.start_worker("worker-9", self.keyset, str(frail), patience=1)
            starts += 1
            wait(lambda: worker.poll() is not None or not self.redis.xlen(INPUT), "the worker or the queue has ended")
        worker.terminate()
        require(worker.wait(timeout=60) == 0, "the last worker stops on SIGTERM")
        require(starts == ATTEMPTS + 1, "the line ended as many workers as it has attempts")
        require(self.redis.xlen(SEALED) == sealed + INNOCENT, "every other line is sealed once")
        dead = [fields for _, fields in self.redis.xrange(DEAD)]
        require([fields[b"code"] for fields in dead] == [b"attempts"], "one line is set aside")
        require(json.loads(dead[0][b"line"]) == message("poison"), "the line that is set aside is unchanged")
        print(f"a line ended {starts - 1} workers and was set aside")


def name(number: int) -> str:
    return f"device-{number:09}"


def message(device: str, body: str = "") -> Line:
    """The payload for this device. It contains the device's name, so that the checks detect a wrong recipient."""
    alert = {"title": "Dr. Amara Osei", "body": body or f"Results for {device} are in."}
    return {"device": device, "payload": {"aps": {"alert": alert, "sound": "chime.caf"}}}


def wait(condition: Callable[[], bool], what: str, seconds: float = 600) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"run: timed out waiting until {what}")
        time.sleep(0.02)


def require(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"run: this is not true: {claim}")


if __name__ == "__main__":
    main()
