"""Cases: what is asked of a program, and what became of it."""
from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Literal, Protocol, Sequence

from .program import BadAnswer

Request = dict[str, Any]
Answer = dict[str, Any]
Level = Literal["sender", "sender-full", "opener", "opener-full", "keys"]
Outcome = Literal["passed", "failed", "unsupported"]

#: What each level contains.
LEVELS: dict[Level, tuple[Level, ...]] = {
    "sender": ("sender",), "sender-full": ("sender", "sender-full"), "opener": ("opener",), "opener-full": ("opener", "opener-full"),
    "keys": ("keys",),
}


class Failed(Exception):
    """The program did something else than the protocol demands."""

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(f"expected {expected}, got {got}")
        self.expected, self.got = expected, got


class Unsupported(Exception):
    """The program answered that it doesn't have what the case is about."""


class Asked(Protocol):
    """A program that answers each request, in order."""

    def ask_all(self, requests: Sequence[Request]) -> list[Answer]: ...


class Session:
    """The cases of one run ask through it. It keeps what may not occur twice in a run."""

    def __init__(self, program: Asked) -> None:
        self._program = program
        self.asked: list[Request] = []
        """The requests of the running case."""
        self.encapsulations: set[bytes] = set()
        self.ids: set[str] = set()

    def ask_all(self, requests: Sequence[Request]) -> list[Answer]:
        """Raises Unsupported for the first answer that says so, and Failed for an answer of another form."""
        self.asked = list(requests)
        answers = self._program.ask_all(requests)
        for request, answer in zip(requests, answers):
            self.asked = [request]
            _check_form(answer)
        return answers

    def ask(self, request: Request) -> Answer:
        return self.ask_all([request])[0]

    def accepted(self, request: Request) -> Answer:
        answer = self.ask(request)
        if "failure" in answer:
            raise Failed("an answer with ok", f"the failure {answer['failure']}")
        return answer

    def refused(self, request: Request, failure: str | None = None) -> None:
        """Any failure counts if the protocol doesn't name one."""
        answer = self.ask(request)
        if "failure" not in answer or failure not in (None, answer["failure"]):
            raise Failed(f"the failure {failure}" if failure else "a failure", shown(answer))


def _check_form(answer: Answer) -> None:
    if "unsupported" in answer:
        if not isinstance(answer["unsupported"], str) or {"ok", "failure"} & set(answer):
            raise Failed("unsupported with a reason alone", shown(answer))
        raise Unsupported(answer["unsupported"])
    if "failure" in answer:
        if not isinstance(answer["failure"], str) or not answer["failure"] or "ok" in answer:
            raise Failed("a failure with a name, and no ok", shown(answer))
    elif answer.get("ok") is not True:
        raise Failed("ok, failure or unsupported", shown(answer))


@dataclass(frozen=True)
class Case:
    name: str
    """It is unique and stays the same: GROUP/NAME. The group is a file of vectors or a theme of sealing."""
    level: Level
    """The lowest level that contains the case."""
    rule: str
    """The section of the protocol and its paragraph: "protocol 2, base64url"."""
    run: Callable[[Session], None] = field(repr=False)
    suite: int | None = None
    flags: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        return self.name.split("/", 1)[0]


def of_vector(name: str, level: Level, vector: dict[str, Any], run: Callable[[Session], None]) -> Case:
    """A case with the rule, the suite and the flags of a vector."""
    return Case(name, level, vector["rule"], run, vector["suite"], tuple(vector["flags"]))


@dataclass(frozen=True)
class Result:
    case: Case
    outcome: Outcome
    expected: str = ""
    got: str = ""
    """What the program did; why it is unsupported."""
    requests: tuple[Request, ...] = ()
    """Of a case that didn't pass."""
    seconds: float = 0.0


def run(
    cases: Iterable[Case], program: Asked, *, stop_at_first_failure: bool = False, clock: Callable[[], float] = time.monotonic,
) -> list[Result]:
    session, results = Session(program), []
    for case in cases:
        results.append(_result(case, session, clock))
        if stop_at_first_failure and results[-1].outcome == "failed":
            break
    return results


def _result(case: Case, session: Session, clock: Callable[[], float]) -> Result:
    session.asked, start = [], clock()
    try:
        case.run(session)
        return Result(case, "passed", seconds=clock() - start)
    except Unsupported as unsupported:
        return Result(case, "unsupported", got=str(unsupported), requests=tuple(session.asked), seconds=clock() - start)
    except Failed as failed:
        expected, got = failed.expected, failed.got
    except BadAnswer as bad:
        expected, got = "one line of JSON for each line", bad.what
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # An answer never ends the run, however it is made.
        expected, got = "an answer of the form in Conformance/README.md", f"one that can't be read: {type(error).__name__}: {error}"
    return Result(case, "failed", expected, got, tuple(session.asked), clock() - start)


def shown(value: object) -> str:
    """A value in a report."""
    return json.dumps(value, ensure_ascii=False)


def text_of(answer: Answer, name: str) -> str:
    value = answer.get(name)
    if not isinstance(value, str):
        raise Failed(f"a string {name}", shown(answer))
    return value


def expect(name: str, expected: object, got: object) -> None:
    """Compares values of JSON: true isn't 1."""
    if json.dumps(expected, sort_keys=True) != json.dumps(got, sort_keys=True):
        raise Failed(f"{name} {shown(expected)}", f"{name} {shown(got)}")
