"""The day keys that a device publishes in its registration record (PROTOCOL section 14).

deviceSet = BASE64URL(mac) ‖ "." ‖ set
mac       = HMAC-SHA256(K_set, set)
K_set     = HKDF-SHA256(ikm: psk, salt: empty, info: "pushcrypt/1 device set" ‖ 0x00 ‖ lp16(kid), 32)
"""
from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, NamedTuple

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ._json import Obj, b64, dump, is_integer, parse, raw_bytes, unb64
from ._times import seconds, time_text
from .errors import Flaw, KeyRecordError

MAX_SET, MAX_KEYS = 32_768, 16  # bytes and keys of a set
DAY = 86_400
_TOLERANCE_IN_SECONDS = 600
_MEMBERS = {"activatesAt", "retiresAt", "expiresAt", "psk"}


class Days(NamedTuple):
    """The days of a key, from the Unix time `start` until before `end`."""

    start: int
    end: int
    kid: str


@dataclass(frozen=True)
class DeviceSet:
    """A set whose MAC and form were checked. Its keys weren't."""

    text: str
    sequence: int
    flight: int
    """The seconds from iat to the latest exp of a push."""
    days: tuple[Days, ...]
    """In their order."""
    jwks: Mapping[str, Obj]
    last: list[Any] = field(default_factory=list, init=False)
    """The key that was used last: a backend that keeps a recipient reads each day's key once."""

    def kid_at(self, now: int) -> str | None:
        return next((days.kid for days in self.days if days.start <= now < days.end), None)


def mac(content: bytes, kid: str, psk: bytes) -> bytes:
    info = b"pushcrypt/1 device set\0" + len(kid).to_bytes(2, "big") + kid.encode()
    return hmac.digest(HKDF(SHA256(), 32, b"", info).derive(psk), content, "sha256")


def read(text: Any, kid: str, psk: bytes | None) -> DeviceSet:
    """The set of the record with this kid and psk.

    Raises Flaw, and KeyRecordError: `pskMissing`, `tooLarge`, `notAuthentic`, `otherRegistration`, `duplicateKey`.
    """
    if not isinstance(text, str):
        raise Flaw("deviceSet isn't a string")
    if psk is None:
        raise KeyRecordError("pskMissing", f"key {kid} has a device set and no psk")
    if len(raw_bytes(text)) > MAX_SET:
        raise KeyRecordError("tooLarge", f"the device set of key {kid} has more than {MAX_SET:,} bytes")
    found, content = unb64(text[:43], 32, "the MAC of the device set"), raw_bytes(text[44:])
    if text[43:44] != ".":
        raise Flaw("there is no dot behind the MAC of the device set")
    if not hmac.compare_digest(mac(content, kid, psk), found):
        raise KeyRecordError("notAuthentic", f"the device set of key {kid} was changed, or belongs to another record")
    return _content(text, parse(content)[0], kid)


def _content(text: str, root: Obj, kid: str) -> DeviceSet:
    member, jwks = root.get("pushcrypt"), root.get("keys")
    if not isinstance(member, Obj) or not is_integer(member.get("seq")) or not isinstance(member.get("keys"), Obj):
        raise Flaw("the device set has no seq or no times")
    flight = member.get("flight")
    if not is_integer(flight) or not DAY <= flight <= 7 * DAY or not isinstance(jwks, list) or not 1 <= len(jwks) <= MAX_KEYS:
        raise Flaw(f"the device set has no flight of 86,400 to 604,800, or not 1 to {MAX_KEYS} keys")
    if member.get("registration") != kid:
        raise KeyRecordError("otherRegistration", f"the device set of key {kid} belongs to another record")
    keys: dict[str, Obj] = {}
    for jwk in jwks:
        own = jwk.get("kid") if isinstance(jwk, Obj) else None
        unb64(own, 8, "the kid of a day key")
        if own in (kid, *keys):
            raise KeyRecordError("duplicateKey", f"the device set of key {kid} has key {own} twice, or it is the record's")
        keys[str(own)] = jwk
    if keys.keys() != member["keys"].keys():
        raise Flaw("the device set hasn't exactly one entry for each key")
    days = sorted(_days(own, entry, flight) for own, entry in member["keys"].items())
    if any(later.start < earlier.end for earlier, later in zip(days, days[1:])):
        raise Flaw("the device set has two keys for one day")
    return DeviceSet(text, member["seq"], flight, tuple(days), keys)


def _days(kid: str, entry: Any, flight: int) -> Days:
    if not isinstance(entry, Obj) or entry.keys() != _MEMBERS or entry["psk"] is not True:
        raise Flaw(f"the entry of day key {kid} hasn't exactly activatesAt, retiresAt, expiresAt and psk")
    start, end, expiry = (seconds(entry[moment], moment) for moment in ("activatesAt", "retiresAt", "expiresAt"))
    if start % DAY or end % DAY or not DAY <= end - start <= 7 * DAY or expiry != end + flight + _TOLERANCE_IN_SECONDS:
        raise Flaw(f"day key {kid} isn't for 1 to 7 whole days, or doesn't expire a flight and 10 minutes after them")
    return Days(start, end, kid)


def written(keys: Iterable[tuple[Mapping[str, Any], Days]], sequence: int, flight: int, kid: str, psk: bytes) -> str:
    """The device set of public JWKs, for the record with this kid and psk."""
    jwks, every = zip(*keys)
    times = {days.kid: {"activatesAt": time_text(days.start), "retiresAt": time_text(days.end),
                        "expiresAt": time_text(days.end + flight + _TOLERANCE_IN_SECONDS), "psk": True} for days in every}
    content = dump({"keys": jwks, "pushcrypt": {"seq": sequence, "registration": kid, "flight": flight, "keys": times}})
    return f"{b64(mac(content.encode(), kid, psk))}.{content}"
