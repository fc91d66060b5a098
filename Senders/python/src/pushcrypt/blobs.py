"""Encrypted blobs (PROTOCOL sections 6 and 7): attachments, and payloads that don't fit into a push.

blob  = "PCB1" ‖ chunk+
chunk = AES-256-GCM(key, nonce, aad, 65,536 bytes of plaintext; 1 to 65,536 in the last chunk, 0 only if the plaintext is empty)
nonce = unsigned 88-bit counter from 0, below 2^32 ‖ 0x00, or 0x01 in the last chunk
aad   = "PCB1" ‖ u8(purpose)
"""
from __future__ import annotations

import hashlib
import hmac
import os
from dataclasses import dataclass, field
from typing import Any, Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from ._json import b64, json_bytes, unb64
from ._keys import Secretive
from ._message import MAX_PAYLOAD, Payload, PayloadText
from .errors import Flaw, OpenError, SealError

MAGIC, CHUNK, TAG = b"PCB1", 65_536, 16
ATTACHMENT, PAYLOAD = 1, 2  # purposes
PAGE = 4096  # an offloaded payload is padded to a multiple of this


@dataclass(frozen=True, eq=False)
class Reference(Secretive):
    """A message's reference to a blob. `key` is a secret."""

    url: str = field(repr=False)
    key: bytes = field(repr=False)
    size: int
    sha256: bytes = field(repr=False)

    def members(self) -> dict[str, Any]:
        return {"url": self.url, "key": b64(self.key), "size": self.size, "sha256": b64(self.sha256)}


@dataclass(frozen=True, eq=False)
class Attachment(Reference):
    """A reference to a sealed file. `seal_attachment(...).at(...)` makes it."""

    type: str = ""
    id: str | None = None
    is_avatar: bool = False

    def members(self) -> dict[str, Any]:
        members = {**super().members(), "type": self.type}
        if self.id is not None:
            members["id"] = self.id
        if type(self.is_avatar) is not bool:
            raise SealError("invalidOption", "an attachment's is_avatar isn't True or False")
        if self.is_avatar:
            members["use"] = "avatar"
        return members

    @classmethod
    def from_members(cls, members: Mapping[str, Any]) -> Attachment:
        """Reads the object of a message. `Sealer.seal` checks its values."""
        return cls(*_common(members), members.get("type", ""), members.get("id"), members.get("use") == "avatar")

    def open(self, blob: bytes) -> bytes:
        """The file. Raises OpenError `undecryptable`."""
        return open_blob(self, ATTACHMENT, blob)


@dataclass(frozen=True, eq=False)
class Offload(Reference):
    """A reference to a sealed payload. `seal_offload(...).at(...)` makes it."""

    sets_badge: bool = False
    """Whether the payload is known to have aps.badge. The message doesn't say it."""

    @classmethod
    def from_members(cls, members: Mapping[str, Any]) -> Offload:
        """Reads the object of a message. `Sealer.seal` checks its values."""
        return cls(*_common(members))

    def open(self, blob: bytes) -> str:
        """The payload's JSON, byte for byte. Raises OpenError `undecryptable` or `malformed`."""
        return offloaded_payload(open_blob(self, PAYLOAD, blob)).text.rstrip(" ")


def _common(members: Mapping[str, Any]) -> tuple[str, bytes, int, bytes]:
    try:
        key, digest = unb64(members.get("key"), 32, "key"), unb64(members.get("sha256"), 32, "sha256")
    except Flaw as flaw:
        raise SealError("invalidOption", f"a reference to a blob: {flaw.reason}") from None
    return members.get("url", ""), key, members.get("size", -1), digest


@dataclass(frozen=True, eq=False)
class SealedBlob(Secretive):
    """`data` is the blob to upload. The key is only for the message: don't store it beside the blob."""

    data: bytes = field(repr=False)
    key: bytes = field(repr=False)
    size: int

    @property
    def sha256(self) -> bytes:
        return hashlib.sha256(self.data).digest()


class SealedAttachment(SealedBlob):
    """A sealed file, before its URL is known."""

    def at(self, url: str, *, type: str, id: str | None = None, is_avatar: bool = False) -> Attachment:
        """The reference for `Sealer.seal(attachments=...)`.

        `url` is where you upload `data`; https only. `type` is the MIME type. An avatar is the picture of the message's sender.
        """
        return Attachment(url, self.key, self.size, self.sha256, type, id, is_avatar)


@dataclass(frozen=True, eq=False)
class SealedOffload(SealedBlob):
    """A sealed payload, before its URL is known."""

    sets_badge: bool = False
    """Whether the payload has aps.badge."""

    def at(self, url: str) -> Offload:
        """The reference for `Sealer.seal(offload=...)`. `url` is where you upload `data`; https only."""
        return Offload(url, self.key, self.size, self.sha256, self.sets_badge)


def seal_attachment(data: bytes) -> SealedAttachment:
    """Encrypts a file under a fresh key."""
    key = os.urandom(32)
    return SealedAttachment(seal_blob(key, ATTACHMENT, data), key, len(data))


def seal_offload(payload: PayloadText) -> SealedOffload:
    """Encrypts a payload that is too large for a push, padded to a multiple of 4 KiB. Raises SealError `invalidPayload`."""
    try:
        inner = Payload.to_seal(json_bytes(payload))
    except Flaw as flaw:
        raise SealError("invalidPayload", f"the payload to offload: {flaw.reason}") from None
    return seal_payload(inner)


def seal_payload(payload: Payload) -> SealedOffload:
    """The blob of a payload."""
    key, plaintext = os.urandom(32), pad_payload(payload.text.encode("utf-8"))
    return SealedOffload(seal_blob(key, PAYLOAD, plaintext), key, len(plaintext), "badge" in payload.aps)


def pad_payload(payload: bytes) -> bytes:
    """Spaces behind a payload are padding already. With more of them it could exceed the limit of recipients."""
    text = payload.rstrip(b" ")
    return text + b" " * (-len(text) % PAGE)


def offloaded_payload(plaintext: bytes, adds_to_badge: bool = False) -> Payload:
    """The payload in a blob. It has no header, and no aps.badge if the message adds to the badge."""
    try:
        payload = Payload.read(plaintext)
    except Flaw as flaw:
        raise OpenError("malformed", f"the offloaded payload: {flaw.reason}") from None
    if len(plaintext) > MAX_PAYLOAD:
        raise OpenError("malformed", f"the offloaded payload has more than {MAX_PAYLOAD:,} bytes with its padding")
    if adds_to_badge and "badge" in payload.aps:
        raise OpenError("malformed", "the message adds to the badge, and the offloaded payload has aps.badge")
    return payload


def _nonce(counter: int, last: bool) -> bytes:
    return counter.to_bytes(11, "big") + (b"\x01" if last else b"\x00")


def seal_blob(key: bytes, purpose: int, plaintext: bytes) -> bytes:
    """The blob. `key` must be fresh: a second blob under it would have the same nonces."""
    aead, aad = AESGCM(key), MAGIC + bytes([purpose])
    pieces = [plaintext[at:at + CHUNK] for at in range(0, len(plaintext), CHUNK)] or [b""]
    return MAGIC + b"".join(aead.encrypt(_nonce(counter, counter == len(pieces) - 1), piece, aad)
                            for counter, piece in enumerate(pieces))


def open_blob(reference: Reference, purpose: int, blob: bytes) -> bytes:
    """The plaintext. The last chunk's flag must be at the end of the bytes, and size and digest must be right."""
    step = CHUNK + TAG
    chunks = [blob[at:at + step] for at in range(len(MAGIC), len(blob), step)]
    if blob[:len(MAGIC)] != MAGIC or not chunks or len(chunks) > 2**32 or (len(chunks) > 1 and len(chunks[-1]) <= TAG):
        raise _not_the_blob()
    aead, aad = AESGCM(reference.key), MAGIC + bytes([purpose])
    try:
        plaintext = b"".join(aead.decrypt(_nonce(counter, counter == len(chunks) - 1), chunk, aad)
                             for counter, chunk in enumerate(chunks))
    except (InvalidTag, ValueError):
        raise _not_the_blob() from None
    if len(plaintext) != reference.size or not hmac.compare_digest(hashlib.sha256(blob).digest(), reference.sha256):
        raise _not_the_blob()
    return plaintext


def _not_the_blob() -> OpenError:
    return OpenError("undecryptable", "the bytes aren't the blob that the message refers to: they were changed or cut")
