"""Runs job.py on a small separate cluster and checks the results. `run` starts it.

Spark runs as `local-cluster`: a master, two workers, and for each an executor in a separate process, all on loopback.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyspark

import devices

TOPIC = "com.example.app"
CAMPAIGN = "spring-2026"
SAMPLE = 200
# With few cores, Java's optimizing compiler would take longer than a whole short run.
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SPARK = Path(pyspark.__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description="Rehearse job.py on this machine.")
    parser.add_argument("--work", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--pushcrypt", default=shutil.which("pushcrypt"), help="the binary; by default the one in PATH")
    parser.add_argument("--devices", type=int, default=2000)
    parser.add_argument("--partitions", type=int, default=12)
    parser.add_argument("--format", choices=["json", "parquet"], default="json")
    parser.add_argument("--keys", choices=["shared", "p256", "x25519"], default="shared")
    parser.add_argument("--kill-worker", action="store_true", help="kill -9 an executor in the middle")
    arguments = parser.parse_args()
    if not arguments.pushcrypt:
        raise SystemExit("run: no pushcrypt in PATH; give --pushcrypt BINARY")
    # Exits on SIGTERM, so that `finally` ends the started processes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.environ["PUSHCRYPT_PASSPHRASE"] = secrets.token_urlsafe(16)
    Rehearsal(arguments).run()


class Rehearsal:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.binary = str(Path(arguments.pushcrypt).resolve())
        self.folder = arguments.work / "rehearsal"
        self.keyset = self.folder / "Keys" / "campaign"
        self.input, self.output = self.folder / "devices", self.folder / "sealed"
        self.log, self.scratch = self.folder / "spark.log", self.folder / "scratch"
        # The record on every line, if there is no shared keyset for all lines.
        self.record: devices.Line | None = None
        self.refused_count = max(1, arguments.devices // 1000)

    def run(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.make_keys()
        count = self.arguments.devices
        data = devices.lines(count, self.refused_count, self.record)
        devices.write(self.input, self.arguments.format, data, rows=max(1, count // self.arguments.partitions))
        seconds = self.seal()
        print(f"{count / seconds:,.0f} devices/s: {seconds:.1f} s including the start of Spark")
        self.verify_all()
        self.verify_sample()
        if self.arguments.kill_worker:
            self.verify_loss()
        shutil.rmtree(self.folder)
        shutil.rmtree(SPARK / "work")
        print("all checks passed")

    # Preparation

    def tool(self, *options: str | Path, lines: bytes = b"") -> bytes:
        done = subprocess.run([self.binary, *options], input=lines, stdout=subprocess.PIPE, check=True)
        return done.stdout

    def make_keys(self) -> None:
        if self.arguments.keys == "shared":
            self.tool("keys", "create", self.keyset, "--kind", "shared")
        else:
            self.tool("keys", "create", self.keyset, "--kind", "recipient", "--suite", self.arguments.keys, "--psk")
            self.record = json.loads(self.tool("keys", "export", self.keyset, "--registration"))

    # The job

    def seal(self) -> float:
        start = time.monotonic()
        with self.log.open("wb") as log:
            job = subprocess.Popen(self.command(), stdout=subprocess.PIPE, stderr=log, env=self.environment())
            try:
                if self.arguments.kill_worker:
                    self.kill_worker(job)
                summary = job.communicate()[0].decode().strip()
            finally:
                if job.poll() is None:
                    end(job)
        if job.returncode != 0:
            raise SystemExit(f"run: the job failed; see {self.log}")
        print(summary)
        return time.monotonic() - start

    def command(self) -> list[str]:
        size = sum(file.stat().st_size for file in self.input.iterdir())
        settings = {
            "spark.ui.enabled": "false",
            "spark.driver.extraJavaOptions": QUICK_START,
            "spark.executor.extraJavaOptions": QUICK_START,
            "spark.local.dir": str(self.scratch),
            "spark.sql.files.maxPartitionBytes": str(size // self.arguments.partitions + 1),
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
        }
        return [
            str(Path(sys.executable).parent / "spark-submit"), "--master", "local-cluster[2,1,1024]",
            *(part for name, value in settings.items() for part in ("--conf", f"{name}={value}")),
            str(Path(__file__).with_name("job.py")), "--input", str(self.input), "--output", str(self.output),
            "--format", self.arguments.format, "--campaign", CAMPAIGN, "--pushcrypt", self.binary,
            "--", *self.options(),
        ]

    def options(self) -> list[str]:
        shared = [] if self.record else ["--to", str(self.keyset)]
        return ["--topic", TOPIC, *shared, "--jobs", "1"]

    def environment(self) -> dict[str, str]:
        return os.environ | {"SPARK_HOME": str(SPARK), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}

    def kill_worker(self, job: subprocess.Popen[bytes]) -> None:
        """Waits until a quarter of the tasks has committed, and kills an executor that runs another task."""
        while True:
            if job.poll() is not None:
                raise SystemExit(f"run: the job ended too early; see {self.log}")
            committed = len(list(self.output.glob("_temporary/0/task_*")))
            victim = self.busy_executor(job.pid) if committed >= self.arguments.partitions // 4 else None
            if victim:
                break
            time.sleep(0.05)
        os.kill(victim, signal.SIGKILL)
        print(f"killed the executor with process id {victim} when {committed} tasks were done")

    def busy_executor(self, job: int) -> int | None:
        executors = [pid for pid in descendants(job) if "CoarseGrainedExecutorBackend" in command_line(pid)]
        return next((pid for pid in executors if any(map(self.is_tool, descendants(pid)))), None)

    def is_tool(self, pid: int) -> bool:
        return command_line(pid).startswith(f"{self.binary} ")

    # Checks of the results

    def lines(self, kind: str) -> Iterator[devices.Line]:
        for file in sorted((self.output / f"kind={kind}").glob("part-*")):
            with file.open("rb") as lines:
                yield from map(json.loads, lines)

    def verify_all(self) -> None:
        sealed = Counter(line["install"] for line in self.lines("sealed"))
        refused = Counter(json.loads(line["input"])["install"] for line in self.lines("refused"))
        ids = {line["pushcrypt"]["id"] for line in self.lines("sealed")}
        wanted = {devices.name(number) for number in range(self.arguments.devices)}
        require(sealed.keys() == wanted, "every device has a payload, and there are no other payloads")
        require(set(sealed.values()) == {1}, "no device has two payloads")
        # With --keys p256 or x25519 all lines have the same record, and the id is made from its key.
        require(len(ids) == (1 if self.record else len(wanted)), "each device's message has its own id")
        require(len(refused) == self.refused_count == refused.total(), "every bad line is refused once")
        print(f"{len(sealed):,} devices, {sealed.total():,} payloads, {refused.total():,} lines refused")

    def verify_sample(self) -> None:
        every = max(1, self.arguments.devices // SAMPLE)
        sample = list(islice(self.lines("sealed"), 0, None, every))
        opened = self.batch("open", "--keys", str(self.keyset), "--topic", TOPIC, lines=sample)
        again = [devices.line(line["install"], self.record) for line in sample]
        repeated = self.batch("seal", "--id-from", CAMPAIGN, *self.options(), lines=again)
        for line, restored, repeat in zip(sample, opened, repeated, strict=True):
            install = line["install"]
            require(restored["payload"] == devices.payload(install), f"{install} opens its own payload")
            require(repeat["pushcrypt"]["id"] == line["pushcrypt"]["id"], "a repeat has the same message id")
        print(f"{len(sample)} opened; sealed again, each has the same message id")

    def batch(self, command: str, *options: str, lines: list[devices.Line]) -> list[devices.Line]:
        text = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        return [json.loads(line) for line in self.tool(command, "--batch", *options, lines=text).splitlines()]

    def verify_loss(self) -> None:
        text = self.log.read_text(errors="replace")
        lost = re.findall(r"Lost executor \d+ on [^:]+: .*", text)
        again = re.findall(r"Starting task (\d+\.[1-9]\d*) in stage", text)
        require(bool(lost), "Spark noticed that an executor was lost")
        require(bool(again), "the killed executor was running a task, which Spark ran again")
        print(f"Spark's log: {lost[0]}; ran again: task {', '.join(again)}")


def require(holds: bool, claim: str) -> None:
    if not holds:
        raise SystemExit(f"run: this is not true: {claim}")


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def parent(pid: str) -> int | None:
    try:
        # The name of the program, in parentheses, may contain any character.
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def descendants(pid: int) -> list[int]:
    """The child processes of `pid`, and all their descendants."""
    parents = {int(entry.name): parent(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    found = [pid]
    for ancestor in found:
        found += [child for child, its_parent in parents.items() if its_parent == ancestor]
    return found[1:]


def end(job: subprocess.Popen[bytes]) -> None:
    for pid in descendants(job.pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    job.kill()
    job.wait()


if __name__ == "__main__":
    main()
