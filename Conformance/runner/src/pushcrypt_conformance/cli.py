"""The command pushcrypt-conformance."""
from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Sequence, get_args

from . import __version__, material, report
from .cases import Level, run
from .program import DoesNotRun, Program
from .suite import cases_of

USAGE = """\
pushcrypt-conformance [OPTIONS] YOUR-PROGRAM [ARGUMENTS...]

Tests a program that implements the pushcrypt protocol. It reads a line of JSON from stdin and writes a line of JSON to stdout,
as Conformance/README.md describes.

  --level LEVEL      sender, sender-full, opener, opener-full or keys; otherwise all of them
  --vectors FOLDER   the folder of the vectors; otherwise the one around this package or the working folder
  --json FILE        writes every case with its rule, suite, flags and outcome, and the inputs that must be refused
  --junit FILE       writes JUnit's XML
  --only TEXT        runs only the cases whose names contain the text
  --timeout SECONDS  how long a line may take, 10 by default
  --version, --help

The options may stand anywhere; behind -- everything belongs to the program.

Exit status: 0 nothing failed, 1 a case failed, 2 the program doesn't run, 64 bad usage."""

_LEVELS = get_args(Level)


class _BadUsage(Exception):
    pass


@dataclass
class _Options:
    values: dict[str, str] = field(default_factory=dict)
    command: list[str] = field(default_factory=list)

    @property
    def level(self) -> Level | None:
        level = self.values.get("--level")
        if level is not None and level not in _LEVELS:
            raise _BadUsage(f"--level is one of {', '.join(_LEVELS)}")
        return level  # type: ignore[return-value]

    @property
    def timeout(self) -> float:
        try:
            seconds = float(self.values.get("--timeout", "10"))
        except ValueError:
            seconds = 0
        if not 0 < seconds <= 3_600:
            raise _BadUsage("--timeout is a number of seconds, at most 3,600")
        return seconds


def _read(arguments: Sequence[str]) -> _Options:
    options, rest = _Options(), list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            options.command += rest
            break
        if argument in ("--level", "--vectors", "--json", "--junit", "--only", "--timeout"):
            if not rest or argument in options.values:
                raise _BadUsage(f"{argument} has no value, or stands twice")
            options.values[argument] = rest.pop(0)
        elif not options.command and argument.startswith("-"):
            raise _BadUsage(f"there is no option {argument}")
        else:
            options.command.append(argument)
    if not options.command:
        raise _BadUsage("the program to test is missing")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] in (["--help"], ["-h"]):
        print(USAGE)
        return 0
    if given[:1] == ["--version"]:
        print(f"pushcrypt-conformance {__version__}")
        return 0
    try:
        options = _read(given)
        level, timeout = options.level, options.timeout
        folder = material.found(options.values.get("--vectors"), Path.cwd())
        if folder is None:
            raise _BadUsage("the folder of the vectors isn't there: give it with --vectors")
    except _BadUsage as bad:
        print(f"pushcrypt-conformance: {bad}\n\n{USAGE}", file=sys.stderr)
        return 64
    return _run(options, level, timeout, folder)


def _run(options: _Options, level: Level | None, timeout: float, folder: Path) -> int:
    vectors = material.Vectors(folder)
    try:
        cases = cases_of(vectors, level, options.values.get("--only"))
    except material.OtherVersion as error:
        print(f"pushcrypt-conformance: {error}", file=sys.stderr)
        return 64
    if not cases:
        print("pushcrypt-conformance: no case has such a name", file=sys.stderr)
        return 64
    try:
        with Program(options.command, timeout) as program:
            results = run(cases, program)
    except DoesNotRun as error:
        print(f"pushcrypt-conformance: the program doesn't run: {error}", file=sys.stderr)
        return 2
    levels: list[Level] = [level] if level is not None else [one for one in _LEVELS if report.of_level(results, one)]
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(report.table(results, levels, vectors.digest).encode(encoding, "backslashreplace").decode(encoding), flush=True)
    for name, text in (("--json", report.as_json(results, levels, vectors.digest, options.command)), ("--junit", report.as_junit(results))):
        if name in options.values:
            try:
                Path(options.values[name]).write_text(text, encoding="utf-8")
            except OSError as error:
                print(f"pushcrypt-conformance: {options.values[name]} can't be written: {error.strerror}", file=sys.stderr)
                return 64
    return 1 if any(result.outcome == "failed" for result in results) else 0
