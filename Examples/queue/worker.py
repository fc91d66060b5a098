#!/usr/bin/env python3
"""Seals the lines of a Redis stream: takes them in batches, runs `pushcrypt seal --batch`, adds the results to streams.

    worker.py --name worker-1 --campaign ID -- --topic com.example.app --to Keys/campaign

Entries of the streams have one field, `line`. One step adds the results of a batch and acknowledges it. If a worker
dies, its lines stay pending, and another worker takes them over.
"""
from __future__ import annotations

import argparse
import json
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import redis

DONE, SOME_REFUSED = 0, 65
FINISH = Path(__file__).with_name("finish.lua").read_text()


class Entry(NamedTuple):
    id: bytes
    line: bytes


class Result(NamedTuple):
    number: int  # of the line in its batch, from 1
    kind: str
    line: bytes


class Worker:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.redis = redis.Redis.from_url(arguments.redis, protocol=2)
        # In braces: on a Redis cluster, streams of one transaction must be on one node.
        stream = "{" + arguments.stream + "}"
        self.streams = [stream, f"{stream}:sealed", f"{stream}:refused"]
        self.finish = self.redis.register_script(FINISH)
        self.is_stopping = False

    def run(self) -> None:
        signal.signal(signal.SIGTERM, self.stop)
        signal.signal(signal.SIGINT, self.stop)
        self.make_group()
        while not self.is_stopping:
            entries = self.abandoned() or self.fresh()
            if entries:
                self.take(entries)

    def stop(self, *_: object) -> None:
        """Stops the worker after its current batch."""
        self.is_stopping = True

    def make_group(self) -> None:
        try:
            self.redis.xgroup_create(self.streams[0], self.arguments.group, id="0", mkstream=True)
        except redis.ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):
                raise

    def abandoned(self) -> list[Entry]:
        """Takes over lines that a worker took and didn't finish, because it died or is too slow."""
        answer = self.redis.xautoclaim(
            self.streams[0], self.arguments.group, self.arguments.name,
            min_idle_time=self.arguments.patience * 1000, count=self.arguments.batch)
        return as_entries(answer[1])

    def fresh(self) -> list[Entry]:
        answer = self.redis.xreadgroup(
            self.arguments.group, self.arguments.name, {self.streams[0]: ">"}, count=self.arguments.batch, block=1000)
        return as_entries(answer[0][1]) if answer else []

    def take(self, entries: list[Entry]) -> None:
        results = sorted(self.sealed([entry.line for entry in entries]))
        if [result.number for result in results] != list(range(1, len(entries) + 1)):
            raise RuntimeError(f"{len(entries)} lines went in and {len(results)} came out")
        values = [part for entry, result in zip(entries, results) for part in (entry.id, result.kind, result.line)]
        self.finish(keys=self.streams, args=[self.arguments.group, *values])

    def sealed(self, lines: list[bytes]) -> Iterator[Result]:
        command = [self.arguments.pushcrypt, "seal", "--batch", "--id-from", self.arguments.campaign]
        with tempfile.TemporaryDirectory() as folder:
            errors = Path(folder, "errors")
            # A separate session: Ctrl-C reaches only the worker, which finishes its current batch.
            done = subprocess.run(
                [*command, *self.arguments.options, "--errors", errors], stdout=subprocess.PIPE,
                input=b"".join(line + b"\n" for line in lines), start_new_session=True)
            if done.returncode not in (DONE, SOME_REFUSED):
                raise RuntimeError(f"pushcrypt ended with status {done.returncode}")
            for line in split(done.stdout):
                yield Result(json.loads(line)["pushcrypt"]["line"], "sealed", line)
            for line in split(errors.read_bytes()):
                yield Result(json.loads(line)["line"], "refused", line)


def split(lines: bytes) -> list[bytes]:
    """Splits at newlines only: `splitlines` would also split at a carriage return."""
    return lines.split(b"\n")[:-1]


def as_entries(answer: list[tuple[bytes, dict[bytes, bytes]]]) -> list[Entry]:
    """An entry is one line: a newline in it becomes a carriage return, which is also white space in JSON.

    An entry without a line becomes an empty line, which the tool refuses.
    """
    return [Entry(id, fields.get(b"line", b"").replace(b"\n", b"\r")) for id, fields in answer]


def main() -> None:
    parser = argparse.ArgumentParser(description="Seal the lines of a Redis stream.")
    parser.add_argument("--redis", default="redis://127.0.0.1:6379/0", metavar="URL")
    parser.add_argument("--stream", default="pushes")
    parser.add_argument("--group", default="sealers")
    parser.add_argument("--name", required=True, help="the worker's name; each worker needs its own")
    parser.add_argument("--batch", type=int, default=1000, metavar="LINES")
    parser.add_argument("--patience", type=int, default=60, metavar="SECONDS", help="until a line is taken over")
    parser.add_argument("--campaign", required=True, help="the input of the message ids, with key and device")
    parser.add_argument("--pushcrypt", default="pushcrypt")
    parser.add_argument("options", nargs="+", help="options of seal, after --")
    Worker(parser.parse_args()).run()


if __name__ == "__main__":
    main()
