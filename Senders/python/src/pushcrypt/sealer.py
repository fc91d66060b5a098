"""Sealing (PROTOCOL sections 1 to 5)."""
from __future__ import annotations

import hmac
import json
import os
import time
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Callable, Iterable, Literal, Union

from . import _carriers, _envelope
from ._carriers import Carrier
from ._json import MAX_INTEGER, b64, json_bytes
from ._keys import RANK, Key, checked_topic, lp16
from ._message import (
    ID_SIZE, WINDOW_IN_SECONDS, Header, Payload, PayloadText, check_extras, has_instructions,
)
from ._outer import MAX_LIMIT, Frame, Placeholder, outer_aps
from .blobs import Attachment, Offload, SealedOffload, seal_payload
from .errors import Flaw, KeyRecordError, SealError, attempt
from .keys import Recipient, Signer

#: A multiple in bytes, to the limit, or not at all.
Padding = Union[int, Literal["limit"], None]
#: Gets the blob of a payload that doesn't fit, and returns its https URL.
Oversize = Callable[[SealedOffload], str]


@dataclass(frozen=True)
class Push:
    """A sealed push."""

    json: bytes = field(repr=False)
    """The payload as the device receives it. With the carrier "apns" it is the body of the request to APNs."""
    id: str
    """The message's id, for logs and to retract the push later. It is never sent unencrypted."""
    expires_at: int
    """The Unix time from which the device refuses the message."""
    topic: str
    quiet: bool = False
    """Whether the app isn't to show it."""
    carrier: Carrier = "apns"
    collapse_id: str | None = None
    sealed_at: int = 0
    offloaded: SealedOffload | None = None
    """The blob of a payload that didn't fit. Upload it before you send the push."""
    uses_last_resort_key: bool = False
    """Whether the device has day keys and none for today. Count these pushes: its app hasn't run for long."""

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the request to APNs. Add the header with your own token for APNs."""
        headers = {"apns-push-type": "alert", "apns-topic": self.topic, "apns-expiration": str(self.expires_at),
                   "apns-priority": "5" if self.quiet else "10"}
        return headers if self.collapse_id is None else {**headers, "apns-collapse-id": self.collapse_id}

    @property
    def payload(self) -> dict[str, Any]:
        """The payload as a value, for clients that take one. Such a client writes the JSON again: seal for "rebuilt"."""
        payload: dict[str, Any] = json.loads(self.json)
        return payload

    @property
    def aps(self) -> dict[str, Any]:
        """The visible `aps`."""
        aps: dict[str, Any] = self.payload["aps"]
        return aps

    @property
    def envelope(self) -> dict[str, Any]:
        """The value of `pushcrypt`, for clients that take custom members."""
        value: Any = self.payload
        for name in _carriers.place(self.carrier):
            value = value[name]
        envelope: dict[str, Any] = json.loads(value) if self.carrier == "text" else value
        return envelope

    @property
    def request(self) -> dict[str, Any]:
        """The request to the carrier's service. Add the device's address and your credentials.

        "apns" and "rebuilt": `headers` and `body`. "fcm" and "text": `message` of the FCM v1 API, without `token`. "expo" and
        "oneSignal": the members of a message, without `to`, or without `app_id` and the recipients.
        """
        return _carriers.request(
            self.carrier, self.json, self.headers, expires_at=self.expires_at, sealed_at=self.sealed_at, quiet=self.quiet,
            collapse_id=self.collapse_id)


class Sealer:
    """Seals the pushes to one app. It is immutable and may be used from any thread."""

    def __init__(self, topic: str, *, signer: Signer | None = None, clock: Callable[[], float] = time.time) -> None:
        """`topic` is the app's bundle identifier. With another topic than the app's, every push shows its placeholder.

        `signer` signs every push, for apps that pin this sender: a `SenderKey`, or a `KeysetWatcher`. Raises KeyRecordError:
        `invalidTopic`, and of a watcher `wrongKind`, `noKeySeals`.
        """
        if signer is not None and not isinstance(signer, Signer):
            raise TypeError("signer isn't a SenderKey or a KeysetWatcher: SenderKey.from_jwk reads a key")
        self._topic = checked_topic(topic)
        self._signer = signer
        self._clock = clock
        if signer is not None:
            signer.sender_key(clock())  # a backend that can't sign should not start

    def seal(
        self, payload: PayloadText, *, to: Recipient, placeholder: Placeholder, padding: Padding = 128,
        limit: int | None = None, carrier: Carrier = "apns", collapse_id: str | None = None,
        expires_after: timedelta | int | None = None, exposed: Iterable[str] = (), campaign: str | None = None,
        retract: Iterable[str] = (), quiet: bool = False, badge_add: int | None = None,
        attachments: Iterable[Attachment] = (), offload: Offload | None = None, self_test: bool = False,
        minimum_suite: int | None = None, bare: bool = False, oversize: Oversize | None = None, requires_day_key: bool = False,
    ) -> Push:
        """Encrypts a payload, an object with `aps` or its JSON, which is sealed byte for byte.

        `padding` hides the length: a multiple of bytes, "limit", or None. `limit` is the largest size of the whole push, in bytes;
        None leaves of 4,096 what the carrier adds. `carrier` is the way to the device, which the app names too. `collapse_id`, at
        most 64 characters of ASCII, is readable on the way.
        `expires_after`, in seconds if it is a number, is at most `to.longest_lifetime`: 30 days, or less for a device with day keys.
        None is the longest. `exposed` names members of `aps` that stay readable.
        `campaign` names this push: sealed again for the same recipient it has the same id, and is shown once. If the recipient
        has neither a psk nor a shared key and the push isn't signed, the name must not be guessable.
        `retract` are ids of earlier pushes to take back. `quiet` pushes aren't shown. `badge_add` changes the badge by this number.
        `self_test` asks the extension for a report that it works.
        `minimum_suite` refuses a recipient whose suite ranks below it: 3 demands a key that resists quantum computers.
        `requires_day_key` refuses a device with day keys whose set has none for today. Otherwise the push is sealed to the key of its
        record, which opens for longer, and `Push.uses_last_resort_key` is True.
        `bare` allows a shared key that isn't the key of one device: everyone who has that key can open the push.
        `oversize` seals a payload that doesn't fit as a blob, which the device fetches. It gets the blob, and returns the https URL
        at which devices will find it. `Push.offloaded` is the blob, and the push itself has the payload's `aps`, which is shown if
        the device can't fetch the blob. If `aps` doesn't fit either: call `seal_offload` with the payload, and give `offload` with
        a payload whose text you have shortened.

        Raises SealError, and what `oversize` raises.
        """
        _check_types(to, placeholder, oversize)
        now = self._clock()
        key = _key_of_day(to._key, int(now), requires_day_key)
        lifetime = _lifetime(expires_after, to)
        limit = MAX_LIMIT - _carriers.RESERVED[_carriers.checked(carrier)] if limit is None else limit
        _check_limits(limit, padding)
        _check_collapse_id(collapse_id, carrier)
        _check_flags(quiet=quiet, self_test=self_test, bare=bare, requires_day_key=requires_day_key)
        _check_key(key, minimum_suite, bare)
        extras = _extras(attachments, offload, self_test, retract, quiet, badge_add)
        signer = self._signing_key(now)
        if has_instructions(extras) and not _envelope.proof(key, signer is not None):
            raise SealError("notAuthenticated", f"everyone can seal to key {to.kid}, so its device ignores retract, quiet, "
                            "badge_add and avatars: sign the push, or use a registration record with a psk")
        inner = _inner(payload)
        if badge_add is not None and ("badge" in inner.aps or (offload is not None and offload.sets_badge)):
            raise SealError("invalidPayload", "the payload has aps.badge, and badge_add adds to the badge: only one is allowed")
        header = _header(to._key, campaign, int(now), lifetime, extras)
        exposed = exposed if isinstance(exposed, str) else list(exposed)
        aps = outer_aps(inner, placeholder, exposed, quiet)
        _carriers.check_fields(carrier, placeholder._members, exposed, inner.aps)
        frame = Frame.of(aps, key.kid, signer.kid if signer is not None else None, carrier)
        overhead = _envelope.overhead(key, signer is not None)
        capacity = frame.capacity(limit) - overhead
        message, blob = inner.with_header(header.text()), None
        if len(message) > capacity and oversize is not None and offload is None:
            message, blob = _offloaded(inner, header, oversize)
        if len(message) > capacity:
            needed = frame.size_around(len(message) + overhead)
            raise SealError("tooLarge", f"the sealed payload takes {needed} bytes and the limit is {limit}: shorten its text, or "
                            "give oversize to offload the payload", needed, limit)
        message = message.ljust(_padded(len(message), padding, capacity), b" ")
        body = frame.around(b64(_envelope.seal(key, signer, self._topic, message)))
        uses_last_resort_key = key is to._key and key.device_set is not None
        return Push(body, header.id, header.exp, self._topic, quiet, carrier, collapse_id, header.iat, blob, uses_last_resort_key)

    def _signing_key(self, now: float) -> Key | None:
        try:
            return self._signer.sender_key(now)._key if self._signer is not None else None
        except KeyRecordError as error:
            raise SealError(error.code, error.reason) from None


def _key_of_day(key: Key, now: int, is_required: bool) -> Key:
    try:
        of_day = key.of_day(now)
    except KeyRecordError as error:
        raise SealError(error.code, error.reason) from None
    if of_day is None and key.device_set is not None and is_required:
        raise SealError("noDayKey", f"the device set of key {key.kid} has no key for today: its app must run, and upload others")
    return of_day or key


def _header(key: Key, campaign: str | None, now: int, lifetime: int, extras: dict[str, Any]) -> Header:
    if not 0 <= now <= MAX_INTEGER - lifetime:
        raise SealError("invalidOption", "the clock's time can't be represented")
    identifier = b64(os.urandom(ID_SIZE) if campaign is None else campaign_id(campaign, key))
    return _checked(Header(identifier, now, now + lifetime, extras))


def _offloaded(inner: Payload, header: Header, oversize: Oversize) -> tuple[bytes, SealedOffload]:
    """The message that refers to the whole payload, and its blob."""
    if "quiet" in header.extras:
        raise SealError("invalidOption", "a quiet push can't have an offloaded payload, and this one doesn't fit")
    blob = seal_payload(inner)
    extras = {**header.extras, "offload": blob.at(oversize(blob)).members()}
    return inner.aps_with_header(_checked(replace(header, extras=extras)).text()), blob


def _checked(header: Header) -> Header:
    try:
        check_extras({**header.extras, "id": header.id})
    except Flaw as flaw:
        raise SealError("invalidOption", flaw.reason) from None
    return header


def campaign_id(campaign: str, key: Key) -> bytes:
    """id  = first 16 bytes of HMAC-SHA256(key, "pushcrypt/1 campaign" ‖ 0x00 ‖ lp16(campaign) ‖ lp16(kid) ‖ lp16(device id or empty))
    key = K as used (suite 4), else the psk, else empty
    """
    name = attempt(campaign.encode, UnicodeEncodeError) if isinstance(campaign, str) else b""
    if not isinstance(name, bytes) or not 1 <= len(name) <= 255:
        raise SealError("invalidOption", "the campaign's name isn't a string of 1 to 255 bytes, or has a lone surrogate")
    text = b"pushcrypt/1 campaign\x00" + lp16(campaign) + lp16(key.kid) + lp16(key.device or "")
    secret = key.material if key.suite == 4 else key.psk
    return hmac.digest(secret or b"", text, "sha256")[:ID_SIZE]


def _inner(payload: PayloadText) -> Payload:
    try:
        return Payload.to_seal(json_bytes(payload))
    except Flaw as flaw:
        raise SealError("invalidPayload", f"the payload: {flaw.reason}") from None


def _lifetime(expires_after: timedelta | int | None, to: Recipient) -> int:
    seconds = expires_after // timedelta(seconds=1) if isinstance(expires_after, timedelta) else expires_after
    longest = to.longest_lifetime
    if seconds is None:
        return longest
    if type(seconds) is not int or not 0 < seconds <= WINDOW_IN_SECONDS:
        raise SealError("invalidOption", "expires_after isn't a timedelta or a whole number of seconds, of 1 second to 30 days")
    if seconds > longest:
        raise SealError("expiresTooLate", f"the push expires later than {longest:,} seconds, when the device of key {to.kid} erases keys")
    return seconds


def _check_types(to: object, placeholder: object, oversize: object) -> None:
    if not isinstance(to, Recipient):
        raise TypeError("to isn't a Recipient: Recipient.from_jwk reads a registration record")
    if not isinstance(placeholder, Placeholder):
        raise TypeError("placeholder isn't a Placeholder: Placeholder(body=...) makes one of a text")
    if oversize is not None and not callable(oversize):
        raise TypeError("oversize isn't a function that gets a blob and returns its URL")


def _check_limits(limit: int, padding: Padding) -> None:
    if type(limit) is not int or not 0 < limit <= MAX_LIMIT:
        raise SealError("invalidOption", f"limit isn't an integer of 1 to {MAX_LIMIT:,}")
    if padding is not None and padding != "limit" and (type(padding) is not int or padding < 1):
        raise SealError("invalidOption", "padding isn't a positive integer, \"limit\" or None")


def _check_collapse_id(collapse_id: str | None, carrier: str) -> None:
    if collapse_id is None:
        return
    is_valid = isinstance(collapse_id, str) and 1 <= len(collapse_id) <= 64 and collapse_id.isascii() and collapse_id.isprintable()
    if not is_valid:
        raise SealError("invalidOption", "collapse_id isn't 1 to 64 printable characters of ASCII")
    if carrier == "expo":
        raise SealError("invalidOption", "the request to the service of expo has no collapse id")


def _check_flags(**flags: bool) -> None:
    for name, value in flags.items():
        if type(value) is not bool:
            raise SealError("invalidOption", f"{name} isn't True or False")


def _check_key(key: Key, minimum_suite: int | None, bare: bool) -> None:
    if key.suite == 4 and key.device is None and not bare:
        raise SealError("deviceMissing", f"key {key.kid} is a shared key, and everyone who has it could open the push: seal to "
                        "Recipient.for_device, or give bare=True if that is meant")
    if minimum_suite is None:
        return
    if type(minimum_suite) is not int or minimum_suite not in RANK:
        raise SealError("invalidOption", "minimum_suite isn't 1, 2, 3 or 4")
    if RANK[key.suite] < RANK[minimum_suite]:
        raise SealError("suiteTooLow", f"key {key.kid} has suite {key.suite}, and at least suite {minimum_suite} is required: the "
                        "device must make and register such a key")


def _extras(
    attachments: Iterable[Attachment], offload: Offload | None, self_test: bool, retract: Iterable[str], quiet: bool,
    badge_add: int | None,
) -> dict[str, Any]:
    """The header's optional members, without those that aren't used."""
    if isinstance(retract, str):
        raise SealError("invalidOption", "retract is a string and not a sequence of ids")
    files = list(attachments)
    if not all(isinstance(file, Attachment) for file in files) or not isinstance(offload, (Offload, type(None))):
        raise TypeError("attachments or offload has a value that isn't an Attachment or an Offload")
    members = {
        "attachments": [file.members() for file in files] or None,
        "offload": offload.members() if offload is not None else None,
        "test": True if self_test else None,
        "retract": list(retract) or None,
        "quiet": True if quiet else None,
        "badge": {"add": badge_add} if badge_add is not None else None,
    }
    return {name: value for name, value in members.items() if value is not None}


def _padded(size: int, padding: Padding, capacity: int) -> int:
    if padding == "limit":
        return capacity
    return size if padding is None else min(-(-size // padding) * padding, capacity)
