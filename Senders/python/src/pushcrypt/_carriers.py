"""Carriers: where the envelope of a push arrives (PROTOCOL section 2), and the requests to their services."""
from __future__ import annotations

import json
from typing import Any, Iterable, Literal, Mapping, Sequence, get_args

from ._json import Obj, parse
from .errors import Flaw, OpenError, SealError

Carrier = Literal["apns", "rebuilt", "fcm", "text", "expo", "oneSignal"]
"""The way of a push to the device. The app names it too: the payload never chooses."""

_CARRIERS: tuple[Carrier, ...] = get_args(Carrier)
_PLACES: Mapping[str, tuple[str, ...]] = {"expo": ("body", "pushcrypt"), "oneSignal": ("custom", "a", "pushcrypt")}
#: The bytes that client and service add at most.
RESERVED: Mapping[str, int] = {"apns": 0, "rebuilt": 64, "fcm": 192, "text": 192, "expo": 192, "oneSignal": 128}
#: The fields for exposed members of `aps`, of services that write `aps` themselves.
_FIELDS: Mapping[str, Mapping[str, str]] = {
    "expo": {
        "sound": "sound", "badge": "badge", "category": "categoryId", "interruption-level": "interruptionLevel",
        "content-available": "_contentAvailable"},
    "oneSignal": {
        "sound": "ios_sound", "badge": "ios_badgeCount", "category": "ios_category", "thread-id": "thread_id",
        "interruption-level": "ios_interruption_level", "relevance-score": "ios_relevance_score",
        "target-content-id": "target_content_identifier", "content-available": "content_available"},
}
_MAX_ONESIGNAL_LIFETIME = 28 * 86_400  # seconds


def checked(carrier: Carrier) -> Carrier:
    if carrier not in _CARRIERS:
        raise SealError("invalidOption", "carrier isn't one of " + ", ".join(_CARRIERS))
    return carrier


def checked_all(carriers: Iterable[Carrier]) -> tuple[Carrier, ...]:
    given = tuple(carriers)
    if isinstance(carriers, str) or not given or not set(given) <= set(_CARRIERS):
        raise ValueError("carriers isn't a sequence of some of " + ", ".join(_CARRIERS))
    return given


def place(carrier: str) -> tuple[str, ...]:
    """The names of the envelope and of the objects around it, from the root."""
    return _PLACES.get(carrier, ("pushcrypt",))


def check_fields(carrier: str, alert: Mapping[str, Any], exposed: Iterable[str], aps: Mapping[str, Any]) -> None:
    """Refuses what the carrier's service has no field for. Raises SealError `invalidPlaceholder`, `notExposable`."""
    fields = _FIELDS.get(carrier)
    if fields is None:
        return
    if not set(alert) <= {"title", "subtitle", "body"}:
        raise SealError("invalidPlaceholder", f"the service of {carrier} takes only the literal texts title, subtitle and body")
    if carrier == "oneSignal" and "body" not in alert:
        raise SealError("invalidPlaceholder", f"the service of {carrier} needs a body")
    for index, name in enumerate(exposed):
        if name not in fields:
            raise SealError("notExposable", f"expose[{index}]: the service of {carrier} has no field for it")
        if name == "sound" and not isinstance(aps.get(name), str):
            raise SealError("notExposable", f"the service of {carrier} takes the name of a sound, and no dictionary")


def found_envelope(root: Mapping[str, Any], carriers: Sequence[str]) -> Any:
    """The envelope at the only place that has one. Raises Flaw; OpenError `notSealed`."""
    values: dict[tuple[str, ...], Any] = {}
    for path in {place(carrier) for carrier in carriers}:
        value: Any = root
        for name in path:
            value = value[name] if isinstance(value, Obj) and name in value else _MISSING
        if value is not _MISSING:
            values[path] = value
    if not values:
        raise OpenError("notSealed", "the payload has no pushcrypt member where the carriers put it: it isn't sealed")
    if len(values) > 1:
        raise Flaw("two places have an envelope")
    path, value = next(iter(values.items()))
    is_text = isinstance(value, str)
    if not any(place(carrier) == path and (carrier == "text") == is_text for carrier in carriers):
        raise Flaw("pushcrypt is a string, or an object where a string is expected")
    return parse(value.encode("utf-8", "surrogatepass"))[0] if is_text else value


def request(
    carrier: str, body: bytes, headers: Mapping[str, str], *, expires_at: int, sealed_at: int, quiet: bool, collapse_id: str | None,
) -> dict[str, Any]:
    """The request to the carrier's service, without the device's address and the credentials."""
    if carrier in ("apns", "rebuilt"):
        return {"headers": dict(headers), "body": body.decode("utf-8")}
    payload = json.loads(body)
    if carrier in ("fcm", "text"):
        own = {name: value for name, value in headers.items() if name != "apns-topic"}
        if carrier == "fcm":
            return {"message": {"apns": {"headers": own, "payload": payload}}}
        apns = {"headers": own, "payload": {"aps": payload["aps"]}}
        return {"message": {"data": {"pushcrypt": payload["pushcrypt"]}, "apns": apns}}
    fields = _own_fields(carrier, payload["aps"])
    if carrier == "expo":
        fields.update(data=payload["body"], priority="normal" if quiet else "high", expiration=expires_at)
        return fields
    fields.update(data=payload["custom"]["a"], priority=5 if quiet else 10, ttl=min(expires_at - sealed_at, _MAX_ONESIGNAL_LIFETIME))
    if collapse_id is not None:
        fields["collapse_id"] = collapse_id
    return fields


def _own_fields(carrier: str, aps: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a service that writes `aps` itself."""
    alert, is_expo = aps["alert"], carrier == "expo"
    fields: dict[str, Any] = {"mutableContent" if is_expo else "mutable_content": True}
    for part, field in (("title", "headings"), ("subtitle", "subtitle"), ("body", "contents")):
        if part in alert:
            fields[part if is_expo else field] = alert[part] if is_expo else {"en": alert[part]}
    for name, field in _FIELDS[carrier].items():
        if name not in aps:
            continue
        value: Any = True if name == "content-available" else aps[name]
        fields[field] = value.replace("-", "_") if name == "interruption-level" and not is_expo else value
    if not is_expo:
        if "badge" in aps:
            fields["ios_badgeType"] = "SetTo"
        fields.setdefault("ios_sound", "nil")  # otherwise OneSignal adds the default sound
    return fields


_MISSING = object()
