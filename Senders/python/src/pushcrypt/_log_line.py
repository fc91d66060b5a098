"""One line of a keyset's log, and the forms of its members (docs/keyset-log.md of pushcrypt's repository).

LINE    = {"n": N, "at": TIME, "who": TEXT, "what": ACTION, "prev": B64(32) [, "why": TEXT, "r": B64(16)]
           [, "id": B64(16), "kind": KIND] [, CHANGES]}
CHANGES = any of
  "keys": {KID: {["jwk": JWK,] ["psk": true,] [MOMENT: TIME | null, ...,] ["lost": true | null]}, ...}
  "policy": POLICY                    "publication": {"topics": [TOPIC, ... 1 to 16], "validFor": DURATION}
  "epochs": {N: B64(16) | null, ...}  "writer": TEXT             "secrets": [NAME, ... 0 to 8]
  "over": [POINT, ... 1 or more]      "revoked": {KID: TIME, ... 1 or more}
  "issuedAt": TIME                    "validUntil": TIME         "epoch": N
  "publisher": {"id": B64(16), "n": N, "hash": B64(32)}
POINT   = {"n": N, "hash": B64(32)}
POLICY  = {"rotateEvery": DURATION, "publishLead": DURATION, "overlap": DURATION, "keep": N
           [, "requireCoverage": PERCENT]}
"""
from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping

from ._json import MAX_INTEGER, Obj, is_integer, parse, spans, unb64
from ._keys import is_topic
from ._times import seconds
from .errors import Flaw
from .keysets import MAX_TOPICS, MOMENTS

ACTIONS = ("created", "rotated", "imported", "revoked", "destroyed", "policy", "secrets", "published", "restored",
           "clockCorrected")
KINDS = ("recipient", "sender", "shared", "publisher")
MAX_NUMBER, MAX_TEXT, MAX_SECRETS, MAX_KEEP = 2**52, 256, 8, 100
CENTURY = 36_525 * 86_400  # seconds

NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")  # of a secret
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SPACE = re.compile("[ \t\r\n]")
_EPOCH = re.compile("0|[1-9][0-9]{0,15}")
_PERCENT = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3})?")
_COUNT = "(?:([0-9]{1,10})%s)?"
_DURATION = re.compile(f"P(?=.){_COUNT}{_COUNT}(?:T(?=.){_COUNT}{_COUNT}{_COUNT})?" % ("W", "D", "H", "M", "S"))
_UNITS = (7 * 86_400, 86_400, 3600, 60, 1)


class Fault(Flaw):
    """A flaw whose code isn't `malformed`."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(frozen=True)
class Point:
    """The number and the hash of a line."""

    n: int
    hash: bytes


@dataclass(frozen=True)
class KeyChange:
    """What a line says of one key. A moment of None is removed. `lost` is None if the line doesn't say it."""

    jwk: Obj | None
    psk: bool
    moments: Mapping[str, int | None]
    lost: bool | None


@dataclass(frozen=True)
class Line:
    """A line of a log. Times are Unix seconds; a member that the line doesn't have is None."""

    hash: bytes
    n: int
    at: int
    who: str
    what: str
    prev: bytes
    why: str | None = None
    r: bytes | None = field(default=None, repr=False)
    id: str | None = None
    kind: str | None = None
    keys: Mapping[str, KeyChange] | None = None
    policy: Mapping[str, Any] | None = None
    publication: Mapping[str, Any] | None = None
    epochs: Mapping[int, str | None] | None = None
    writer: str | None = None
    secrets: tuple[str, ...] | None = None
    over: tuple[Point, ...] | None = None
    revoked: Mapping[str, int] | None = None
    issued_at: int | None = None
    valid_until: int | None = None
    epoch: int | None = None
    publisher: Mapping[str, Any] | None = None

    @property
    def point(self) -> Point:
        return Point(self.n, self.hash)


def parse_row(row: bytes) -> tuple[Obj, str]:
    """Strict JSON without white space outside of strings."""
    root, text = parse(row)
    if _SPACE.search(_STRING.sub("", text)):
        raise Flaw("it has white space outside of strings")
    return root, text


def read_line(row: bytes) -> Line:
    """The line, if each of its members has the form of the grammar above."""
    root, text = parse_row(row)
    members(root, {"n", "at", "who", "what", "prev"}, set(_FORMS))
    if ("why" in root) != ("r" in root):
        raise Flaw("why and r aren't together")
    values = {_NAMES.get(name, name): _FORMS[name](value, text) for name, value in root.items()}
    return Line(hashlib.sha256(row).digest(), **values)


def _object(value: Any) -> Obj:
    if not isinstance(value, Obj):
        raise Flaw("there is another value where an object is needed")
    return value


def members(value: Any, required: set[str], optional: set[str] | None = None) -> Obj:
    """An object with the required members and no others than the optional ones."""
    found = _object(value)
    missing, unknown = required - set(found), set(found) - required - (optional or set())
    if missing or unknown:
        raise Flaw(f"the member {min(missing)} is missing" if missing else "it has an unknown member")
    return found


def identifier(value: Any) -> str:
    """The base64url of 16 bytes, which stays a text."""
    unb64(value, 16, "the id of a keyset")
    return str(value)


def _list(value: Any, fewest: int, most: int | None) -> list[Any]:
    if not isinstance(value, list) or len(value) < fewest or (most is not None and len(value) > most):
        raise Flaw("there is no array of the needed length")
    return value


def _distinct(texts: list[Any]) -> tuple[str, ...]:
    if len(set(texts)) < len(texts):
        raise Flaw("an array has an element twice")
    return tuple(texts)


def _number(value: Any, _: str = "") -> int:
    if not is_integer(value) or not 1 <= value <= MAX_NUMBER:
        raise Flaw("n isn't an integer of 1 to 2^52")
    return value


def _epoch(value: Any, _: str) -> int:
    if not is_integer(value):
        raise Flaw("epoch isn't an integer of 0 to 2^53 - 1")
    return value


def _time(value: Any, _: str) -> int:
    return seconds(value, "a time")


def _text(value: Any, _: str) -> str:
    if not isinstance(value, str) or not 1 <= len(value.encode()) <= MAX_TEXT:
        raise Flaw(f"a text isn't a string of 1 to {MAX_TEXT} bytes")
    if any(unicodedata.category(character) == "Cc" for character in value):
        raise Flaw("a text has a control character")
    return value


def _one_of(known: tuple[str, ...]) -> Callable[[Any, str], str]:
    def read(value: Any, _: str) -> str:
        if not isinstance(value, str) or value not in known:
            raise Flaw("what or kind has an unknown value")
        return value
    return read


def _id(value: Any, _: str) -> str:
    if identifier(value).startswith("-"):
        raise Flaw("the id begins with a hyphen")
    return str(value)


def _point(value: Any, _: str = "") -> Point:
    found = members(value, {"n", "hash"})
    return Point(_number(found["n"]), unb64(found["hash"], 32, "hash"))


def _over(value: Any, _: str) -> tuple[Point, ...]:
    return tuple(_point(one) for one in _list(value, 1, None))


def _revoked(value: Any, _: str) -> dict[str, int]:
    if not _object(value):
        raise Flaw("revoked has no member")
    for kid in value:
        unb64(kid, 8, "a kid")
    return {kid: seconds(at, "revoked") for kid, at in value.items()}


def _publisher(value: Any, _: str) -> Obj:
    found = members(value, {"id", "n", "hash"})
    identifier(found["id"])
    _number(found["n"])
    unb64(found["hash"], 32, "hash")
    return found


def _secrets(value: Any, _: str) -> tuple[str, ...]:
    names = _list(value, 0, MAX_SECRETS)
    if not all(isinstance(name, str) and NAME.fullmatch(name) for name in names):
        raise Flaw("a secret has no valid name")
    return _distinct(names)


def _epochs(value: Any, _: str) -> dict[int, str | None]:
    for name in _object(value):
        if not _EPOCH.fullmatch(name) or int(name) > MAX_INTEGER:
            raise Flaw("an epoch isn't an integer of 0 to 2^53 - 1 without leading zeros")
    return {int(name): None if keyset is None else identifier(keyset) for name, keyset in value.items()}


def _publication(value: Any, _: str) -> Obj:
    found = members(value, {"topics", "validFor"})
    topics = _list(found["topics"], 1, MAX_TOPICS)
    if not all(map(is_topic, topics)):
        raise Flaw("a topic isn't a bundle identifier")
    _distinct(topics)
    duration(found["validFor"])
    return found


def _policy(value: Any, text: str) -> Obj:
    found = members(value, {"rotateEvery", "publishLead", "overlap", "keep"}, {"requireCoverage"})
    lengths = [duration(found[name]) for name in ("rotateEvery", "publishLead", "overlap")]
    if lengths[0] <= lengths[1]:
        raise Flaw("rotateEvery isn't longer than publishLead")
    if not is_integer(found["keep"]) or not 1 <= found["keep"] <= MAX_KEEP:
        raise Flaw(f"keep isn't an integer of 1 to {MAX_KEEP}")
    if "requireCoverage" in found:
        _, start, end = spans(text, spans(text)["policy"][1])["requireCoverage"]
        if not _PERCENT.fullmatch(text[start:end]) or not 0 <= found["requireCoverage"] <= 100:
            raise Flaw("requireCoverage isn't a number of 0 to 100 with at most three decimals")
    return found


def duration(value: Any) -> int:
    """ISO 8601 with weeks, days, hours, minutes and seconds, at most 100 years: in seconds."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if not match:
        raise Flaw("a duration isn't one of ISO 8601 with weeks, days, hours, minutes and seconds")
    found = sum(int(count) * unit for count, unit in zip(match.groups("0"), _UNITS))
    if found > CENTURY:
        raise Flaw("a duration is over 100 years")
    return found


def _keys(value: Any, _: str) -> dict[str, KeyChange]:
    every = _object(value)
    for kid in every:
        unb64(kid, 8, "a kid")
    return {kid: _key_change(change) for kid, change in every.items()}


def _key_change(value: Any) -> KeyChange:
    change = members(value, set(), {"jwk", "psk", "lost", *MOMENTS})
    if "jwk" in change and not isinstance(change["jwk"], Obj):
        raise Flaw("jwk isn't an object")
    lost = change.get("lost")
    if change.get("psk", True) is not True or (lost is not None and lost is not True):
        raise Flaw("psk isn't true, or lost is neither true nor null")
    moments = {moment: None if change[moment] is None else seconds(change[moment], moment)
               for moment in MOMENTS if moment in change}
    return KeyChange(change.get("jwk"), "psk" in change, moments, lost is True if "lost" in change else None)


_FORMS: dict[str, Callable[[Any, str], Any]] = {
    "n": _number, "at": _time, "who": _text, "what": _one_of(ACTIONS),
    "prev": lambda value, _: unb64(value, 32, "prev"), "why": _text, "r": lambda value, _: unb64(value, 16, "r"),
    "id": _id, "kind": _one_of(KINDS), "keys": _keys, "policy": _policy, "publication": _publication, "epochs": _epochs,
    "writer": _text, "secrets": _secrets, "over": _over, "revoked": _revoked, "issuedAt": _time, "validUntil": _time, "epoch": _epoch,
    "publisher": _publisher,
}
_NAMES = {"issuedAt": "issued_at", "validUntil": "valid_until"}
