"""The message: the inner payload, the header in its member "pushcrypt", and the header's extras (PROTOCOL sections 5 to 7, 11)."""
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Mapping, Union

from ._json import WHITE_SPACE, Obj, count, dump, is_integer, parse, unb64
from .errors import Flaw

WINDOW_IN_SECONDS = 30 * 24 * 3600  # from iat to the latest exp
AHEAD_IN_SECONDS = 600  # that iat may be ahead of the recipient's clock
MAX_PAYLOAD, MAX_VALUES = 256 * 1024, 16_384  # bytes and JSON values of an inner payload
MAX_ATTACHMENTS, MAX_URL, MAX_SIZE = 8, 2048, 2**48
MAX_RETRACTED, MAX_INCREMENT = 16, 999
ID_SIZE = 16

_HOST = r"(?![A-Za-z0-9.-]{254})[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*"
_PORT = r"(?!0+(?![0-9]))(?:[0-9]{1,4}|[0-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
_URL = re.compile(
    "https://" + _HOST + "(?::" + _PORT + ")?"
    r"(?:[/?](?:[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)?", re.ASCII)
_NAME = r"[a-z0-9][a-z0-9.+_-]{0,63}"
_TYPE = re.compile(_NAME + "/" + _NAME, re.ASCII)
_ID = re.compile("[A-Za-z0-9_-]{1,64}", re.ASCII)
_TEXTS = ("title", "subtitle", "body", "loc-key", "title-loc-key")
#: The characters that show nothing (PROTOCOL section 2): a closed list, which doesn't depend on a version of Unicode.
_INVISIBLE = re.compile(
    "[\0-\x20\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f"
    "\u2800\u3000\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\U00013430-\U0001343f\U00016fe4"
    "\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    + "".join(chr(plane << 16 | 0xFFFE) + chr(plane << 16 | 0xFFFF) for plane in range(17)) + "]*")


#: A notification as APNs takes it: an object with `aps`, or its JSON, which is sealed byte for byte.
PayloadText = Union[Mapping[str, Any], str, bytes]


def is_visible(text: object) -> bool:
    """Whether it is a string with a character that a person can see."""
    return isinstance(text, str) and not _INVISIBLE.fullmatch(text)


def has_text(alert: Any) -> bool:
    """Whether an alert is a visible string, or has a visible title, subtitle, body, loc-key or title-loc-key."""
    if not isinstance(alert, dict):
        return is_visible(alert)
    for name in _TEXTS:
        if is_visible(alert.get(name)):
            return True
    return False


@dataclass(frozen=True, repr=False)
class Payload:
    """An inner payload, or a message, as strict JSON with a text for the user."""

    root: Obj
    text: str
    aps: Obj

    @classmethod
    def read(cls, raw: bytes, is_message: bool = False) -> Payload:
        """A message has the member "pushcrypt", and an inner payload hasn't. Padding doesn't count as length."""
        if len(raw.rstrip(b" ")) > MAX_PAYLOAD:
            raise Flaw(f"it has more than {MAX_PAYLOAD:,} bytes")
        root, text = parse(raw)
        if len(text) > MAX_VALUES and count(root) > MAX_VALUES:  # each value has a character
            raise Flaw(f"it has more than {MAX_VALUES:,} JSON values")
        aps = root.get("aps")
        if not isinstance(aps, Obj) or not has_text(aps.get("alert")):
            raise Flaw("its aps has no alert with a text that a person can see")
        if ("pushcrypt" in root) != is_message:
            raise Flaw("it has no pushcrypt member" if is_message else "it already has a pushcrypt member")
        return cls(root, text, aps)

    @classmethod
    def to_seal(cls, raw: bytes) -> Payload:
        """Reads an inner payload to seal. iOS runs no extension for a Live Activity, so sealed it would never update."""
        payload = cls.read(raw)
        activity = [payload.aps[name] for name in ("content-state", "attributes", "attributes-type") if name in payload.aps]
        if any(value is not None for value in activity) or payload.aps.get("event") in ("start", "update", "end"):
            raise Flaw("it is that of a Live Activity, which can't be sealed: send it without private content")
        return payload

    def with_header(self, header: str) -> bytes:
        """Adds the header as the last member of the root, and changes no other byte."""
        end = len(self.text[:self.text.rindex("}")].rstrip(WHITE_SPACE))
        return f'{self.text[:end]},"pushcrypt":{header}{self.text[end:]}'.encode("utf-8")

    def aps_with_header(self, header: str) -> bytes:
        """The message without custom members."""
        _, start, end = self.root.spans["aps"]
        return f'{{"aps":{self.text[start:end]},"pushcrypt":{header}}}'.encode("utf-8")

    def without_header(self) -> str:
        """Removes the header with the comma before it (the first member: the comma after it) and the padding."""
        names = list(self.root)
        at = names.index("pushcrypt")
        start, _, end = self.root.spans["pushcrypt"]
        if at > 0:
            start = self.root.spans[names[at - 1]][2]
        elif len(names) > 1:
            end = self.root.spans[names[1]][0]
        return (self.text[:start] + self.text[end:]).rstrip(" ")


@dataclass(frozen=True, repr=False)
class Header:
    """"pushcrypt": {"id": base64url of 16 bytes, "iat": seconds, "exp": seconds [, EXTRAS]}"""

    id: str
    iat: int
    exp: int
    extras: dict[str, Any]

    def text(self) -> str:
        extras = "," + dump(self.extras)[1:] if self.extras else "}"
        return f'{{"id":"{self.id}","iat":{self.iat},"exp":{self.exp}{extras}'

    @classmethod
    def read(cls, member: Any, authenticated: bool, has_badge: bool) -> Header:
        if not isinstance(member, Obj):
            raise Flaw("pushcrypt isn't an object")
        iat, exp = member.get("iat"), member.get("exp")
        unb64(member.get("id"), ID_SIZE, "id")
        if not is_integer(iat) or not is_integer(exp) or not iat < exp <= iat + WINDOW_IN_SECONDS:
            raise Flaw("iat or exp isn't an integer, or exp isn't within 30 days after iat")
        return cls(member["id"], iat, exp, check_extras(member, authenticated, has_badge))


# --- Extras ------------------------------------------------------------------------------------------------------------------


def check_extras(header: Mapping[str, Any], authenticated: bool = True, has_badge: bool = False) -> dict[str, Any]:
    """Checks the optional members, and returns those that have an effect. A wrong one makes the message malformed.

    `authenticated`: the message is signed, or sealed with a psk or a shared key. Otherwise instructions are ignored.
    `has_badge`: the payload has aps.badge.
    """
    found: dict[str, Any] = {}
    if "attachments" in header:
        attachments = _attachments(header["attachments"], authenticated)
        if attachments:
            found["attachments"] = attachments
    if "offload" in header:
        check_reference(header["offload"], MAX_PAYLOAD)
        found["offload"] = header["offload"]
    if "test" in header:
        if header["test"] is not True:
            raise Flaw("test isn't true")
        found["test"] = True
    return {**found, **_instructions(header, has_badge)} if authenticated else found


def has_instructions(extras: Mapping[str, Any]) -> bool:
    """Whether a member needs a message that is signed, or sealed with a psk or a shared key."""
    return not extras.keys().isdisjoint(("retract", "quiet", "badge")) or any(
        "use" in attachment for attachment in extras.get("attachments", ()))


def _matching(value: Any, grammar: re.Pattern[str], flaw: str) -> str:
    if not isinstance(value, str) or not grammar.fullmatch(value):
        raise Flaw(flaw)
    return value


def check_reference(value: Any, limit: int) -> None:
    """{"url", "key", "size", "sha256"} of a blob whose plaintext has at most `limit` bytes."""
    if not isinstance(value, dict):
        raise Flaw("the reference to a blob isn't an object")
    flaw = f"the URL of a blob isn't an https URL of at most {MAX_URL:,} characters, escaped as RFC 3986 requires"
    if len(_matching(value.get("url"), _URL, flaw)) > MAX_URL:
        raise Flaw(flaw)
    unb64(value.get("key"), 32, "the key of a blob")
    unb64(value.get("sha256"), 32, "the sha256 of a blob")
    if not is_integer(value.get("size")) or value["size"] > limit:
        raise Flaw(f"the size of a blob isn't an integer of 0 to {limit:,}")


def _attachments(attachments: Any, authenticated: bool) -> list[Any]:
    """1 to 8 attachments, distinct ids, at most one avatar. Attachments with an unknown use are left out and not checked."""
    if not isinstance(attachments, list) or not 1 <= len(attachments) <= MAX_ATTACHMENTS:
        raise Flaw(f"a message has 1 to {MAX_ATTACHMENTS} attachments")
    found = [attachment for attachment in attachments if _has_effect(attachment, authenticated)]
    for attachment in found:
        check_reference(attachment, MAX_SIZE)
        _matching(attachment.get("type"), _TYPE, "an attachment's type isn't a MIME type in lower case")
        if "id" in attachment:
            _matching(attachment["id"], _ID, "an attachment's id isn't 1 to 64 characters of A-Z, a-z, 0-9, _ and -")
    ids = [attachment["id"] for attachment in found if "id" in attachment]
    if len(set(ids)) != len(ids):
        raise Flaw("two attachments have the same id")
    if sum("use" in attachment for attachment in found) > 1:
        raise Flaw("two attachments are avatars")
    return found


def _has_effect(attachment: Any, authenticated: bool) -> bool:
    if not isinstance(attachment, dict):
        raise Flaw("an attachment isn't an object")
    if "use" not in attachment:
        return True
    if authenticated and not isinstance(attachment["use"], str):
        raise Flaw("an attachment's use isn't a string")
    return authenticated and attachment["use"] == "avatar"


def _instructions(header: Mapping[str, Any], has_badge: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "retract" in header:
        found["retract"] = _retracted(header["retract"], header.get("id"))
    if "quiet" in header:
        if header["quiet"] is not True or "attachments" in header or "offload" in header:
            raise Flaw("quiet isn't true, or a quiet message has an attachment or an offloaded payload")
        found["quiet"] = True
    if "badge" in header:
        found["badge"] = _badge(header["badge"], has_badge)
    return found


def _retracted(ids: Any, own: Any) -> list[str]:
    if not isinstance(ids, list) or not 1 <= len(ids) <= MAX_RETRACTED:
        raise Flaw(f"retract isn't 1 to {MAX_RETRACTED} ids")
    for identifier in ids:
        unb64(identifier, ID_SIZE, "an id to retract")
    if len(set(ids)) != len(ids) or own in ids:
        raise Flaw("retract has an id twice, or the message's own id")
    return ids


def _badge(badge: Any, has_badge: bool) -> dict[str, int]:
    if not isinstance(badge, dict) or list(badge) != ["add"] or type(badge["add"]) is not int \
            or not -MAX_INCREMENT <= badge["add"] <= MAX_INCREMENT:
        raise Flaw(f"the badge's increment isn't an integer of -{MAX_INCREMENT} to {MAX_INCREMENT}")
    if has_badge:
        raise Flaw("the message adds to the badge, and its payload has aps.badge")
    return badge
