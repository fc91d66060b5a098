"""The package `pushcrypt` as the channel, the tests and the generators of vectors call it: with records, times and extras of the
caller's choice. It contains no part of the protocol."""
from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any, Callable, Iterable, Optional

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pushcrypt import blobs, possession
from pushcrypt import (
    Attachment, Keyset, Offload, OpenedPush, Opener, Placeholder, Recipient, RecipientKey, Registration, RegistrationChange, Sealer,
    SenderKey, StoredRegistration,
)
from pushcrypt._json import b64, dump, unb64
from pushcrypt._keys import Key
from pushcrypt._message import WINDOW_IN_SECONDS
from pushcrypt._outer import MAX_LIMIT
from pushcrypt._times import seconds, time_text
from pushcrypt.keyset_log import KeysetFile, KeysetLog, Point
from pushcrypt.keysets import always
from pushcrypt.sender_sets import Pins, State, accept

Random = Callable[[int], bytes]
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


def reference(key: bytes, plaintext: bytes, blob: bytes, url: str = "") -> blobs.Reference:
    """The reference to a blob under a known key."""
    return blobs.Reference(url, key, len(plaintext), hashlib.sha256(blob).digest())


# --- The file of a keyset (docs/keyset-log.md) ---------------------------------------------------------------------------


def chained(lines: Iterable[Any]) -> bytes:
    """The rows of a log. A line is its members, or a pair of members and a change of its bytes.

    A line gets the right `n` and `prev` unless it has its own. The value `...` leaves a member out.
    """
    rows, number, prev = b"", 0, bytes(32)
    for line in lines:
        members, change = line if isinstance(line, tuple) else (line, lambda row: row)
        number = members["n"] if isinstance(members.get("n"), int) else number + 1
        every = {"n": number, "at": ..., "who": ..., "what": ..., "prev": b64(prev), **members}
        row = change(compact(every))
        rows, prev = rows + row + b"\n", hashlib.sha256(row).digest()
    return rows


def compact(members: dict[str, Any]) -> bytes:
    return dump({name: value for name, value in members.items() if value is not ...}).encode()


def head(rows: bytes) -> dict[str, Any]:
    """The point of the last line of a log."""
    row = rows[:-1].split(b"\n")[-1]
    return {"n": json.loads(row)["n"], "hash": b64(hashlib.sha256(row).digest())}


def plain_row(rows: bytes, jwks: Any, **changed: Any) -> bytes:
    """The last row with keys in clear. Members can be replaced afterwards."""
    digest = b64(hashlib.sha256(rows + dump(jwks).encode()).digest())
    return compact({"v": 1, "keys": jwks, "digest": digest, **changed}) + b"\n"


def sealed_members(rows: bytes, keys: Any, secrets: dict[str, Any], random: Random, plaintext: Optional[bytes] = None,
                   mac_key: Optional[bytes] = None, change_locks: Callable[[str], str] = str, n: int = 16, r: int = 1,
                   p: int = 1) -> dict[str, Any]:
    """The members of a last row with encrypted keys. A secret is a passphrase, or the output of a command.

    `plaintext` is encrypted in the place of the keys, and `mac_key` makes the mac in the place of the history key. The keys
    authenticate the text of locks after `change_locks`.
    """
    keyset_key, data_key, history_key = random(32), random(32), random(32)
    locks = [entry(name, secret, keyset_key, random, {"n": n, "r": r, "p": p}) for name, secret in secrets.items()]
    inside = plaintext if plaintext is not None else dump({"keys": keys, "history": b64(history_key)}).encode()
    aad = b"pushcrypt/1 keyset\0" + change_locks(dump(locks)).encode() + b"\0" + rows
    sealed = {"locks": locks, "dataKey": b64(encrypted(keyset_key, data_key, b"pushcrypt/1 data key", random)),
              "keys": b64(encrypted(data_key, inside, aad, random))}
    mac = hmac.digest(history_key if mac_key is None else mac_key, rows, "sha256")
    return {"v": 1, "sealed": sealed, "mac": b64(mac)}


def entry(name: str, secret: Any, keyset_key: bytes, random: Random, parameters: dict[str, int]) -> dict[str, Any]:
    """One of the secrets of an encrypted keyset."""
    if isinstance(secret, bytes):
        return {"name": name, "command": True, "key": b64(secret)}
    salt = random(16)
    derived = hashlib.scrypt(secret.encode(), salt=salt, dklen=48, **parameters)
    lock = {**parameters, "salt": b64(salt), "check": b64(derived[32:])}
    wrapped = encrypted(derived[:32], keyset_key, b"pushcrypt/1 keyset key", random)
    return {"name": name, "passphrase": lock, "key": b64(wrapped)}


def encrypted(key: bytes, text: bytes, aad: bytes, random: Random) -> bytes:
    """ENC(key, aad, text)"""
    nonce = random(12)
    return nonce + AESGCM(key).encrypt(nonce, text, aad)


def log_state(log: KeysetLog) -> dict[str, Any]:
    """What a log says, in the form of keyset-log-v1.json."""
    def given(members: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in members.items() if value is not None}

    keys = {kid: given({**{moment: time_text(at) for moment, at in key.times.items()}, "algorithm": key.algorithm,
                        "psk": key.psk or None, "lost": key.lost or None}) for kid, key in log.keys.items()}
    return given({
        "keys": keys, "policy": log.policy, "publication": log.publication,
        "epochs": {str(epoch): keyset for epoch, keyset in log.epochs.items()}, "writer": log.writer,
        "secrets": None if log.secrets is None else list(log.secrets),
        "revoked": {kid: time_text(at) for kid, at in log.revoked_elsewhere.items()} or None,
        "issuedAt": None if log.issued_at is None else time_text(log.issued_at), "at": time_text(log.at)})


def point(one: Point) -> dict[str, Any]:
    return {"n": one.n, "hash": b64(one.hash)}
