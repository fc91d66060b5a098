#!/usr/bin/env python3
"""Seals the lines of a Redis stream: takes them in batches, sends them to one process `pushcrypt seal --stream`, and adds
the answers to streams.

    worker.py --name worker-1 -- --topic com.example.app --to Keys/fleet

Entries of the input have one field, `line`. One step adds the results of a batch and acknowledges it. If a worker dies,
its lines stay pending, and another worker takes them over, one by one. A line that was tried too often is set aside.
"""
from __future__ import annotations

import argparse
import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import redis

FINISH = Path(__file__).with_name("finish.lua").read_text()


class Entry(NamedTuple):
    id: bytes
    line: bytes


class Result(NamedTuple):
    id: bytes
    kind: str  # sealed, refused or dead
    line: bytes  # the sealed line, or the unchanged line
    code: str = ""
    reason: str = ""


class Tool:
    """A process `pushcrypt seal --stream`. It answers each line, in order."""

    def __init__(self, command: list[str]) -> None:
        # A separate session: Ctrl-C reaches only the worker, which finishes its current batch.
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self.line_count = 0
        # The tool refuses this empty line only after it has read its keys. Without keys the worker ends here and takes no lines.
        self.answers([b""])

    def answers(self, lines: list[bytes]) -> list[bytes]:
        # Writes and reads at the same time, because each pipe has room for only a part of the lines.
        writer = Thread(target=self.write, args=[lines])
        writer.start()
        answers = [self.process.stdout.readline() for _ in lines]
        writer.join()
        for answer in answers:
            self.line_count += 1
            if not answer.endswith(b"\n"):
                raise RuntimeError(f"pushcrypt ended with status {self.process.wait()}")
            if json.loads(answer)["pushcrypt"]["line"] != self.line_count:
                raise RuntimeError(f"line {self.line_count} has the answer to another line")
        return [answer[:-1] for answer in answers]

    def write(self, lines: list[bytes]) -> None:
        try:
            self.process.stdin.writelines(line + b"\n" for line in lines)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # The missing answers show it.

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait()


class Worker:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.redis = redis.Redis.from_url(arguments.redis, protocol=2)
        # In braces: on a Redis cluster, streams of one transaction must be on one node.
        stream = "{" + arguments.stream + "}"
        self.input = stream
        self.streams = [stream, f"{stream}:sealed", f"{stream}:refused", f"{stream}:dead"]
        self.finish = self.redis.register_script(FINISH)
        self.is_stopping = False

    def run(self) -> None:
        signal.signal(signal.SIGTERM, self.stop)
        signal.signal(signal.SIGINT, self.stop)
        campaign = ["--id-from", self.arguments.campaign] if self.arguments.campaign else []
        self.tool = Tool([self.arguments.pushcrypt, "seal", "--stream", *campaign, *self.arguments.options])
        self.make_group()
        while not self.is_stopping:
            if not self.take_over():
                self.take(self.fresh())
        self.tool.end()

    def stop(self, *_: object) -> None:
        """Stops the worker after its current batch."""
        self.is_stopping = True

    def make_group(self) -> None:
        try:
            self.redis.xgroup_create(self.input, self.arguments.group, id="0", mkstream=True)
        except redis.ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):
                raise

    def take_over(self) -> bool:
        """Takes over lines that a worker took and didn't finish, because it died or is too slow.

        Each line is taken and finished alone. So if a line ends its worker, this doesn't count as an attempt for the others.
        Redis counts how often a line was taken.
        """
        patience = self.arguments.patience * 1000
        abandoned = self.redis.xpending_range(
            self.input, self.arguments.group, "-", "+", count=self.arguments.batch, idle=patience)
        has_taken = False
        for pending in abandoned:
            if self.is_stopping:
                break
            claimed = self.redis.xclaim(
                self.input, self.arguments.group, self.arguments.name, patience, [pending["message_id"]])
            for entry in as_entries(claimed):
                has_taken = True
                attempts = pending["times_delivered"]
                if attempts < self.arguments.attempts:
                    self.take([entry])
                else:
                    self.add([Result(entry.id, "dead", entry.line, "attempts", f"not finished in {attempts} attempts")])
        return has_taken

    def fresh(self) -> list[Entry]:
        answer = self.redis.xreadgroup(
            self.arguments.group, self.arguments.name, {self.input: ">"}, count=self.arguments.batch, block=1000)
        return as_entries(answer[0][1]) if answer else []

    def take(self, entries: list[Entry]) -> None:
        if entries:
            answers = self.tool.answers([self.with_campaign(entry) for entry in entries])
            self.add(self.results(entries, answers))

    def results(self, entries: list[Entry], answers: list[bytes]) -> Iterator[Result]:
        for entry, answer in zip(entries, answers, strict=True):
            error = json.loads(answer).get("error")
            if error:
                yield Result(entry.id, "refused", entry.line, error["code"], error["reason"])
            else:
                yield Result(entry.id, "sealed", answer)

    def add(self, results: Iterator[Result] | list[Result]) -> None:
        values = [part for result in results for part in result]
        self.finish(keys=self.streams, args=[self.arguments.group, *values])

    def with_campaign(self, entry: Entry) -> bytes:
        """Adds the entry's id as the campaign, so that a line that is sealed twice has one message id.

        A line with a campaign of its own keeps it. The rest of the line stays byte for byte.
        """
        if self.arguments.campaign:
            return entry.line
        try:
            members = json.loads(entry.line)
        except (ValueError, RecursionError):
            return entry.line  # The tool refuses it.
        if not isinstance(members, dict) or "campaign" in members:
            return entry.line
        start = entry.line.index(b"{") + 1
        campaign = json.dumps({"campaign": f"{self.arguments.stream}/{entry.id.decode()}"})[1:-1].encode()
        return entry.line[:start] + campaign + (b"," if members else b"") + entry.line[start:]


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
    parser.add_argument(
        "--attempts", type=int, default=5, metavar="N", help="how often a line is tried until it is set aside")
    parser.add_argument(
        "--campaign", help="for one push to each device: the name from which all ids are made, instead of the entries' ids")
    parser.add_argument("--pushcrypt", default="pushcrypt")
    parser.add_argument("options", nargs="+", help="options of seal, after --")
    Worker(parser.parse_args()).run()


if __name__ == "__main__":
    main()
