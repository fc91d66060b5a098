"""Strict JSON and canonical base64url (PROTOCOL section 2). A text that breaks a rule raises `Flaw`."""
from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any, TypeGuard

from .errors import Flaw

MAX_DEPTH = 64  # the root object is depth 1
MAX_INTEGER = 2**53 - 1

_SPACE = (" ", "\t", "\n", "\r")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BASE64URL = re.compile("[A-Za-z0-9_-]+", re.ASCII)
_LITERALS = (("true", True), ("false", False), ("null", None))


class Obj(dict[str, Any]):
    """A JSON object with the position of each member: name -> (name start, value start, value end)."""

    def __init__(self) -> None:
        super().__init__()
        self.spans: dict[str, tuple[int, int, int]] = {}


def raw_bytes(text: object) -> bytes:
    """The bytes of a text as it came. A parsed value isn't one: written again, it may have other bytes. Raises TypeError."""
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if isinstance(text, (bytes, bytearray, memoryview)):
        return bytes(text)
    raise TypeError(f"a {type(text).__name__} in place of the text as it came, bytes or str: don't parse it before")


def parse(raw: bytes) -> tuple[Obj, str]:
    """The root object and the text of its spans. UTF-8 decoding is one to one, so slices of the text are byte exact.

    Refused are: duplicate member names at any depth (compared unescaped), invalid UTF-8, a byte order mark, lone surrogates,
    a depth over 64, a root that isn't an object, and anything but white space after the root.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Flaw(f"byte {error.start} isn't UTF-8") from None
    value, end = _value(text, _skip(text, 0), 1)
    if not isinstance(value, Obj):
        raise Flaw("the root isn't a JSON object")
    if _skip(text, end) != len(text):
        raise Flaw(f"there is more than white space after the JSON object, at character {end}")
    return value, text


def count(value: Any) -> int:
    """The number of JSON values, without member names."""
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(count, children))


def dump(value: Any) -> str:
    """Compact JSON that keeps characters beyond ASCII. Raises TypeError or ValueError for what JSON can't represent."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _skip(text: str, at: int) -> int:
    """The next character that isn't white space."""
    while text[at:at + 1] in _SPACE:
        at += 1
    return at


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    first = text[at:at + 1]
    if first == '"':
        return _string(text, at)
    if first in ("{", "["):
        if depth > MAX_DEPTH:
            raise Flaw(f"arrays and objects are nested deeper than {MAX_DEPTH} at character {at}")
        return _object(text, at, depth) if first == "{" else _array(text, at, depth)
    for literal, value in _LITERALS:
        if text.startswith(literal, at):
            return value, at + len(literal)
    match = _NUMBER.match(text, at)
    if not match:
        raise Flaw(f"there is no JSON value at character {at}")
    token = match.group()
    # An integer token has no fraction and no exponent, and isn't -0. A token of over 17 characters is above 2^53.
    integer = match.group(1) is None and match.group(2) is None and token != "-0" and len(token) <= 17
    return int(token) if integer else float(token), match.end()


def _string(text: str, at: int) -> tuple[str, int]:
    match = _STRING.match(text, at)
    if not match:
        raise Flaw(f"there is no JSON string at character {at}")
    token = match.group()
    if "\\" not in token:  # UTF-8 has no surrogates
        return token[1:-1], match.end()
    value: str = json.loads(token)  # decodes escapes only: the token is known to match the grammar
    if _SURROGATE.search(value):
        raise Flaw(f"the string at character {at} has a lone surrogate")
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
        if text[colon:colon + 1] != ":":
            raise Flaw(f"there is no colon at character {colon}")
        if name in obj:
            raise Flaw(f"the member at character {at} has the name of another member of its object")
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
        raise Flaw(f"there is neither a comma nor a closing bracket at character {at}")
    return (at + 1, True) if text[at] == closing else (_skip(text, at + 1), False)


def is_integer(value: object) -> TypeGuard[int]:
    """Whether it is an integer token of 0 to 2^53 - 1. A boolean isn't a number."""
    return type(value) is int and 0 <= value <= MAX_INTEGER


def b64(data: bytes) -> str:
    """base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def unb64(text: Any, size: int | None = None, name: str = "a value") -> bytes:
    """Canonical base64url (RFC 4648 section 5): no padding, no other characters, trailing bits of zero, `size` bytes."""
    expected = f"{name} isn't {'' if size is None else f'{size} bytes of '}base64url without padding"
    if text is None:
        raise Flaw(f"{name} is missing")
    if not isinstance(text, str) or not _BASE64URL.fullmatch(text):
        raise Flaw(expected)
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        raise Flaw(expected) from None
    if b64(data) != text or (size is not None and len(data) != size):
        raise Flaw(expected)
    return data
