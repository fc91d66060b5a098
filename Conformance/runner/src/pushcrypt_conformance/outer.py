"""A reader of outer payloads that shares no code with the Python package: every member in its order, and every number as its text."""
from __future__ import annotations

import base64
import json
import re
from decimal import Decimal
from typing import Any, NoReturn

from .cases import Failed

_BASE64URL = re.compile("[A-Za-z0-9_-]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
PLACES = {"expo": ("body", "pushcrypt"), "oneSignal": ("custom", "a", "pushcrypt")}
#: The bytes that each carrier leaves free.
RESERVED = {"apns": 0, "rebuilt": 64, "fcm": 192, "text": 192, "expo": 192, "oneSignal": 128}


class Number(str):
    """The token of a number."""


class Members(list[tuple[str, Any]]):
    """The members of an object, in their order."""

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self]

    def get(self, name: str) -> Any:
        return next((value for own, value in self if own == name), None)


def read(text: str) -> Any:
    """Raises Failed for a text that isn't strict JSON."""
    try:
        value = json.loads(text, object_pairs_hook=Members, parse_int=Number, parse_float=Number, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise Failed("strict JSON", f"{error}: {text}") from None
    _check(value, text)
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} isn't JSON")


def _check(value: Any, text: str) -> None:
    if isinstance(value, Members):
        if len(set(value.names)) < len(value):
            raise Failed("each name once in an object", text)
        for name, member in value:
            _check(name, text)
            _check(member, text)
    elif isinstance(value, list):
        for one in value:
            _check(one, text)
    elif isinstance(value, str) and _SURROGATE.search(value):
        raise Failed("no lone surrogate", text)


def texts(object_text: str) -> dict[str, str]:
    """The text of each member's value in the text of an object."""
    decoder, found, at = json.JSONDecoder(), {}, object_text.index("{") + 1
    while object_text[(at := _behind_space(object_text, at))] != "}":
        name, at = decoder.raw_decode(object_text, _behind_space(object_text, at + (object_text[at] == ",")))
        start = _behind_space(object_text, object_text.index(":", at) + 1)
        _, at = decoder.raw_decode(object_text, start)
        found[name] = object_text[start:at]
    return found


def _behind_space(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at


def comparable(value: Any) -> Any:
    """The value without the order of members; 1.50e0 is 1.5, and true isn't 1."""
    if isinstance(value, Members):
        return {name: comparable(member) for name, member in value}
    if isinstance(value, list):
        return [comparable(one) for one in value]
    if isinstance(value, Number):
        return ("number", Decimal(value))
    return ("literal", value) if isinstance(value, bool) else value


def envelope(root: Members, carrier: str) -> Members:
    """The envelope at the carrier's place, where nothing but it and `aps` is in the payload."""
    path = PLACES.get(carrier, ("pushcrypt",))
    if sorted(root.names) != sorted(["aps", path[0]]):
        raise Failed(f"a root with aps and {path[0]}", f"the names {root.names}")
    value: Any = root.get(path[0])
    for name in path[1:]:
        if not isinstance(value, Members) or value.names != [name]:
            raise Failed(f"the envelope alone in {'.'.join(path)}", f"{value!r}")
        value = value.get(name)
    if carrier == "text":
        if not isinstance(value, str) or isinstance(value, Number):
            raise Failed("the envelope as a string", f"{value!r}")
        value = read(value)
    if not isinstance(value, Members):
        raise Failed("an envelope that is an object", f"{value!r}")
    return value


def decoded(text: Any, name: str) -> bytes:
    """The bytes of canonical base64url."""
    if not isinstance(text, str) or isinstance(text, Number) or not _BASE64URL.fullmatch(text) or len(text) % 4 == 1:
        raise Failed(f"base64url without padding in {name}", f"{text!r}")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if base64.urlsafe_b64encode(data).decode().rstrip("=") != text:
        raise Failed(f"trailing bits of zero in {name}", text)
    return data
