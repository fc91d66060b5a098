"""Signed sender sets, written from the protocol page alone (section 10): verifying, signing, and accepting them."""
from __future__ import annotations

import datetime
import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import Any, Optional

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ed25519

import keysets
import pushcrypt_reference as pc
from strict_json import Obj, Refusal, b64, is_integer, parse, unb64

MAX_DOCUMENT = 256 * 1024  # bytes
MAX_SIGNATURES, MAX_KEYS, MAX_TOPICS, MAX_PINNED, MAX_REVOKED = 8, 64, 16, 4, 4_096
LONGEST_VALIDITY = 90 * 86_400  # seconds
ALGORITHM, TYPE = "Ed25519", "pushcrypt-senders+jws"


@dataclass(frozen=True)
class Publication:
    """The members of the payload's `pushcrypt` beside `keys`. Times in Unix seconds."""

    set: bytes
    topics: list[str]
    epoch: int
    seq: int
    issued_at: int
    valid_until: int


@dataclass(frozen=True)
class SenderSet:
    """A set whose signature was verified."""

    publication: Publication
    keyset: keysets.Keyset
    digest: bytes  # SHA-256 of the payload's bytes
    signers: list[str]


@dataclass(frozen=True)
class Pins:
    """What the app bundles."""

    publishers: list[pc.Key]
    set: bytes
    epoch: int


@dataclass(frozen=True)
class State:
    """What a device remembers of the set that it accepted."""

    epoch: int
    seq: int
    digest: bytes
    issued_at: int  # of the stored document
    revoked: frozenset[bytes] = field(default_factory=frozenset)  # thumbprints, 32 bytes


# --- Verifying -------------------------------------------------------------------------------------------------------
# document = {"payload": BASE64URL, "signatures": [{"protected": BASE64URL, "signature": BASE64URL}, ...]}    RFC 7515 7.2.1
# protected = {"alg": "Ed25519", "kid": KID, "typ": "pushcrypt-senders+jws"}                                  in any order
# signature = Ed25519(publisher's key, ASCII(protected "." payload))


def verify(document: bytes, publishers: list[pc.Key]) -> SenderSet:
    """Refusal: `malformed`, `tooLarge`, `notSigned`; and those of key sets for the payload."""
    text, entries = _split(document)
    signers = [kid for kid in (_signer(text, entry, publishers) for entry in entries) if kid is not None]
    if not signers:
        raise Refusal("notSigned", "no pinned publisher signed the document")
    payload = unb64(text)
    keyset, publication = read_payload(payload)
    _refuse_publishers(keyset, publishers)
    return SenderSet(publication, keyset, hashlib.sha256(payload).digest(), signers)


def _split(document: bytes) -> tuple[str, list[Any]]:
    if len(document) > MAX_DOCUMENT:
        raise Refusal("tooLarge", "document")
    root, _ = parse(document)
    entries = root.get("signatures")
    if set(root) != {"payload", "signatures"} or not isinstance(root["payload"], str) or not isinstance(entries, list):
        raise Refusal("malformed", "not a JWS in general JSON serialisation")
    unb64(root["payload"])
    if len(entries) > MAX_SIGNATURES:
        raise Refusal("tooLarge", "signatures")
    return root["payload"], entries


def _signer(payload: str, entry: Any, publishers: list[pc.Key]) -> Optional[str]:
    """The kid of the pinned publisher that made the entry's signature; None for any other entry, which is skipped."""
    try:
        if not isinstance(entry, Obj) or set(entry) != {"protected", "signature"}:
            return None
        header, _ = parse(unb64(entry["protected"]))
        if set(header) != {"alg", "kid", "typ"} or header["alg"] != ALGORITHM or header["typ"] != TYPE:
            return None
        publisher = next((key for key in publishers if key.kid == header["kid"]), None)
        if publisher is None:
            return None
        signature = unb64(entry["signature"], pc.SIGNATURE_SIZE)
        ed25519.Ed25519PublicKey.from_public_bytes(publisher.public).verify(
            signature, signing_input(entry["protected"], payload))
        return publisher.kid
    except (Refusal, InvalidSignature):
        return None


def signing_input(protected: str, payload: str) -> bytes:
    return f"{protected}.{payload}".encode("ascii")


def _refuse_publishers(keyset: keysets.Keyset, publishers: list[pc.Key]) -> None:
    """A key is sender or publisher, never both."""
    if {entry.key.kid for entry in keyset.entries} & {key.kid for key in publishers}:
        raise Refusal("wrongKind", "a publisher's key among the senders")


def thumbprint(key: pc.Key) -> bytes:
    """RFC 7638, 32 bytes."""
    members = {"crv": "Ed25519", "kty": "OKP", "x": b64(key.public)}
    return hashlib.sha256(json.dumps(members, sort_keys=True, separators=(",", ":")).encode()).digest()


def read_payload(payload: bytes) -> tuple[keysets.Keyset, Publication]:
    """The sender keys and the publication. Refusal: `malformed`, `wrongKind`, and those of `keysets.read`."""
    root, _ = parse(payload)
    member = root.get("pushcrypt")
    if not isinstance(member, Obj) or not isinstance(root.get("keys"), list):
        raise Refusal("malformed", "not a JWK set with a pushcrypt member")
    if len(root["keys"]) > MAX_KEYS:
        raise Refusal("tooLarge", "keys")
    publication = _publication(member)
    keyset = keysets.senders(payload)
    if any(entry.key.secret is not None for entry in keyset.entries):
        raise Refusal("wrongKind", "a private key")
    return keyset, publication


def _publication(member: Obj) -> Publication:
    topics = member.get("topics")
    if not isinstance(topics, list) or not all(isinstance(topic, str) for topic in topics):
        raise Refusal("malformed", "topics")
    if not is_integer(member.get("epoch")) or not is_integer(member.get("seq")):
        raise Refusal("malformed", "epoch or seq")
    publication = Publication(unb64(member.get("set")), topics, member["epoch"], member["seq"],
                              keysets.seconds(member.get("issuedAt")), keysets.seconds(member.get("validUntil")))
    if not all(map(pc.is_topic, topics)):
        raise Refusal("invalidTopic")
    if len(topics) > MAX_TOPICS:
        raise Refusal("tooLarge", "topics")
    if len(publication.set) != 16 or not topics or len(set(topics)) < len(topics):
        raise Refusal("malformed", "set or topics")
    if not 0 < publication.valid_until - publication.issued_at <= LONGEST_VALIDITY:
        raise Refusal("malformed", "validUntil")
    return publication


# --- Signing ---------------------------------------------------------------------------------------------------------


def sign(keyset: bytes, publication: Publication, publishers: list[pc.Key]) -> bytes:
    """The document of a published JWK set. Refusal: `malformed`, `wrongKind`."""
    root, _ = parse(keyset)
    member = {"seq": publication.seq, "set": b64(publication.set), "topics": publication.topics,
              "epoch": publication.epoch, "issuedAt": time(publication.issued_at),
              "validUntil": time(publication.valid_until), "keys": root["pushcrypt"]["keys"]}
    payload = json.dumps({"keys": root["keys"], "pushcrypt": member}).encode()
    senders, _ = read_payload(payload)
    _refuse_publishers(senders, publishers)
    return sign_payload(payload, publishers)


def sign_payload(payload: bytes, publishers: list[pc.Key], **header: Any) -> bytes:
    """The document of any payload. `header` replaces members of the protected header, for tests."""
    if not 1 <= len(publishers) <= MAX_SIGNATURES or any(key.secret is None for key in publishers):
        raise Refusal("malformed", "1 to 8 publishers' private keys sign")
    text = b64(payload)
    entries = []
    for key in publishers:
        protected = b64(json.dumps({"alg": ALGORITHM, "kid": key.kid, "typ": TYPE, **header}).encode())
        signature = ed25519.Ed25519PrivateKey.from_private_bytes(key.secret).sign(signing_input(protected, text))
        entries.append({"protected": protected, "signature": b64(signature)})
    return json.dumps({"payload": text, "signatures": entries}).encode()


def time(seconds: int) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


# --- Pins and accepting ----------------------------------------------------------------------------------------------


def read_pins(text: bytes) -> Pins:
    """{"publishers": [JWK, 1 to 4], "set": BASE64URL(16 bytes), "epoch": N}, and no other member.

    Refusal: `malformed`, `tooLarge`, `wrongKind`, `duplicateKey`, and those of keys.
    """
    root, _ = parse(text)
    jwks = root.get("publishers")
    if set(root) != {"publishers", "set", "epoch"} or not isinstance(jwks, list) or not jwks:
        raise Refusal("malformed", "publishers")
    if not is_integer(root["epoch"]):
        raise Refusal("malformed", "epoch")
    identifier = unb64(root["set"])
    if len(jwks) > MAX_PINNED:
        raise Refusal("tooLarge", "publishers")
    publishers = [pc.load_key(jwk) for jwk in jwks]
    if {keysets.kind_of(key) for key in publishers} != {"publisher"}:
        raise Refusal("wrongKind", "not publishers' keys")
    if len({key.kid for key in publishers}) < len(publishers):
        raise Refusal("duplicateKey")
    if any(key.secret is not None for key in publishers):
        raise Refusal("wrongKind", "a private key")
    if len(identifier) != 16:
        raise Refusal("malformed", "set")
    return Pins(publishers, identifier, root["epoch"])


def accept(pins: bytes, topic: str, document: bytes, stored: Optional[dict[str, Any]], now: str) -> dict[str, Any]:
    """The state after a device accepts a document, all in the form of the vectors: {"epoch", "seq", "digest", "issuedAt", "revoked"}.

    Refusal: as `read_pins`, `verify` and `accept_verified`.
    """
    pinned = read_pins(pins)
    known = State(stored["epoch"], stored["seq"], unb64(stored["digest"], 32), keysets.seconds(stored["issuedAt"]),
                  frozenset(unb64(one, 32) for one in stored["revoked"])) if stored is not None else None
    state = accept_verified(pinned, topic, known, verify(document, pinned.publishers), keysets.seconds(now))
    return {"epoch": state.epoch, "seq": state.seq, "digest": b64(state.digest), "issuedAt": time(state.issued_at),
            "revoked": sorted(b64(one) for one in state.revoked)}


def accept_verified(pins: Pins, topic: str, stored: Optional[State], offered: SenderSet, now: int) -> State:
    """The state after accepting a verified set. The state of an earlier epoch counts for nothing.

    Refusal: `otherSet`, `otherTopic`, `otherEpoch`, `rolledBack`, `conflict`, `expired`, `tooLarge`.
    """
    publication = offered.publication
    if publication.set != pins.set:
        raise Refusal("otherSet")
    if topic not in publication.topics:
        raise Refusal("otherTopic")
    if publication.epoch != pins.epoch:
        raise Refusal("otherEpoch")
    if stored is not None and stored.epoch > pins.epoch:
        raise Refusal("rolledBack", "the app has an older bundle")
    known = stored if stored is not None and stored.epoch == pins.epoch else None
    if known is not None:
        if publication.seq < known.seq:
            raise Refusal("rolledBack")
        if publication.seq == known.seq and offered.digest != known.digest:
            raise Refusal("conflict", "other content with the same seq")
    if publication.valid_until <= (max(now, known.issued_at) if known is not None else now):
        raise Refusal("expired")
    revoked = known.revoked if known is not None else frozenset()
    revoked |= {thumbprint(entry.key) for entry in offered.keyset.entries if "revokedAt" in entry.times}
    if len(revoked) > MAX_REVOKED:
        raise Refusal("tooLarge", "revoked keys")
    own = {thumbprint(entry.key) for entry in offered.keyset.entries}
    if any(mine != theirs and mine[:8] == theirs[:8] for mine in own for theirs in revoked):
        raise Refusal("conflict", "another key with a revoked key's id")
    return State(publication.epoch, publication.seq, offered.digest, publication.issued_at, revoked)


def trusted(state: State, accepted: SenderSet, kid: str, now: int, high_water: Optional[int] = None,
            grace: int = 0) -> pc.Key:
    """The key to verify a message with. Refusal: `unknownKey`, `keyExpired`, `keyRevoked`."""
    publication = accepted.publication
    at = max(now, publication.issued_at, high_water - 600 if high_water is not None else now)
    if publication.valid_until + grace <= at:
        raise Refusal("keyExpired", "the set")
    for entry in accepted.keyset.entries:
        if entry.key.kid == kid and ("revokedAt" in entry.times or thumbprint(entry.key) in state.revoked):
            raise Refusal("keyRevoked")
    found = replace(accepted.keyset, updated_at=None).opening(kid, at)
    if found is None:
        raise Refusal("unknownKey")
    return found.key
