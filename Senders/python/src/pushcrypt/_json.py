"""Strict JSON and canonical base64url (PROTOCOL section 2). A text that breaks a rule raises `Flaw`.

The grammar is that of the module json, which also takes NaN, two members of one name, lone surrogates, any depth and a byte order
mark. All of this is refused here.
"""
from __future__ import annotations

import base64
import json
import re
from functools import cached_property
from typing import Any, Mapping, NoReturn, TypeGuard

from .errors import Flaw, attempt

MAX_DEPTH = 64  # the root object is depth 1
MAX_INTEGER = 2**53 - 1

WHITE_SPACE = " \t\n\r"
_TOO_DEEP = f"arrays and objects are nested deeper than {MAX_DEPTH}"
_SURROGATE = re.compile("[\ud800-\udfff]")
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}:,]')
_BASE64URL = re.compile("[A-Za-z0-9_-]+", re.ASCII)
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))

#: name -> (name start, value start, value end)
Spans = dict[str, tuple[int, int, int]]


class Obj(dict[str, Any]):
    """A JSON object."""

    text = ""
    """The text, if the object is its root."""

    @cached_property
    def spans(self) -> Spans:
        """The position of each member of a root."""
        return spans(self.text)


def raw_bytes(text: object) -> bytes:
    """The bytes of a text as it came. A parsed value isn't one: written again, it may have other bytes. Raises TypeError."""
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if isinstance(text, (bytes, bytearray, memoryview)):
        return bytes(text)
    raise TypeError(f"a {type(text).__name__} in place of the text as it came, bytes or str: don't parse it before")


def json_bytes(given: Mapping[str, Any] | str | bytes) -> bytes:
    """The bytes of a text, or of the JSON of a mapping."""
    if isinstance(given, bytes):
        return given
    found = attempt(lambda: (given if isinstance(given, str) else dump(dict(given))).encode(), TypeError, ValueError, RecursionError)
    if isinstance(found, bytes):
        return found
    raise Flaw(f"JSON can't represent it ({type(found).__name__}): it has a lone surrogate, or isn't a mapping of JSON values")


def parse(raw: bytes) -> tuple[Obj, str]:
    """The root object and the text of its spans. UTF-8 decoding is one to one, so slices of the text are byte exact.

    Refused are: duplicate member names at any depth (compared unescaped), invalid UTF-8, a byte order mark, lone surrogates,
    a depth over 64, a root that isn't an object, and anything but white space after the root.
    """
    text = attempt(raw.decode, UnicodeDecodeError)
    if isinstance(text, UnicodeDecodeError):
        raise Flaw(f"byte {text.start} isn't UTF-8")
    begin = len(text) - len(text.lstrip(WHITE_SPACE))
    found = attempt(lambda: _DECODER.raw_decode(text, begin), json.JSONDecodeError, RecursionError)
    if not isinstance(found, tuple):
        raise Flaw(f"it isn't JSON at character {found.pos}") if isinstance(found, json.JSONDecodeError) else Flaw(_TOO_DEEP)
    value, end = found
    if not isinstance(value, Obj):
        raise Flaw("the root isn't a JSON object")
    if text[end:].strip(WHITE_SPACE):
        raise Flaw(f"there is more than white space after the JSON object, at character {end}")
    if "\\u" in text or text.count("{") + text.count("[") > MAX_DEPTH:  # otherwise there is no surrogate, and no depth over 64
        _check(value, 1)
    value.text = text
    return value, text


def spans(text: str, at: int = 0) -> Spans:
    """The position of each member of the object that begins at `at`, in a text that was parsed."""
    found: Spans = {}
    name, start, value, depth = "", 0, 0, 0
    for token in _TOKEN.finditer(text, at):
        sign = token.group()
        if sign in ("{", "["):
            depth += 1
        elif depth > 1:
            depth -= 1 if sign in ("}", "]") else 0
        elif sign == ":":
            value = token.end()
        elif sign in (",", "}"):
            if value:
                end = value + len(text[value:token.start()].rstrip(WHITE_SPACE))
                found[name] = (start, end - len(text[value:end].lstrip(WHITE_SPACE)), end)
            if sign == "}":
                break
            value = 0
        elif not value:
            name, start = json.loads(sign), token.start()
    return found


def count(value: Any) -> int:
    """The number of JSON values, without member names."""
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(count, children))


def dump(value: Any) -> str:
    """Compact JSON that keeps characters beyond ASCII. Raises TypeError or ValueError for what JSON can't represent."""
    return _ENCODER.encode(value)


def _object(members: list[tuple[str, Any]]) -> Obj:
    obj = Obj(members)
    if len(obj) < len(members):
        raise Flaw("an object has two members of one name")
    return obj


def _integer(token: str) -> int | float:
    """An integer token isn't -0. A token of over 17 characters is above 2^53."""
    return int(token) if token != "-0" and len(token) <= 17 else float(token)


def _constant(token: str) -> NoReturn:
    raise Flaw(f"{token} isn't JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer, parse_constant=_constant)


def _check(value: Any, depth: int) -> None:
    """Refuses lone surrogates and a depth over 64."""
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise Flaw("a string has a lone surrogate")
    elif isinstance(value, (dict, list)):
        if depth > MAX_DEPTH:
            raise Flaw(_TOO_DEEP)
        for child in (*value, *value.values()) if isinstance(value, dict) else value:
            _check(child, depth + 1)


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
    if not isinstance(text, str) or not _BASE64URL.fullmatch(text) or len(text) % 4 == 1:
        raise Flaw(expected)
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if b64(data) != text or (size is not None and len(data) != size):
        raise Flaw(expected)
    return data
