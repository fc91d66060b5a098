"""The package `pushcrypt` as the channel, the tests and the generators of vectors call it: with records, times and extras of the
caller's choice. It contains no part of the protocol."""
from __future__ import annotations

import hashlib
import json
from typing import Any, Callable, Iterable, Optional

from pushcrypt import _keyset_at_rest, blobs, possession
from pushcrypt import (
    Attachment, Keyset, Offload, OpenedPush, Opener, Placeholder, Recipient, RecipientKey, Registration, RegistrationChange, Sealer,
    SenderKey, StoredRegistration,
)
from pushcrypt._json import b64, unb64
from pushcrypt._keys import Key
from pushcrypt._message import WINDOW_IN_SECONDS
from pushcrypt._outer import MAX_LIMIT
from pushcrypt._test_doors import Random, sealed_keyset
from pushcrypt.keysets import always, seconds, time_text
from pushcrypt.sender_sets import Pins, State, accept

PADDING = {"max": "limit", "none": None}


def placeholder(members: dict[str, str]) -> Placeholder:
    return Placeholder(members.get("title"), members.get("body"), members.get("title-loc-key"), members.get("loc-key"))


def seal(to: Key, topic: str, inner: Any, text: dict[str, str], at: int, expires: Any = WINDOW_IN_SECONDS, pad: Any = 128,
         limit: Any = MAX_LIMIT, expose: Iterable[str] = (), sign_with: Optional[Key] = None,
         extras: Optional[dict[str, Any]] = None) -> bytes:
    """The outer payload of `inner`, sealed at the time `at`. `pad` is a multiple, "max" or "none"."""
    extras = extras or {}
    sealer = Sealer(topic, signer=SenderKey(sign_with) if sign_with is not None else None, clock=lambda: at)
    return sealer.seal(
        inner, to=Recipient(to), placeholder=placeholder(text), padding=PADDING.get(pad, pad), limit=limit,
        expires_after=expires, exposed=expose, self_test="test" in extras, bare=True,
        attachments=[Attachment.from_members(members) for members in extras.get("attachments", [])],
        offload=Offload.from_members(extras["offload"]) if "offload" in extras else None).json


def seal_case(case: dict[str, Any], topic: str, at: int, records: dict[str, Any]) -> None:
    """A case of sealing in sender-refusals-v1.json."""
    options = dict(case["options"])
    names = {"expiresAfter": "expires_after", "badgeAdd": "badge_add", "minimumSuite": "minimum_suite"}
    given = {names.get(name, name): value for name, value in options.items() if name not in ("attachments", "requiresDevice")}
    sealer = Sealer(topic, signer=SenderKey.from_jwk(records["sender"]) if case["isSigned"] else None, clock=lambda: at)
    texts = {name.replace("-", "_"): text for name, text in case["placeholder"].items()}
    sealer.seal(case["payload"], to=Recipient.from_jwk(records[case["to"]]), placeholder=Placeholder(**texts),
                attachments=[Attachment.from_members(members) for members in options.get("attachments", [])],
                bare=not options.get("requiresDevice", False), **given)


def register_case(case: dict[str, Any]) -> None:
    """A case of reading a registration record."""
    Registration.from_json(case["record"], requiring=case["requiring"])


def store_case(case: dict[str, Any]) -> None:
    """A case of storing a registration."""
    def row(members: dict[str, str]) -> StoredRegistration:
        return StoredRegistration(
            Registration.from_json(members["record"], requiring=()), members["account"], members["deviceToken"])

    change = RegistrationChange.storing(row(case["upload"]), over=map(row, case["stored"]), is_proven=case["isProven"],
                                        allows_lower_suite=case["allowsLowerSuite"])
    assert (change.is_written, list(change.removed)) == (case["isWritten"], case["removed"]), case["name"]


def challenge_case(case: dict[str, Any], topic: str, at: int) -> None:
    """A case of a challenge for a record."""
    registration = Registration.from_json(case["record"], requiring=())
    possession.challenge(registration, host=case["host"], topic=topic, clock=lambda: at)


def open_payload(payload: bytes, keys: Iterable[Key], topic: str, at: int,
                 trust: Optional[Iterable[Key]] = None) -> OpenedPush:
    """Opens with keys without an end. A `trust`, also an empty one, pins sender keys."""
    senders = always(trust, "sender") if trust is not None else None
    return Opener(topic, [RecipientKey(key) for key in keys], senders=senders, clock=lambda: at).open(payload)


def open_with_sets(payload: bytes, keyset: bytes, pinned: Optional[bytes], topic: str, at: int) -> OpenedPush:
    """Opens with key sets and their times."""
    senders = Keyset.from_json(pinned) if pinned is not None else None
    return Opener(topic, Keyset.from_json(keyset), senders=senders, clock=lambda: at).open(payload)


def senders(text: bytes) -> Keyset:
    """The sender keys that an app pins."""
    keyset = Keyset.from_json(text)
    Opener("a", [], senders=keyset)
    return keyset


def _kids(keyset: Keyset) -> list[str]:
    return [entry.key.kid for entry in keyset.entries]


#: The readers of keysets-v1.json: the ids of the keys in a text.
READERS: dict[str, Callable[[bytes], list[str]]] = {
    "keyset": lambda text: _kids(Keyset.from_json(text)), "recipient": lambda text: [Recipient.from_jwk(text).kid],
    "signer": lambda text: [SenderKey.from_jwk(text).kid], "senders": lambda text: _kids(senders(text)),
}


def for_device(key: Key, device: Optional[str]) -> Key:
    """The device's key if `key` is a master and a device is named; any other key unchanged."""
    if device is None or key.kind != "oct" or key.device is not None:
        return key
    return RecipientKey(key).for_device(device)._key


def accept_set(pins: bytes, topic: str, document: bytes, stored: Optional[dict[str, Any]], now: str) -> dict[str, Any]:
    """The state after a device accepts a document, in the form of sender-sets-v1.json."""
    known = State(stored["epoch"], stored["seq"], unb64(stored["digest"], 32), seconds(stored["issuedAt"], "issuedAt"),
                  frozenset(unb64(one, 32) for one in stored["revoked"])) if stored is not None else None
    state = accept(document, Pins.from_json(pins), topic, known, seconds(now, "now")).state
    return {"epoch": state.epoch, "seq": state.seq, "digest": b64(state.digest), "issuedAt": time_text(state.issued_at),
            "revoked": sorted(b64(one) for one in state.revoked)}


def open_keyset(text: str, passphrase: str) -> list[dict[str, str]]:
    """The private JWKs of an encrypted keyset, as they are in the file."""
    return _keyset_at_rest.open_keyset(text, passphrase)[0]


def seal_keyset(metadata: str, keys: Any, passphrase: str, n: int, r: int, p: int, **random: Random) -> str:
    """An encrypted keyset's file with `metadata`. Order, white space and escapes are those that a reader must accept."""
    sealed = sealed_keyset(metadata, keys, passphrase, n, r, p, **random)
    return f'{{\r\n"pushcrypt"\t: {metadata} , "comment": "\\u00e9", "sealed":{json.dumps(sealed)}}}'


def reference(key: bytes, plaintext: bytes, blob: bytes, url: str = "") -> blobs.Reference:
    """The reference to a blob under a known key."""
    return blobs.Reference(url, key, len(plaintext), hashlib.sha256(blob).digest())
