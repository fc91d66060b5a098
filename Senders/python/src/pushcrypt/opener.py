"""Opening, for tests and tools (PROTOCOL sections 2 to 5).

On devices the Swift extension opens pushes. This opener keeps no state: it doesn't recognise repeated messages, and knows no
time except that of its clock.
"""
from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Mapping, Sequence, Union

from . import _carriers, _envelope, _senders
from ._carriers import Carrier
from ._json import Obj, is_integer, parse, raw_bytes, unb64
from ._keys import Key, checked_topic
from ._message import AHEAD_IN_SECONDS, WINDOW_IN_SECONDS, Header, Payload, has_text
from ._outer import is_one
from .blobs import PAYLOAD, Attachment, Offload, offloaded_payload, open_blob
from .errors import Flaw, KeyRecordError, OpenError, undecryptable
from .keys import RecipientKey
from .keysets import Keyset, always, kind_of
from .sender_sets import TrustedSet


@dataclass(frozen=True)
class NamedSender:
    """The keys of a sender whose set isn't signed, with the name that the app gives it, to trust several senders."""

    keys: Keyset
    name: str
    """At most 65,535 bytes. It is never sent. A `Keyset` alone has the empty name."""


Sender = Union[Keyset, NamedSender, TrustedSet]
"""The keys of one sender (PROTOCOL section 4): an unsigned set, or an accepted one of `pushcrypt.sender_sets`."""


@dataclass(frozen=True, repr=False)
class OpenedPush:
    """What the sender sealed. Printing it doesn't show the content."""

    json: str
    """The payload, byte for byte."""
    id: str
    issued_at: int
    expires_at: int
    """Unix times."""
    signed_by: str | None
    """The kid of the sender's key."""
    proof: int
    """What the sender proved: bit 0 a psk or a shared key, bit 1 the signature."""
    _sender: bytes = _senders.UNNAMED
    _extras: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<OpenedPush expires_at={self.expires_at} signed_by={self.signed_by} proof={self.proof}>"

    @property
    def payload(self) -> dict[str, Any]:
        payload: dict[str, Any] = json.loads(self.json)
        return payload

    @property
    def retract(self) -> tuple[str, ...]:
        return tuple(self._extras.get("retract", ()))

    @property
    def name(self) -> str:
        """M of PROTOCOL section 4, by which a device remembers the message."""
        return _senders.message_name(self._sender, unb64(self.id))

    @property
    def retracted_names(self) -> tuple[str, ...]:
        """M of the messages in `retract`: the sender's own."""
        return tuple(_senders.message_name(self._sender, unb64(one)) for one in self.retract)

    @property
    def quiet(self) -> bool:
        return "quiet" in self._extras

    @property
    def badge_add(self) -> int | None:
        badge: Mapping[str, int] = self._extras.get("badge", {})
        return badge.get("add")

    @property
    def self_test(self) -> bool:
        return "test" in self._extras

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The shown attachments and the avatar."""
        return tuple(Attachment.from_members(members) for members in self._extras.get("attachments", ()))

    @property
    def offload(self) -> Offload | None:
        return Offload.from_members(self._extras["offload"]) if "offload" in self._extras else None

    def open_offload(self, blob: bytes) -> str:
        """The payload in the blob, which is shown instead of this one. Raises OpenError `undecryptable` or `malformed`."""
        if self.offload is None:
            raise OpenError("malformed", "the push has no offloaded payload")
        plaintext = open_blob(self.offload, PAYLOAD, blob)
        return offloaded_payload(plaintext, adds_to_badge=self.badge_add is not None).text.rstrip(" ")


class Opener:
    """Opens the pushes to one app."""

    def __init__(
        self, topic: str, keys: RecipientKey | Iterable[RecipientKey] | Keyset, *, senders: Sender | Sequence[Sender] | None,
        carriers: Iterable[Carrier] = ("apns",), clock: Callable[[], float] = time.time,
    ) -> None:
        """`senders` are the sender keys that the app pins, one set for each sender. None accepts unsigned pushes, and only
        these. `carriers` are the ways of the app's pushes.

        Raises KeyRecordError: `invalidTopic`, `wrongKind`, `duplicateKey`.
        """
        self._topic = checked_topic(topic)
        self._keys = _opening_keys(keys)
        self._senders = None if senders is None else _pinned(senders)
        self._carriers = _carriers.checked_all(carriers)
        self._clock = clock

    def open(self, payload: Union[bytes, str]) -> OpenedPush:
        """Opens the body of a request to APNs. It tries exactly one key, the one of the push's kid.

        Raises OpenError with the class of PROTOCOL section 8.
        """
        now = int(self._clock())
        outer = Envelope.read(raw_bytes(payload), self._carriers)
        message, proof, sender = self._open_envelope(outer, now)
        return _opened(message, proof, outer.skid, sender, now)

    def _open_envelope(self, envelope: Envelope, now: int, is_challenge: bool = False) -> tuple[bytes, int, bytes]:
        """The message, or the nonce of a challenge, what the sender proved, and S of PROTOCOL section 4."""
        key = self._recipient_key(envelope.kid, now)
        signer, sender = self._sender_key(envelope.skid, now)
        message = _envelope.open_(key, signer, self._topic, envelope.sealed, is_challenge)
        return message, _envelope.proof(key, signer is not None), sender

    def _recipient_key(self, kid: str, now: int) -> Key:
        key = _known(lambda: self._keys.opening(kid, now))
        if key is None or key.secret is None:
            raise OpenError("unknownKey", f"the push is sealed to key {kid}, which the opener doesn't have")
        return key

    def _sender_key(self, skid: str | None, now: int) -> tuple[Key | None, bytes]:
        """None for an unsigned push. An app that pins senders accepts none, and the error doesn't tell why (section 8)."""
        if skid is None:
            if self._senders is not None:
                raise undecryptable()
            return None, _senders.UNNAMED
        holders = [one for one in self._senders or () if _keyset(one[1]).entry(skid) is not None]
        if len(holders) > 1:
            raise OpenError("unknownKey", f"the push is signed by key {skid}, which two senders have")
        key = _known(lambda: holders[0][1].verification_key(skid, now)) if holders else None
        if key is None:
            raise OpenError("unknownKey", f"the push is signed by key {skid}, which isn't pinned")
        return key, holders[0][0]


def _pinned(senders: Sender | Sequence[Sender]) -> list[tuple[bytes, Keyset | TrustedSet]]:
    """S and the keys of each sender."""
    found: list[tuple[bytes, Keyset | TrustedSet]] = []
    for one in [senders] if isinstance(senders, (Keyset, NamedSender, TrustedSet)) else senders:
        if isinstance(one, TrustedSet):
            found.append((_senders.of_set(one.accepted.publication.set), one))
        else:
            name, keys = (one.name, one.keys) if isinstance(one, NamedSender) else ("", one)
            found.append((_senders.of_name(name), keys))
        if _keyset(found[-1][1]).kind != "sender":
            raise KeyRecordError("wrongKind", "senders aren't sender keys")
    return found


def _keyset(keys: Keyset | TrustedSet) -> Keyset:
    return keys.accepted.keyset if isinstance(keys, TrustedSet) else keys


def _known(look_up: Callable[[], Key | None]) -> Key | None:
    try:
        return look_up()
    except KeyRecordError as error:
        raise OpenError(error.code, error.reason) from None


def _opening_keys(keys: RecipientKey | Iterable[RecipientKey] | Keyset) -> Keyset:
    if isinstance(keys, Keyset):
        if keys.kind not in ("recipient", "shared"):
            raise KeyRecordError("wrongKind", "the keys aren't those of recipients")
        return keys
    holders = [keys] if isinstance(keys, RecipientKey) else list(keys)
    return always([holder._key for holder in holders], kind_of(holders[0]._key) if holders else "recipient")


@dataclass(frozen=True, repr=False)
class Envelope:
    """"pushcrypt": {"v": 1, "kid": 11 characters, "sealed": base64url [, "skid": 11 characters]}"""

    kid: str
    skid: str | None
    sealed: bytes

    @classmethod
    def read(cls, raw: bytes, carriers: Sequence[str]) -> Envelope:
        try:
            return cls._read(raw, carriers)
        except Flaw as flaw:
            raise OpenError("malformed", f"the outer payload: {flaw.reason}") from None

    @classmethod
    def _read(cls, raw: bytes, carriers: Sequence[str]) -> Envelope:
        root, _ = parse(raw)
        member, aps = _carriers.found_envelope(root, carriers), root.get("aps")
        check_version(member)
        envelope = cls.of(member)
        if not isinstance(aps, Obj) or not has_text(aps.get("alert")) or not is_one(aps.get("mutable-content")):
            raise Flaw("its aps has no alert with a visible text, or no mutable-content 1: iOS wouldn't run the extension")
        return envelope

    @classmethod
    def of(cls, member: Obj) -> Envelope:
        """The members beside `v`."""
        unb64(member.get("kid"), 8, "kid")
        if "skid" in member:
            unb64(member["skid"], 8, "skid")
        return cls(member["kid"], member.get("skid"), unb64(member.get("sealed"), name="sealed"))


def check_version(member: Any) -> None:
    if not isinstance(member, Obj) or not is_integer(member.get("v")):
        raise Flaw("it isn't an object with an integer v")
    if member["v"] != 1:
        raise OpenError("unsupportedVersion", f"the envelope has version {member['v']} of the protocol, and this is version 1")


def _opened(message: bytes, proof: int, skid: str | None, sender: bytes, now: int) -> OpenedPush:
    try:
        inner = Payload.read(message, is_message=True)
        header = Header.read(inner.root["pushcrypt"], proof != 0, "badge" in inner.aps)
    except Flaw as flaw:
        raise OpenError("malformed", f"the message: {flaw.reason}") from None
    if header.exp <= now or header.iat < now - WINDOW_IN_SECONDS:
        raise OpenError("expired", "the message has expired")
    if header.iat > now + AHEAD_IN_SECONDS:
        raise OpenError("notYetValid", "the message is from the future: a clock is wrong")
    return OpenedPush(inner.without_header(), header.id, header.iat, header.exp, skid, proof, sender, header.extras)
