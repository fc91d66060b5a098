"""Runs pushcrypt at a time of the virtual clock."""
from __future__ import annotations

import datetime
import os
import subprocess
from pathlib import Path

TOPIC = "com.example.app"


class CheckFailed(Exception):
    """Something that the policy or a runbook promises didn't happen."""


def rfc3339(time: datetime.datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


class Clock:
    """The time of the year, which every command gets by --at. It begins after the time of any file's modification."""

    def __init__(self) -> None:
        self.start = datetime.datetime(datetime.date.today().year + 1, 1, 1, tzinfo=datetime.timezone.utc)
        self.now = self.start

    def set(self, day: int, hour: int, minute: int = 0) -> None:
        self.now = self.start + datetime.timedelta(days=day, hours=hour, minutes=minute)

    @property
    def day(self) -> int:
        return (self.now - self.start).days

    def text(self) -> str:
        return rfc3339(self.now)


class Tool:
    """The binary as one host runs it, in a folder and under the name of this host."""

    def __init__(self, binary: Path, clock: Clock, folder: Path, writer: str) -> None:
        self.binary = binary
        self.clock = clock
        self.folder = folder
        self.wrapper = folder / "bin/pushcrypt"
        self.lag = datetime.timedelta()
        self.environment = {"PATH": f"{self.wrapper.parent}:/usr/bin:/bin", "PUSHCRYPT_WRITER": writer,
                            "PUSHCRYPT_TOPIC": TOPIC, "HOME": os.environ.get("HOME", "/"), "LC_ALL": "C.UTF-8"}
        # cron and the script of --exec-on-change run "pushcrypt" without --at.
        self.wrapper.parent.mkdir(parents=True)
        self.wrapper.write_text(f'#!/bin/sh\nexec "{binary}" "$@" --at "$NOW"\n')
        self.wrapper.chmod(0o755)

    def time(self) -> str:
        """The time of this host's clock, which may be behind."""
        return rfc3339(self.clock.now - self.lag)

    def run(self, command: str, *arguments: str, kid: str | None = None, exit: int | None = 0,
            input: str | None = None, at: str | None = None) -> str:
        """Runs a command, checks its exit status and returns its stdout and, after a failure, its stderr."""
        words = [*command.split(), *arguments, "--at", at or self.time(), *(["--", kid] if kid else [])]
        return self._run([str(self.binary), *words], "pushcrypt " + " ".join(words), exit, input)

    def shell(self, command: str, exit: int | None = 0) -> str:
        return self._run(["/bin/sh", "-c", command], command, exit, None)

    def _run(self, words: list[str], shown: str, exit: int | None, input: str | None) -> str:
        result = subprocess.run(words, cwd=self.folder, env={**self.environment, "NOW": self.time()}, input=input,
                                stdin=subprocess.DEVNULL if input is None else None, capture_output=True, text=True)
        if exit is not None and result.returncode != exit:
            printed = result.stdout + result.stderr
            raise CheckFailed(f"{shown}\nexit status {result.returncode} instead of {exit}\n{printed}")
        return result.stdout + (result.stderr if result.returncode else "")
