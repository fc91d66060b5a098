"""What is checked of every push that a program seals."""
from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from pushcrypt import OpenError, OpenedPush, Opener, RecipientKey, _envelope, pinned
from pushcrypt._keys import Key

from . import outer
from .cases import Answer, Failed, Level, Request, Session, expect, text_of
from .material import AT, TOPIC

WINDOW = 2_592_000  # seconds
MAX_LIMIT = 4_096  # bytes
INNER = '{"aps":{"alert":"x"}}'
PLACEHOLDER = {"title": "New message"}


@dataclass(frozen=True)
class Mode:
    """A recipient, signed or not."""

    name: str
    level: Level
    key: Key = field(repr=False)
    """It opens the pushes."""
    record: str = field(repr=False)
    """What the sender gets."""
    signer: Key | None = field(default=None, repr=False)
    device: str | None = None
    lifetime: int = WINDOW
    """The seconds from iat to exp of a push that says nothing else."""

    def request(self, payload: str = INNER, **options: Any) -> Request:
        """An option that is None is left out."""
        members = {"op": "seal", "topic": TOPIC, "at": AT, "payload": payload, "to": self.record, "placeholder": PLACEHOLDER,
                   "device": self.device, "signWith": None if self.signer is None else json.dumps(self.signer.record()),
                   "bare": True if self.key.suite == 4 and self.key.device is None else None, **options}
        return {name: value for name, value in members.items() if value is not None}

    @property
    def flags(self) -> tuple[str, ...]:
        return (*(("psk",) if self.key.psk is not None else ()), "signed" if self.signer is not None else "unsigned")

    @property
    def overhead(self) -> int:
        """The bytes that sealing adds to a message."""
        return {1: 65, 2: 32, 3: 1_120, 4: 16}[self.key.suite] + 16 + (64 if self.signer is not None else 0)


@dataclass(frozen=True)
class Measured:
    size: int
    """Of the outer payload in bytes."""
    frame: int
    """Of the outer payload with an empty `sealed`."""
    message: int
    """With padding."""
    unpadded: int
    opened: OpenedPush


def limit_of(request: Request) -> int:
    given: int | None = request.get("limit")
    return MAX_LIMIT - outer.RESERVED[request.get("carrier", "apns")] if given is None else given


def measure(session: Session, mode: Mode, request: Request, answer: Answer) -> Measured:
    """Raises Failed for the first thing that is wrong."""
    if "failure" in answer:
        raise Failed("a push", f"the failure {answer['failure']}")
    text = text_of(answer, "payload")
    root = outer.read(text)
    if not isinstance(root, outer.Members):
        raise Failed("an outer payload that is an object", text)
    size = len(text.encode("utf-8"))
    if size > limit_of(request):
        raise Failed(f"at most {limit_of(request):,} bytes", f"{size:,} bytes")
    carrier = request.get("carrier", "apns")
    envelope = outer.envelope(root, carrier)
    sealed = _check_envelope(envelope, mode)
    _check_aps(root.get("aps"), request)
    _check_copies(text, request)
    _check_fresh(session, sealed[:mode.overhead - 16 - (64 if mode.signer is not None else 0)])
    opened, message = _opened(text, sealed, mode, request)
    _check_message(session, message, opened, mode, request, answer)
    made = Measured(size, size - len(envelope.get("sealed")), len(message), len(message.rstrip(b" ")), opened)
    _check_padding(made, mode, request)
    return made


def _check_envelope(envelope: outer.Members, mode: Mode) -> bytes:
    names = ["v", "kid", "sealed"] + (["skid"] if mode.signer is not None else [])
    if envelope.names != names:
        raise Failed(f"an envelope of {', '.join(names)} in this order", ", ".join(envelope.names))
    if not isinstance(envelope.get("v"), outer.Number) or envelope.get("v") != "1":
        raise Failed("the integer 1 as v", json.dumps(envelope.get("v"), default=repr))
    expect("kid", mode.key.kid, envelope.get("kid"))
    if mode.signer is not None:
        expect("skid", mode.signer.kid, envelope.get("skid"))
    return outer.decoded(envelope.get("sealed"), "sealed")


def _check_aps(aps: Any, request: Request) -> None:
    """The placeholder, mutable-content and the exposed members, and nothing else."""
    expected = expected_aps(request)
    got = outer.comparable(aps)
    alert = request["placeholder"]
    if isinstance(got, dict) and isinstance(got.get("alert"), str) and got["alert"] == alert.get("body") and set(alert) == {"body"}:
        got["alert"] = {"body": got["alert"]}  # A text alone may be Apple's short form.
    if got != expected:
        raise Failed(f"the visible aps {_readable(expected)}", f"{_readable(got)}")


def _check_copies(text: str, request: Request) -> None:
    """An exposed member has the text of the inner member: 1.50 isn't written as 1.5."""
    inner, visible = outer.texts(outer.texts(request["payload"])["aps"]), outer.texts(outer.texts(text)["aps"])
    for name in request.get("expose", []):
        expect(f"the text of {name}", inner[name], visible[name])


def expected_aps(request: Request) -> dict[str, Any]:
    inner = outer.read(request["payload"].strip(" \t\r\n")).get("aps")
    exposed = list(request.get("expose", []))
    expected: dict[str, Any] = {"alert": outer.comparable(outer.read(json.dumps(request["placeholder"]))),
                                "mutable-content": outer.comparable(outer.Number(1))}
    sound = inner.get("sound")
    if not request.get("quiet") and sound not in (None, "") and not (isinstance(sound, outer.Members) and not sound):
        expected["sound"] = "default"
    if inner.get("content-available") == "1" and isinstance(inner.get("content-available"), outer.Number):
        expected["content-available"] = outer.comparable(outer.Number(1))
    expected.update((name, outer.comparable(inner.get(name))) for name in exposed)
    return expected


def _readable(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _check_fresh(session: Session, encapsulation: bytes) -> None:
    if encapsulation in session.encapsulations:
        raise Failed("a fresh encapsulation (or salt) for each push", "one that an earlier push had")
    session.encapsulations.add(encapsulation)


def _opened(text: str, sealed: bytes, mode: Mode, request: Request) -> tuple[OpenedPush, bytes]:
    senders = None if mode.signer is None else pinned(json.dumps(mode.signer.record(private=False)))
    opener = Opener(request["topic"], RecipientKey(mode.key), senders=senders, carriers=[request.get("carrier", "apns")],
                    clock=lambda: request["at"])
    try:
        opened = opener.open(text)
    except OpenError as error:
        raise Failed("a push that opens", _why(error, sealed, mode, request) + f"; the push is {text}") from None
    return opened, _envelope.open_(mode.key, mode.signer, request["topic"], sealed)


def _why(error: OpenError, sealed: bytes, mode: Mode, request: Request) -> str:
    """The kit has the keys, so it can say which step failed. A device doesn't."""
    if error.code != "undecryptable":
        return str(error)
    info = _envelope.context(mode.key, None if mode.signer is None else mode.signer.kid, request["topic"])
    try:
        _envelope.decrypt(mode.key, info, sealed)
    except OpenError:
        return "one whose tag doesn't verify: compare the steps of yours with those of steps-v1.json, info first"
    return "one that decrypts, and whose signature doesn't verify (protocol 4, profile signed)"


def _check_message(session: Session, message: bytes, opened: OpenedPush, mode: Mode, request: Request, answer: Answer) -> None:
    if opened.json != request["payload"]:
        raise Failed(f"the payload byte for byte: {request['payload']}", opened.json)
    root = outer.read(message.decode("utf-8").rstrip(" "))
    if root.names[-1] != "pushcrypt":
        raise Failed("pushcrypt as the last member of the message", ", ".join(root.names))
    expect("iat", request["at"], opened.issued_at)
    expect("exp", request["at"] + request.get("expires", mode.lifetime), opened.expires_at)
    expect("id in the answer", opened.id, answer.get("id"))
    expect("expiresAt in the answer", opened.expires_at, answer.get("expiresAt"))
    if "campaign" not in request:
        if opened.id in session.ids:
            raise Failed("another id for each push", opened.id)
        session.ids.add(opened.id)
    expect("retract", request.get("retract", []), list(opened.retract))
    expect("quiet", request.get("quiet", False), opened.quiet)
    expect("badgeAdd", request.get("badgeAdd"), opened.badge_add)
    expect("test", request.get("selfTest", False), opened.self_test)
    expect("attachments", request.get("attachments", []), [one.members() for one in opened.attachments])
    expect("offload", request.get("offload"), None if opened.offload is None else opened.offload.members())


def _check_padding(made: Measured, mode: Mode, request: Request) -> None:
    capacity = capacity_of(made.frame, mode, request)
    pad = request.get("pad", 128)
    if pad == "none":
        expected = made.unpadded
    elif pad == "max":
        expected = capacity
    else:
        expected = min(-(-made.unpadded // pad) * pad, capacity)
    if made.message != expected:
        raise Failed(f"a message of {expected:,} bytes with its padding", f"{made.message:,} bytes")


def capacity_of(frame: int, mode: Mode, request: Request) -> int:
    """⌊3 (l − f) / 4⌋ − header − 16 − (64 if signed)"""
    return 3 * (limit_of(request) - frame) // 4 - mode.overhead
