"""Signed sets of sender keys (PROTOCOL section 10): signing, verifying and accepting them.

A publisher signs the set of sender keys. An app bundles its `Pins`, downloads the document, and stores the `State` of what it
accepted.
"""
from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass, field, replace
from typing import Any, Iterable

from cryptography.exceptions import InvalidSignature

from . import _keys
from ._json import Obj, b64, is_integer, parse, unb64
from ._keys import Key, is_topic
from ._times import seconds, time_text
from .errors import Flaw, KeyRecordError
from .keys import PublisherKey
from .keysets import LONGEST_VALIDITY_IN_SECONDS, MAX_TOPICS, Keyset, RecordText, kind_of, read, record_bytes

MAX_DOCUMENT = 256 * 1024  # bytes
MAX_SIGNATURES, MAX_KEYS, MAX_PINNED, MAX_REVOKED = 8, 64, 4, 4_096
CLOCK_TOLERANCE_IN_SECONDS = 600
ALGORITHM, TYPE = "Ed25519", "pushcrypt-senders+jws"


@dataclass(frozen=True)
class Publication:
    """The members of the payload's `pushcrypt` beside `keys`. Times are Unix seconds."""

    set: bytes
    topics: tuple[str, ...]
    epoch: int
    seq: int
    issued_at: int
    valid_until: int


@dataclass(frozen=True)
class SenderSet:
    """A set whose signature was verified."""

    publication: Publication
    keyset: Keyset
    digest: bytes
    """SHA-256 of the payload's bytes."""
    signers: tuple[str, ...]
    """The kids of the pinned publishers that signed it."""


@dataclass(frozen=True)
class Pins:
    """What an app bundles."""

    publishers: tuple[Key, ...] = field(repr=False)
    set: bytes
    epoch: int

    @classmethod
    def from_json(cls, text: RecordText) -> Pins:
        """{"publishers": [JWK, 1 to 4], "set": BASE64URL(16 bytes), "epoch": N}, and no other member.

        Raises KeyRecordError: `malformed`, `tooLarge`, `wrongKind`, `duplicateKey`, and those of keys.
        """
        try:
            return _read_pins(record_bytes(text))
        except Flaw as flaw:
            raise KeyRecordError("malformed", f"the pins: {flaw.reason}") from None


@dataclass(frozen=True)
class State:
    """What a device remembers of the set that it accepted."""

    epoch: int
    seq: int
    digest: bytes
    issued_at: int
    """Of the stored document."""
    revoked: frozenset[bytes] = field(default_factory=frozenset)
    """Thumbprints, 32 bytes."""


@dataclass(frozen=True)
class ReportedVersion:
    """Which set a device has accepted, as it reports with its registration. If you never published this `seq`, or your set with it has
    another digest, the device has a set that isn't yours."""

    epoch: int
    seq: int
    digest: bytes
    """SHA-256 of the set's payload."""

    @classmethod
    def from_json(cls, text: RecordText) -> ReportedVersion:
        """{"epoch": N, "seq": N, "digest": BASE64URL(32 bytes)}. Raises KeyRecordError `malformed`."""
        try:
            root = parse(record_bytes(text))[0]
            if not is_integer(root.get("epoch")) or not is_integer(root.get("seq")):
                raise Flaw("epoch or seq isn't an integer")
            return cls(root["epoch"], root["seq"], unb64(root.get("digest"), 32, "digest"))
        except Flaw as flaw:
            raise KeyRecordError("malformed", f"the version of a sender set: {flaw.reason}") from None

    def is_of(self, document: bytes) -> bool:
        """Whether it is the version of a set that you have published."""
        try:
            return hashlib.sha256(unb64(_split(document)[0])).digest() == self.digest
        except Flaw:
            return False


@dataclass(frozen=True)
class TrustedSet:
    """An accepted set, for `Opener(senders=...)`. `highest_issued_at` is B of PROTOCOL section 5."""

    state: State
    accepted: SenderSet
    highest_issued_at: int | None = None
    grace_in_seconds: int = 0

    def verification_key(self, skid: str, at: int) -> Key | None:
        """The key to verify with. Raises KeyRecordError `keyExpired` or `keyRevoked`."""
        publication = self.accepted.publication
        now = max(at, publication.issued_at)
        if self.highest_issued_at is not None:
            now = max(now, self.highest_issued_at - CLOCK_TOLERANCE_IN_SECONDS)
        if publication.valid_until + self.grace_in_seconds <= now:
            raise KeyRecordError("keyExpired", "the set of sender keys has expired: fetch it again")
        entry = self.accepted.keyset.entry(skid)
        if entry is not None and thumbprint(entry.key) in self.state.revoked:
            raise KeyRecordError("keyRevoked", f"sender key {skid} was revoked")
        return replace(self.accepted.keyset, updated_at=None).verification_key(skid, now)


# --- Verifying ---------------------------------------------------------------------------------------------------------------
# document  = {"payload": BASE64URL(payload), "signatures": [{"protected": BASE64URL(header), "signature": BASE64URL}, ...]}
# header    = {"alg": "Ed25519", "kid": KID of a publisher, "typ": "pushcrypt-senders+jws"}
# signature = Ed25519(publisher's key, ASCII(protected ‖ "." ‖ payload))


def verify(document: bytes, pins: Pins) -> SenderSet:
    """Reads a document that a pinned publisher signed.

    Raises KeyRecordError: `malformed`, `tooLarge`, `notSigned`, `wrongKind`, `invalidTopic`, and those of `Keyset.from_json`.
    """
    try:
        text, entries = _split(document)
        found = [_signer(text, entry, pins.publishers) for entry in entries]
        signers = tuple(kid for kid in found if kid is not None)
        if not signers:
            raise KeyRecordError("notSigned", "no pinned publisher signed the document")
        payload = unb64(text)
        keyset, publication = _read_payload(payload)
    except Flaw as flaw:
        raise KeyRecordError("malformed", f"the document: {flaw.reason}") from None
    _refuse_publishers(keyset, pins.publishers)
    return SenderSet(publication, keyset, hashlib.sha256(payload).digest(), signers)


def _split(document: bytes) -> tuple[str, list[Any]]:
    if len(document) > MAX_DOCUMENT:
        raise KeyRecordError("tooLarge", f"the document has more than {MAX_DOCUMENT:,} bytes")
    root, _ = parse(document)
    payload, entries = root.get("payload"), root.get("signatures")
    if set(root) != {"payload", "signatures"} or not isinstance(payload, str) or not isinstance(entries, list):
        raise Flaw("it isn't a JWS in general JSON serialisation")
    unb64(payload, name="payload")
    if len(entries) > MAX_SIGNATURES:
        raise KeyRecordError("tooLarge", f"the document has more than {MAX_SIGNATURES} signatures")
    return payload, entries


def _signer(payload: str, entry: Any, publishers: Iterable[Key]) -> str | None:
    """The kid of the pinned publisher that made the entry's signature. None for any other entry, which is skipped."""
    try:
        if not isinstance(entry, Obj) or set(entry) != {"protected", "signature"}:
            return None
        header, _ = parse(unb64(entry["protected"]))
        if set(header) != {"alg", "kid", "typ"} or header["alg"] != ALGORITHM or header["typ"] != TYPE:
            return None
        publisher = next((key for key in publishers if key.kid == header["kid"]), None)
        if publisher is None:
            return None
        publisher.verify(unb64(entry["signature"], 64), signing_input(entry["protected"], payload))
        return publisher.kid
    except (Flaw, InvalidSignature):
        return None


def signing_input(protected: str, payload: str) -> bytes:
    return f"{protected}.{payload}".encode("ascii")


def _refuse_publishers(keyset: Keyset, publishers: Iterable[Key]) -> None:
    """A key is a sender's or a publisher's, never both."""
    if {entry.key.kid for entry in keyset.entries} & {key.kid for key in publishers}:
        raise KeyRecordError("wrongKind", "a publisher's key is among the sender keys")


def thumbprint(key: Key) -> bytes:
    """RFC 7638, 32 bytes."""
    return _keys.thumbprint(key.kind, key.public, key.secret)


def _read_payload(payload: bytes) -> tuple[Keyset, Publication]:
    root, _ = parse(payload)
    member = root.get("pushcrypt")
    if not isinstance(member, Obj) or not isinstance(root.get("keys"), list):
        raise Flaw("its payload isn't a JWK set with a pushcrypt member")
    if len(root["keys"]) > MAX_KEYS:
        raise KeyRecordError("tooLarge", f"the set has more than {MAX_KEYS} keys")
    publication = _publication(member)
    keyset = read(payload)
    if keyset.kind != "sender" or any(entry.key.secret is not None for entry in keyset.entries):
        raise KeyRecordError("wrongKind", "the set has keys that aren't public sender keys")
    return keyset, publication


def _publication(member: Obj) -> Publication:
    topics = member.get("topics")
    if not isinstance(topics, list) or not all(isinstance(topic, str) for topic in topics):
        raise Flaw("topics isn't an array of strings")
    if not is_integer(member.get("epoch")) or not is_integer(member.get("seq")):
        raise Flaw("epoch or seq isn't an integer of 0 to 2^53 - 1")
    publication = Publication(
        unb64(member.get("set"), name="set"), tuple(topics), member["epoch"], member["seq"],
        seconds(member.get("issuedAt"), "issuedAt"), seconds(member.get("validUntil"), "validUntil"))
    if not all(map(is_topic, topics)):
        raise KeyRecordError("invalidTopic", "the set has a topic that isn't a bundle identifier")
    if len(topics) > MAX_TOPICS:
        raise KeyRecordError("tooLarge", f"the set has more than {MAX_TOPICS} topics")
    if len(publication.set) != 16 or not topics or len(set(topics)) < len(topics):
        raise Flaw("set isn't 16 bytes, or topics is empty or has a topic twice")
    if not 0 < publication.valid_until - publication.issued_at <= LONGEST_VALIDITY_IN_SECONDS:
        raise Flaw("validUntil isn't within 90 days after issuedAt")
    return publication


# --- Signing -----------------------------------------------------------------------------------------------------------------


def sign(published: RecordText, publication: Publication, publishers: Iterable[PublisherKey]) -> bytes:
    """The document of a published JWK set. Raises KeyRecordError: `malformed`, `wrongKind`, `tooLarge`, `invalidTopic`."""
    try:
        return _sign(record_bytes(published), publication, [publisher._key for publisher in publishers])
    except Flaw as flaw:
        raise KeyRecordError("malformed", f"the set to sign: {flaw.reason}") from None


def _sign(published: bytes, publication: Publication, publishers: list[Key]) -> bytes:
    root, _ = parse(published)
    times = root["pushcrypt"].get("keys") if isinstance(root.get("pushcrypt"), Obj) else None
    member = {"seq": publication.seq, "set": b64(publication.set), "topics": list(publication.topics),
              "epoch": publication.epoch, "issuedAt": time_text(publication.issued_at),
              "validUntil": time_text(publication.valid_until), "keys": times}
    payload = json.dumps({"keys": root.get("keys"), "pushcrypt": member}).encode()
    senders, _ = _read_payload(payload)
    _refuse_publishers(senders, publishers)
    return sign_payload(payload, publishers)


def sign_payload(payload: bytes, publishers: list[Key], **header: Any) -> bytes:
    """The document of any payload. Only tests call it directly, and replace members of the protected header."""
    if not 1 <= len(publishers) <= MAX_SIGNATURES:
        raise KeyRecordError("malformed", f"1 to {MAX_SIGNATURES} publishers sign a set")
    text = b64(payload)
    entries = []
    for key in publishers:
        protected = b64(json.dumps({"alg": ALGORITHM, "kid": key.kid, "typ": TYPE, **header}).encode())
        signature = key.sign(signing_input(protected, text))
        entries.append({"protected": protected, "signature": b64(signature)})
    return json.dumps({"payload": text, "signatures": entries}).encode()


# --- Pins and accepting ------------------------------------------------------------------------------------------------------


def _read_pins(text: bytes) -> Pins:
    root, _ = parse(text)
    jwks = root.get("publishers")
    if set(root) != {"publishers", "set", "epoch"} or not isinstance(jwks, list) or not jwks:
        raise Flaw("they don't have exactly publishers, set and epoch")
    if not is_integer(root["epoch"]):
        raise Flaw("epoch isn't an integer of 0 to 2^53 - 1")
    identifier = unb64(root["set"], name="set")
    if len(jwks) > MAX_PINNED:
        raise KeyRecordError("tooLarge", f"the pins have more than {MAX_PINNED} publishers")
    publishers = tuple(_keys.load_key(jwk) for jwk in jwks)
    if {kind_of(key) for key in publishers} != {"publisher"}:
        raise KeyRecordError("wrongKind", "the pins have keys that aren't publishers'")
    if len({key.kid for key in publishers}) < len(publishers):
        raise KeyRecordError("duplicateKey", "the pins have a publisher twice")
    if any(key.secret is not None for key in publishers):
        raise KeyRecordError("wrongKind", "the pins have a private key, which an app must not contain")
    if len(identifier) != 16:
        raise Flaw("set isn't 16 bytes")
    return Pins(publishers, identifier, root["epoch"])


def accept(document: bytes, pins: Pins, topic: str, stored: State | None, at: int) -> TrustedSet:
    """What a device trusts after it was offered a document at a Unix time. Store the document and `state`.

    Raises KeyRecordError: the codes of `verify`, then `otherSet`, `otherTopic`, `otherEpoch`, `rolledBack`, `conflict`, `expired`,
    `tooLarge`.
    """
    offered = verify(document, pins)
    return TrustedSet(_accepted(offered, pins, topic, stored, at), offered)


def _accepted(offered: SenderSet, pins: Pins, topic: str, stored: State | None, at: int) -> State:
    publication = offered.publication
    _check_place(publication, pins, topic)
    if stored is not None and stored.epoch > pins.epoch:
        raise KeyRecordError("rolledBack", "the app pins an earlier epoch than the stored one: it is an older build")
    known = stored if stored is not None and stored.epoch == pins.epoch else None  # an earlier epoch counts as no state
    if known is not None:
        _check_order(offered, known)
    if publication.valid_until <= (max(at, known.issued_at) if known is not None else at):
        raise KeyRecordError("expired", "the set has expired: publish it again")
    revoked = known.revoked if known is not None else frozenset()
    revoked |= {thumbprint(entry.key) for entry in offered.keyset.entries if "revokedAt" in entry.times}
    if len(revoked) > MAX_REVOKED:
        raise KeyRecordError("tooLarge", f"more than {MAX_REVOKED:,} keys were revoked: pin a new epoch")
    own = {thumbprint(entry.key) for entry in offered.keyset.entries}
    if any(mine != theirs and mine[:8] == theirs[:8] for mine in own for theirs in revoked):
        raise KeyRecordError("conflict", "the set has another key with the id of a revoked key")
    return State(publication.epoch, publication.seq, offered.digest, publication.issued_at, revoked)


def _check_place(publication: Publication, pins: Pins, topic: str) -> None:
    if publication.set != pins.set:
        raise KeyRecordError("otherSet", "the document is of another set than the pinned one")
    if topic not in publication.topics:
        raise KeyRecordError("otherTopic", "the set isn't for this app")
    if publication.epoch != pins.epoch:
        raise KeyRecordError("otherEpoch", f"the set is of epoch {publication.epoch}, and the pinned one is {pins.epoch}")


def _check_order(offered: SenderSet, known: State) -> None:
    if offered.publication.seq < known.seq:
        raise KeyRecordError("rolledBack", f"the set has the seq {offered.publication.seq}, and {known.seq} is stored")
    if offered.publication.seq == known.seq and not hmac.compare_digest(offered.digest, known.digest):
        raise KeyRecordError("conflict", "the set has the seq of the stored one, and other content")
