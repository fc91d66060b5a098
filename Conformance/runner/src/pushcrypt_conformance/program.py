"""The program under test: a process that reads a line of JSON and writes a line of JSON."""
from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
import time
from typing import IO, Any, Sequence

#: Requests without an answer, one after another, after which the program isn't asked any more: each costs a start, or the timeout.
MAX_BREAKS, MAX_HANGS = 100, 5
_MAX_SHOWN = 300  # characters of a line in a report
_MAX_LINE = 4_000_000  # bytes: more is no answer, and isn't kept
_MAX_WAITING = 64  # lines that were written and not read yet: then the program waits


class DoesNotRun(Exception):
    """The program can't be started, or ended before it answered anything."""


class BadAnswer(Exception):
    """There is no answer, or it isn't one to the request."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class _Hangs(BadAnswer):
    pass


class Program:
    """Starts the program once, and again after it ended, hung or lost count. `timeout` is in seconds, for each line."""

    def __init__(self, command: Sequence[str], timeout: float = 10.0) -> None:
        self._command, self._timeout = list(command), timeout
        self._process: _Process | None = None
        self._tag = 0
        self._breaks = self._hangs = 0
        self._has_answered = False
        self.starts = 0

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._stop(5.0)

    def _stop(self, grace: float) -> None:
        if self._process is not None:
            self._process.close(grace)
            self._process = None

    def ask_all(self, requests: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Writes all requests, and reads the answers in their order. Raises BadAnswer, DoesNotRun."""
        if self._breaks >= MAX_BREAKS or self._hangs >= MAX_HANGS:
            raise BadAnswer(f"not asked: {self._breaks} requests before had no answer")
        process = self._process = self._process or self._started()
        tags = range(self._tag + 1, self._tag + 1 + len(requests))
        self._tag += len(requests)
        process.write("".join(json.dumps({"tag": tag, **request}) + "\n" for tag, request in zip(tags, requests)))
        try:
            answers = [_answer(process.line(self._timeout), tag) for tag in tags]
        except BadAnswer as bad:
            # Later lines of this process could be taken for answers to later requests.
            self._stop(0.0)
            self._breaks += 1
            self._hangs += isinstance(bad, _Hangs)
            if process.has_ended and not self._has_answered and self._breaks > 1:
                raise DoesNotRun(bad.what) from None
            raise
        self._breaks, self._hangs, self._has_answered = 0, 0, True
        return answers

    def _started(self) -> _Process:
        self.starts += 1
        try:
            return _Process(self._command)
        except OSError as error:
            raise DoesNotRun(f"{self._command[0]} can't be started: {error.strerror}") from None


def _answer(line: str, tag: int) -> dict[str, Any]:
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise BadAnswer(f"the line isn't a JSON object: {line[:_MAX_SHOWN]}")
    if type(answer.get("tag")) is not int or answer["tag"] != tag:
        raise BadAnswer(f"the answer to tag {tag} has the tag {json.dumps(answer.get('tag'))}: answers are in the order of the requests")
    return answer


class _Process:
    """A running process. Threads write and read, so that neither side waits for a full pipe."""

    def __init__(self, command: list[str]) -> None:
        # In a session of its own, so that the processes that it starts can be ended with it.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self._written: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._lines: queue.Queue[bytes | None] = queue.Queue(_MAX_WAITING)
        self._errors = b""
        self.has_ended = False
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._threads = [
            threading.Thread(target=self._feed, args=(self._process.stdin,), daemon=True),
            threading.Thread(target=self._collect, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._keep_end, args=(self._process.stderr,), daemon=True)]
        for thread in self._threads:
            thread.start()

    def _feed(self, stdin: IO[bytes]) -> None:
        try:
            while (text := self._written.get()) is not None:
                stdin.write(text)
                stdin.flush()
            stdin.close()
        except (OSError, ValueError):
            pass  # The process has ended. The reader of the lines reports it.

    def _collect(self, stdout: IO[bytes]) -> None:
        while line := stdout.readline(_MAX_LINE):
            self._lines.put(line)
        self._lines.put(None)

    def _keep_end(self, stderr: IO[bytes]) -> None:
        while text := os.read(stderr.fileno(), 65_536):
            self._errors = (self._errors + text)[-_MAX_SHOWN:]

    def write(self, text: str) -> None:
        self._written.put(text.encode("ascii"))

    def line(self, timeout: float) -> str:
        try:
            line = self._lines.get(timeout=timeout)
        except queue.Empty:
            raise _Hangs(f"no answer within {timeout:g} seconds") from None
        if line is None:
            raise self._end()
        if len(line) == _MAX_LINE:
            raise BadAnswer(f"the line has more than {_MAX_LINE:,} bytes")
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError:
            raise BadAnswer(f"the line isn't UTF-8: {line[:_MAX_SHOWN]!r}") from None

    def _end(self) -> BadAnswer:
        """Why there are no more lines."""
        try:
            status = self._process.wait(1)
        except subprocess.TimeoutExpired:
            return _Hangs("the program has closed its output")
        self.has_ended = True
        self._threads[2].join(1)
        errors = self._errors.decode("utf-8", "replace").strip().splitlines()
        shown = " ... ".join(dict.fromkeys((*errors[:1], *errors[-1:])))  # Some languages name the error first, some last.
        return BadAnswer(f"the program ended with status {status}" + (f": {shown}" if errors else ""))

    def close(self, grace: float) -> None:
        """Ends the input, and the process with its children if it doesn't end within `grace` seconds."""
        self._written.put(None)
        try:
            self._process.wait(grace)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)  # With what it has started.
            self._process.wait()
        end = time.monotonic() + 1
        while self._threads[1].is_alive() and time.monotonic() < end:  # It waits while the queue is full.
            try:
                self._lines.get(timeout=0.05)
            except queue.Empty:
                pass
        for thread in self._threads:
            thread.join(1)
        for thread, stream in zip(self._threads[1:], (self._process.stdout, self._process.stderr)):
            if stream is not None and not thread.is_alive():  # A process that the program started may keep it open.
                stream.close()
