"""Strict JSON and canonical base64url, which the pushcrypt protocol requires on both sides, and typed refusals."""
from __future__ import annotations

import base64
import json
import re
from typing import Any, Optional

MAX_DEPTH = 64  # the root object is depth 1
MAX_INTEGER = 2**53 - 1
MAX_PAYLOAD, MAX_VALUES = 256 * 1024, 16_384  # bytes and JSON values (names not counted) of an inner payload


class Refusal(Exception):
    """A typed refusal: `code` is a failure class of the protocol, or `invalidArgument`, `notExposable` or `tooLarge`."""

    def __init__(self, code: str, detail: str = "", needed: Optional[int] = None, available: Optional[int] = None):
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code, self.detail, self.needed, self.available = code, detail, needed, available


# Refused as malformed: duplicate member names at any depth (compared unescaped), invalid UTF-8, BOM, lone surrogates,
# depth over 64, a root that is not an object, anything but white space after the last "}".

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LITERALS = (("true", True), ("false", False), ("null", None))


class Obj(dict):
    """A JSON object with the place of each member: name -> (name start, value start, value end)."""

    def __init__(self) -> None:
        super().__init__()
        self.spans: dict[str, tuple[int, int, int]] = {}


def parse(raw: bytes) -> tuple[Obj, str]:
    """The root object and the text of its spans (UTF-8 decoding is one to one, so slices are byte exact)."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Refusal("malformed", "invalid UTF-8") from None
    value, end = _value(text, _skip(text, 0), 1)
    if not isinstance(value, Obj) or _skip(text, end) != len(text):
        raise Refusal("malformed", "not exactly one JSON object")
    return value, text


def parse_payload(raw: bytes) -> tuple[Obj, str]:
    """The same for an inner payload, which has limits. Padding after it doesn't count."""
    if len(raw.rstrip(b" ")) > MAX_PAYLOAD:
        raise Refusal("malformed", "the payload is too long")
    value, text = parse(raw)
    if _count(value) > MAX_VALUES:
        raise Refusal("malformed", "the payload has too many values")
    return value, text


def _count(value: Any) -> int:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_count, children))


def _skip(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    first = text[at:at + 1]
    if first == '"':
        return _string(text, at)
    if first in ("{", "["):
        if depth > MAX_DEPTH:
            raise Refusal("malformed", "too deep")
        return _object(text, at, depth) if first == "{" else _array(text, at, depth)
    for literal, value in _LITERALS:
        if text.startswith(literal, at):
            return value, at + len(literal)
    match = _NUMBER.match(text, at)
    if not match:
        raise Refusal("malformed", "not a JSON value")
    token = match.group()
    # An integer token has no fraction and no exponent, and isn't -0. A token of over 17 characters is above 2^53.
    integer = match.group(1) is None and match.group(2) is None and token != "-0" and len(token) <= 17
    return int(token) if integer else float(token), match.end()


def _string(text: str, at: int) -> tuple[str, int]:
    match = _STRING.match(text, at)
    if not match:
        raise Refusal("malformed", "not a JSON string")
    value = json.loads(match.group())  # decodes escapes only: the token is known to match the grammar
    if _SURROGATE.search(value):
        raise Refusal("malformed", "lone surrogate")
    return value, match.end()


def _array(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    at = _skip(text, at + 1)
    if text[at:at + 1] == "]":
        return items, at + 1
    while True:
        value, end = _value(text, at, depth + 1)
        items.append(value)
        at, closed = _separator(text, end, "]")
        if closed:
            return items, at


def _object(text: str, at: int, depth: int) -> tuple[Obj, int]:
    obj = Obj()
    at = _skip(text, at + 1)
    if text[at:at + 1] == "}":
        return obj, at + 1
    while True:
        name, colon = _string(text, at)
        colon = _skip(text, colon)
        if text[colon:colon + 1] != ":" or name in obj:
            raise Refusal("malformed", "no colon, or a duplicate member name")
        start = _skip(text, colon + 1)
        obj[name], end = _value(text, start, depth + 1)
        obj.spans[name] = (at, start, end)
        at, closed = _separator(text, end, "}")
        if closed:
            return obj, at


def _separator(text: str, at: int, closing: str) -> tuple[int, bool]:
    """Moves past a comma to the next element (False), or past the closing bracket (True)."""
    at = _skip(text, at)
    if text[at:at + 1] not in (closing, ","):
        raise Refusal("malformed", "neither a comma nor a closing bracket")
    return (at + 1, True) if text[at] == closing else (_skip(text, at + 1), False)


def is_integer(value: Any) -> bool:
    """An integer token in 0...2^53-1; a boolean is not a number."""
    return type(value) is int and 0 <= value <= MAX_INTEGER


def b64(data: bytes) -> str:
    """base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def unb64(text: Any, size: Optional[int] = None) -> bytes:
    """Canonical base64url: no padding, no white space, no foreign characters, zero trailing bits, `size` bytes."""
    if not isinstance(text, str) or not re.fullmatch("[A-Za-z0-9_-]+", text) or len(text) % 4 == 1:
        raise Refusal("malformed", "base64url")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if b64(data) != text or (size is not None and len(data) != size):
        raise Refusal("malformed", "base64url")
    return data
