"""What devices report about pushes (PROTOCOL section 12). Anyone can post a receipt: use them as a statistic."""
from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any, Mapping, Union

from ._json import b64, is_integer, parse, raw_bytes, unb64
from .errors import Flaw, ReceiptError, attempt

MAX_SIZE = 4_096
_CLASS = re.compile("[A-Za-z0-9._-]{1,64}")
_FIELD = re.compile(rb"(?:[^%=&]|%[0-9A-Fa-f]{2})*")
_MAX_PUSH_ID = 256  # bytes


def name_of(message_id: str) -> str:
    """The name of a message in receipts, of `Push.id`: a server that sees receipts can't retract messages with it."""
    return b64(hashlib.sha256(b"pushcrypt/1 receipt\x00" + unb64(message_id, 16)).digest())


@dataclass(frozen=True)
class Receipt:
    """What became of one push."""

    id: str
    """The same each time the receipt is sent."""
    name: str | None
    """`name_of` the push; None if it couldn't be opened."""
    push_id: str | None
    """The `push_id` of the payload, or the name; None if the push couldn't be opened."""
    failure: str | None
    """The class of the failure; None if the push was restored completely."""
    time: int
    """When the push was opened or failed, a Unix time by the device's clock."""
    kid: str | None
    skid: str | None
    """The keys that the push names. Nothing proves them."""
    is_suppressed: bool
    is_self_test: bool

    @classmethod
    def from_body(cls, body: Union[bytes, str]) -> Receipt:
        """Reads the body of a request: JSON, or a form. Raises ReceiptError `malformed`."""
        raw = raw_bytes(body)
        try:
            if len(raw) > MAX_SIZE:
                raise Flaw(f"it has more than {MAX_SIZE:,} bytes")
            if raw.lstrip().startswith(b"{"):
                return cls._read(parse(raw)[0], True)
            form = _form(raw)
            time = form.get("time")
            seconds = int(time) if time is not None and time.isascii() and time.isdigit() and str(int(time)) == time else None
            return cls._read({**form, "time": seconds}, "true")
        except Flaw as flaw:
            raise ReceiptError("malformed", f"the receipt: {flaw.reason}") from None

    @classmethod
    def _read(cls, members: Mapping[str, Any], true: Any) -> Receipt:
        identifier, outcome = _text(members, "id"), _text(members, "outcome")
        if identifier is None or outcome is None or not _CLASS.fullmatch(outcome):
            raise Flaw("id or outcome is missing, or outcome is no name of a class")
        failure = None if outcome == "opened" else outcome
        name = _name(identifier, failure)
        push_id = _text(members, "push")
        if (push_id is None) != (name is None) or (push_id is not None and len(push_id.encode()) > _MAX_PUSH_ID):
            raise Flaw("push is missing, too long, or present for a push that couldn't be opened")
        if not is_integer(members.get("time")):
            raise Flaw("time is no number of seconds")
        kid, skid = (_key_id(_text(members, key), failure) for key in ("kid", "skid"))
        flags = [_flag(members, flag, true) for flag in ("suppressed", "test")]
        return cls(identifier, name, push_id, failure, members["time"], kid, skid, *flags)


def _text(members: Mapping[str, Any], name: str) -> str | None:
    value = members.get(name)
    if name in members and not isinstance(value, str):
        raise Flaw(f"{name} is not a string")
    return value


def _flag(members: Mapping[str, Any], name: str, true: Any) -> bool:
    if name in members and (type(members[name]), members[name]) != (type(true), true):
        raise Flaw(f"{name} isn't true")
    return name in members


def _key_id(text: str | None, failure: str | None) -> str | None:
    if text is not None:
        unb64(text, 8, "a key id")
        if failure is None:
            raise Flaw("there is a key id for a push that was restored")
    return text


def _name(identifier: str, failure: str | None) -> str | None:
    """ID = name | name "-" CLASS | base64url(16 random bytes)"""
    if failure is not None and len(identifier) == 22:
        unb64(identifier, 16, "id")
        return None
    name = identifier[:43]
    unb64(name, 32, "id")
    if identifier != name + ("" if failure is None else f"-{failure}"):
        raise Flaw("id is neither a message's name with the class of the outcome nor random")
    return name


def _form(raw: bytes) -> dict[str, str]:
    """Each field once, in UTF-8 (URL Standard, section 5)."""
    fields: dict[str, str] = {}
    for field in raw.split(b"&"):
        parts = field.split(b"=")
        if len(parts) != 2 or not all(map(_FIELD.fullmatch, parts)):
            raise Flaw("it is not a form")
        name, value = map(_unescaped, parts)
        if not name or name in fields:
            raise Flaw("a field has no name, or occurs twice")
        fields[name] = value
    return fields


def _unescaped(field: bytes) -> str:
    plain = re.sub(rb"%([0-9A-Fa-f]{2})", lambda match: bytes.fromhex(match[1].decode()), field.replace(b"+", b" "))
    text = attempt(plain.decode, UnicodeDecodeError)
    if isinstance(text, str):
        return text
    raise Flaw("it is not UTF-8")
