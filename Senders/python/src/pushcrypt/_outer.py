"""The outer payload: the placeholder, the exposed members and the frame of the sealed bytes (PROTOCOL section 2)."""
from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Callable, Iterable, Sequence

from . import _carriers
from ._json import Obj, dump, is_integer, spans
from ._message import Payload, is_visible
from .errors import SealError, attempt

MAX_LIMIT = 4096  # bytes of the outer payload
MAX_EXPOSED = 32  # names
_EXPOSED_NAME = re.compile("[A-Za-z0-9_-]{1,64}", re.ASCII)


@dataclass(frozen=True)
class Placeholder:
    """The unencrypted text, which the device shows if it can't open the push.

    `title`, `subtitle` and `body` are literal. `title_loc_key`, `subtitle_loc_key` and `loc_key` are keys of the app's
    strings, which the device localises with the arguments. APNs can read all of it. At least one of `title`, `subtitle`,
    `body`, `title_loc_key` and `loc_key` must have a character that a person can see.
    """

    title: str | None = None
    body: str | None = None
    title_loc_key: str | None = None
    loc_key: str | None = None
    subtitle: str | None = None
    subtitle_loc_key: str | None = None
    title_loc_args: Sequence[str] = ()
    subtitle_loc_args: Sequence[str] = ()
    loc_args: Sequence[str] = ()
    launch_image: str | None = None

    @cached_property
    def _members(self) -> dict[str, Any]:
        """Apple's members of an alert. Raises SealError `invalidPlaceholder`."""
        sufficient = (self.title, self.subtitle, self.body, self.title_loc_key, self.loc_key)
        if not any(map(is_visible, sufficient)):
            raise SealError("invalidPlaceholder", "the placeholder has no text that a person can see: without one, iOS doesn't run "
                            "the app's extension")
        texts = {
            "title": self.title, "subtitle": self.subtitle, "body": self.body, "title-loc-key": self.title_loc_key,
            "subtitle-loc-key": self.subtitle_loc_key, "loc-key": self.loc_key, "launch-image": self.launch_image}
        arguments = {
            "title-loc-args": self.title_loc_args, "subtitle-loc-args": self.subtitle_loc_args, "loc-args": self.loc_args}
        for name, text in texts.items():
            if text is not None and not isinstance(text, str):
                raise SealError("invalidPlaceholder", f"{name} isn't a string")
        for name, values in arguments.items():
            if isinstance(values, str) or not all(isinstance(value, str) for value in values):
                raise SealError("invalidPlaceholder", f"{name} isn't a sequence of strings")
        given: dict[str, Any] = {name: text for name, text in texts.items() if text}
        given.update((name, list(values)) for name, values in arguments.items() if values)
        return given

    @cached_property
    def _json(self) -> str:
        """The alert. Raises SealError `invalidPlaceholder`."""
        return dump(self._members)


@dataclass(frozen=True)
class Frame:
    """{"aps":APS,"pushcrypt":{"v":1,"kid":KID,"sealed":BASE64URL[,"skid":KID]}}, with the envelope at the carrier's place"""

    head: bytes
    tail: bytes

    @classmethod
    def of(cls, aps: bytes, kid: str, skid: str | None, carrier: str = "apns") -> Frame:
        path = _carriers.place(carrier)
        head, tail = f'{{"v":1,"kid":"{kid}","sealed":"', f'","skid":"{skid}"}}' if skid is not None else '"}'
        if carrier == "text":
            head, tail = '"' + head.replace('"', '\\"'), tail.replace('"', '\\"') + '"'
        names = '":{"'.join(path)
        return cls(b'{"aps":%b,"%b":%b' % (aps, names.encode(), head.encode()), (tail + "}" * len(path)).encode())

    @property
    def size(self) -> int:
        return len(self.head) + len(self.tail)

    def around(self, sealed: str) -> bytes:
        return self.head + sealed.encode("ascii") + self.tail

    def size_around(self, count: int) -> int:
        """The bytes of the outer payload with this number of sealed bytes."""
        return self.size + (4 * count + 2) // 3

    def capacity(self, limit: int) -> int:
        """The sealed bytes that fit: floor(3 (l - f) / 4)"""
        return (limit - self.size) * 3 // 4


def outer_aps(payload: Payload, placeholder: Placeholder, exposed: Iterable[str], quiet: bool) -> bytes:
    """The placeholder, mutable-content, and the exposed members as copies of their text."""
    names = _checked_names(exposed, quiet)
    parts = ['"alert":' + placeholder._json, '"mutable-content":1']
    if "sound" not in names and not quiet and payload.aps.get("sound") not in (None, "", {}):
        parts.append('"sound":"default"')
    if "content-available" not in names and is_one(payload.aps.get("content-available")):
        names.insert(0, "content-available")
    parts += [f'"{name}":{_exposed_text(payload, name)}' for name in names]
    aps = attempt(("{" + ",".join(parts) + "}").encode, UnicodeEncodeError)
    if isinstance(aps, bytes):
        return aps
    raise SealError("invalidPlaceholder", "the placeholder has a lone surrogate")


def _checked_names(exposed: Iterable[str], quiet: bool) -> list[str]:
    given = list(exposed)
    if isinstance(exposed, str):
        raise SealError("invalidOption", "exposed is a string and not a sequence of names")
    if len(given) > MAX_EXPOSED:
        raise SealError("invalidOption", f"exposed has more than {MAX_EXPOSED} names")
    for name in given:
        if not isinstance(name, str) or not _EXPOSED_NAME.fullmatch(name) or name in ("alert", "mutable-content"):
            raise SealError("invalidOption", "exposed has a name that isn't 1 to 64 characters of A-Z, a-z, 0-9, _ and -, "
                            "or is alert or mutable-content")
    if quiet and "sound" in given:
        raise SealError("invalidOption", "a quiet push can't expose its sound")
    return list(dict.fromkeys(given))


def _exposed_text(payload: Payload, name: str) -> str:
    if name not in payload.aps:
        raise SealError("notExposable", f"the payload's aps has no {name} to expose")
    if not _EXPOSED_TYPES.get(name, _is_scalar)(payload.aps[name]):
        raise SealError("notExposable", f"the type of aps.{name} isn't one that can be exposed")
    _, start, end = spans(payload.text, payload.root.spans["aps"][1])[name]
    return payload.text[start:end]


def is_one(value: Any) -> bool:
    """Whether it is the integer 1, which a boolean isn't."""
    return type(value) is int and value == 1


def _is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _is_level(value: Any) -> bool:
    return value in ("passive", "active", "time-sensitive", "critical")


def _is_sound(value: Any) -> bool:
    """Whether it is a name, or an object of critical (0 or 1), name and volume (0 to 1)."""
    if isinstance(value, Obj):
        return all(name in _SOUND_TYPES and _SOUND_TYPES[name](member) for name, member in value.items())
    return isinstance(value, str)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, bool)) or _is_number(value)


_SOUND_TYPES: dict[str, Callable[[Any], bool]] = {
    "critical": lambda value: is_integer(value) and value <= 1, "name": _is_string,
    "volume": lambda value: _is_number(value) and 0 <= value <= 1,
}
_EXPOSED_TYPES: dict[str, Callable[[Any], bool]] = {
    "badge": is_integer, "category": _is_string, "content-available": is_one, "filter-criteria": _is_string,
    "interruption-level": _is_level, "relevance-score": _is_number, "sound": _is_sound,
    "target-content-id": _is_string, "thread-id": _is_string,
}
