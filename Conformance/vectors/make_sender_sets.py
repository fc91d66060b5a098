"""Writes sender-sets-v1.json with the Python package: signed sets of sender keys that a device accepts or refuses.

Run with an interpreter that has the package of Senders/python: python make_sender_sets.py > sender-sets-v1.json
Nothing in it is random: every run makes the same file.
"""
from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import sys
from typing import Any, Callable, Optional

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Tests", "Interop", "python"))
sys.dont_write_bytecode = True

import annotate  # noqa: E402
import support  # noqa: E402
from make_pushcrypt_v1 import XWING_KEYS, made  # noqa: E402
from pushcrypt import PushCryptError, sender_sets  # noqa: E402
from pushcrypt._json import b64, unb64  # noqa: E402
from pushcrypt._keys import Key  # noqa: E402
from pushcrypt._times import time_text  # noqa: E402

TOPIC, NOW, DAY = "com.example.app", 1_800_000_000, 86_400
SET, OTHER_SET = hashlib.sha256(b"pushcrypt test set").digest()[:16], hashlib.sha256(b"another test set").digest()[:16]
LAST = 2**53 - 1
ALWAYS = {"activatesAt": "2026-01-01T00:00:00Z"}
REVOKED = {**ALWAYS, "revokedAt": "2027-01-10T00:00:00Z"}


def publisher(label: str) -> Key:
    return dataclasses.replace(made("ed25519", label), role="publisher")


PUBLISHERS = {label: publisher(label) for label in ("publisher", "next publisher", "stranger")}
PUBLISHER, NEXT, STRANGER = PUBLISHERS.values()
SENDER, OTHER, THIEF = (made("ed25519", label) for label in ("sender", "other sender", "thief"))
MANY = [made("ed25519", f"sender {number}") for number in range(65)]


def pins(*publishers: Key, **changes: Any) -> dict[str, Any]:
    return {"publishers": [key.record(private=False) for key in publishers or (PUBLISHER, NEXT)], "set": b64(SET),
            "epoch": 1, **changes}


SETS = {"pins": json.dumps(pins()), "pins of the next publisher": json.dumps(pins(NEXT)),
        "pins of epoch 2": json.dumps(pins(NEXT, epoch=2)), "pins of the last epoch": json.dumps(pins(epoch=LAST)),
        "pins of another set": json.dumps(pins(set=b64(OTHER_SET)))}


def payload(lives: Optional[dict[Key, dict[str, Any]]] = None, without: Optional[str] = None, **changes: Any) -> dict[str, Any]:
    """A set of sender keys with their times, and with changes of its `pushcrypt` member."""
    lives = {SENDER: ALWAYS, OTHER: ALWAYS} if lives is None else lives
    member = {"seq": 5, "set": b64(SET), "topics": [TOPIC, "com.example.other"], "epoch": 1,
              "issuedAt": time_text(NOW), "validUntil": time_text(NOW + 60 * DAY),
              "keys": {key.kid: times for key, times in lives.items()}, **changes}
    member.pop(without, None)
    return {"keys": [key.record(private=False) for key in lives], "pushcrypt": member}


def text(content: Any) -> bytes:
    return content if isinstance(content, bytes) else json.dumps(content).encode()


def signed(content: Any, *by: Key, **header: Any) -> bytes:
    """The document of a payload. `header` replaces members of the protected header."""
    return sender_sets.sign_payload(text(content), list(by or (PUBLISHER,)), **header)


def entry(content: Any, by: Key = PUBLISHER, header: Any = None) -> dict[str, str]:
    """One entry of `signatures`. `header` replaces the whole protected header, given as JSON or bytes."""
    if header is None:
        return json.loads(signed(content, by))["signatures"][0]
    protected, body = b64(text(header)), b64(text(content))
    signature = by.sign(sender_sets.signing_input(protected, body))
    return {"protected": protected, "signature": b64(signature)}


def document(content: Any, *entries: Any, **more: Any) -> bytes:
    return json.dumps({"payload": b64(text(content)), "signatures": list(entries), **more}).encode()


def stored(content: Optional[dict[str, Any]] = None, revoked: tuple[bytes, ...] = (), **changes: Any) -> dict[str, Any]:
    """The state of a device that accepted a payload."""
    digest = hashlib.sha256(text(content if content is not None else payload())).digest()
    return {"epoch": 1, "seq": 5, "digest": b64(digest), "issuedAt": time_text(NOW),
            "revoked": sorted(map(b64, revoked)), **changes}


class Cases:
    """Collects documents, each checked against the package."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def add(self, name: str, offered: bytes, failure: Optional[str] = None, state: Optional[dict[str, Any]] = None,
            pinned: str = "pins", topic: str = TOPIC, now: int = NOW, padding: int = 0) -> None:
        assert all(case["name"] != name for case in self.found), name
        case = {"name": name, "pins": pinned, "topic": topic, "document": b64(offered), "padding": padding,
                "stored": state, "now": time_text(now), "failure": failure}
        try:
            case["state"] = support.accept_set(
                SETS[pinned].encode(), topic, offered + b" " * padding, state, time_text(now))
            assert failure is None, name
        except PushCryptError as refusal:
            assert refusal.code == failure, (name, refusal)
        self.found.append(case)


def add_signatures(cases: Cases) -> None:
    add, good = cases.add, payload()
    add("signed by the publisher", signed(good))
    add("signed by the next publisher", signed(good, NEXT))
    add("signed by both publishers", signed(good, PUBLISHER, NEXT))
    add("signed by a stranger", signed(good, STRANGER), "notSigned")
    add("signed by a sender of the set", signed(good, SENDER), "notSigned")
    add("signed by a stranger under the publisher's kid", document(good, entry(good, STRANGER, {
        "alg": "Ed25519", "kid": PUBLISHER.kid, "typ": sender_sets.TYPE})), "notSigned")
    add("signed by a publisher that the app no longer pins", signed(good), "notSigned", pinned="pins of the next publisher")
    add("the publisher's signature of another payload", document(payload(seq=6), entry(good)), "notSigned")
    header = {"alg": "Ed25519", "kid": PUBLISHER.kid, "typ": sender_sets.TYPE}
    other = {"alg": "Ed25519", "kid": NEXT.kid, "typ": sender_sets.TYPE}
    swapped = {**entry(good), "protected": b64(text(other))}
    add("the publisher's signature with another header", document(good, swapped), "notSigned")
    for what, change in (("alg none", {"alg": "none"}), ("alg EdDSA", {"alg": "EdDSA"}), ("alg HS256", {"alg": "HS256"}),
                         ("alg in lower case", {"alg": "ed25519"}), ("alg null", {"alg": None}), ("typ JWT", {"typ": "JWT"}),
                         ("typ in upper case", {"typ": sender_sets.TYPE.upper()}), ("a kid of a stranger", {"kid": STRANGER.kid}),
                         ("a kid that is a number", {"kid": 1}), ("crit", {"crit": ["x"], "x": 1}), ("b64 true", {"b64": True}),
                         ("jwk", {"jwk": PUBLISHER.record(private=False)})):
        add(f"a header with {what}", document(good, entry(good, header={**header, **change})), "notSigned")
    add("alg none without a signature", document(good, {**entry(good, header={**header, "alg": "none"}), "signature": ""}), "notSigned")
    for member in header:
        without = {name: value for name, value in header.items() if name != member}
        add(f"a header without {member}", document(good, entry(good, header=without)), "notSigned")
        twice = json.dumps(header)[:-1] + f', "{member}": "{header[member]}"}}'
        add(f"a header with {member} twice", document(good, entry(good, header=twice.encode())), "notSigned")
    add("a header in another order, with white space", document(good, entry(good, header=json.dumps(
        dict(reversed(header.items())), indent=2).encode())))
    add("a header with bytes behind it", document(good, entry(good, header=json.dumps(header).encode() + b"x")), "notSigned")
    add("a header that is an array", document(good, entry(good, header=[])), "notSigned")
    signature = unb64(entry(good)["signature"])
    for what, value in (("changed at the start", bytes([signature[0] ^ 1]) + signature[1:]), ("cut short", signature[:-1]),
                        ("changed at the end", signature[:-1] + bytes([signature[-1] ^ 1])), ("too long", signature + b"\0"),
                        ("of zeros", bytes(64)), ("empty", b"")):
        add(f"a signature {what}", document(good, {**entry(good), "signature": b64(value)}), "notSigned")
    order = 2**252 + 27742317777372353535851937790883648493
    s = (int.from_bytes(signature[32:], "little") + order).to_bytes(32, "little")
    add("a signature with S above the order", document(good, {**entry(good), "signature": b64(signature[:32] + s)}), "notSigned")
    for member in ("protected", "signature"):
        value = entry(good)[member]
        for what, changed in (("padded", value + "="), ("with white space", value + " "), ("that is null", None),
                              ("with trailing bits", value[:-1] + chr(ord(value[-1]) + 1)) if member == "signature" else ("empty", ""),
                              ("in base64's alphabet", value[:-1] + "+")):
            add(f"an entry with {member} {what}", document(good, {**entry(good), member: changed}), "notSigned")
        add(f"an entry without {member}", document(good, {k: v for k, v in entry(good).items() if k != member}), "notSigned")
    add("an entry with an unprotected header", document(good, {**entry(good), "header": {"kid": PUBLISHER.kid}}), "notSigned")
    add("an entry that is a string", document(good, "x"), "notSigned")
    add("no entries", document(good), "notSigned")
    foreign = [None, 1, {}, [], "x", entry(good, STRANGER), {**entry(good), "header": {}}]
    add("one good entry behind seven foreign ones", document(good, *foreign, entry(good)))
    add("one good entry before seven foreign ones", document(good, entry(good), *foreign))
    add("nine signatures, one of them good", document(good, *foreign, entry(good), entry(good)), "tooLarge")


def add_forms(cases: Cases) -> None:
    add, good = cases.add, payload()
    one = entry(good)
    add("compact serialisation", f'{one["protected"]}.{b64(text(good))}.{one["signature"]}'.encode(), "malformed")
    add("flattened serialisation", json.dumps({"payload": b64(text(good)), **one}).encode(), "malformed")
    add("flattened and general serialisation in one", document(good, one, **one), "malformed")
    add("an unsigned set", text(good), "malformed")
    add("a member more", document(good, one, more=1), "malformed")
    add("an unprotected header for all entries", document(good, one, header={}), "malformed")
    for member in ("payload", "signatures"):
        parsed = json.loads(document(good, one))
        add(f"{member} missing", json.dumps({k: v for k, v in parsed.items() if k != member}).encode(), "malformed")
        for what, value in (("null", None), ("a number", 1), ("an object", {})):
            add(f"{member} {what}", json.dumps({**parsed, member: value}).encode(), "malformed")
        twice = json.dumps(parsed)[:-1] + f', "{member}": {json.dumps(parsed[member])}}}'
        add(f"{member} twice", twice.encode(), "malformed")
    body = b64(text(good))
    for what, value in (("padded", body + "="), ("with white space", body + "\n"), ("in base64's alphabet", "+" + body[1:])):
        add(f"a payload {what}", json.dumps({"payload": value, "signatures": [one]}).encode(), "malformed")
    add("a payload with an escape, of the same characters",
        document(good, one).replace(body.encode(), b"\\u%04x" % ord(body[0]) + body[1:].encode()))
    for what, raw in (("of white space", b" \n"), ("null", b"null"), ("an array", b"[]"), ("cut short", document(good, one)[:-1]),
                      ("with bytes behind it", document(good, one) + b"x"), ("with a byte order mark", b"\xef\xbb\xbf" + document(good, one))):
        add(f"a document {what}", raw, "malformed")
    raw = document(good, one)
    add("a document of 262,144 bytes", raw, padding=262_144 - len(raw))
    add("a document of 262,145 bytes", raw, "tooLarge", padding=262_145 - len(raw))


def add_payloads(cases: Cases) -> None:
    add, good = cases.add, payload()
    for what, content in (("empty", b""), ("an array", b"[]"), ("a JWK", SENDER.record(private=False)), ("cut short", text(good)[:-1]),
                          ("without pushcrypt", {"keys": good["keys"]}), ("without keys", {"pushcrypt": good["pushcrypt"]}),
                          ("with an object of keys", {**good, "keys": {}}), ("with bytes behind it", text(good) + b"x"),
                          ("with no keys", payload({}))):
        add(f"a signed payload {what}", signed(content), "malformed")
    twice = json.dumps(good["pushcrypt"])[:-1] + ', "seq": 9}'
    add("a signed payload with seq twice",
        signed(f'{{"keys": {json.dumps(good["keys"])}, "pushcrypt": {twice}}}'.encode()), "malformed")
    for member in ("set", "topics", "epoch", "seq", "issuedAt", "validUntil", "keys"):
        add(f"{member} is missing in the payload", signed(payload(without=member)), "malformed")
        for what, value in (("null", None), ("true", True), ("an empty string", ""), ("an object", {"a": 1})):
            add(f"{member} is {what} in the payload", signed(payload(**{member: value})), "malformed")
    for member in ("epoch", "seq"):
        for value in (-1, 1.5, LAST + 1, "1"):
            add(f"{member} is {value!r} in the payload", signed(payload(**{member: value})), "malformed")
    for count in (15, 17):
        add(f"a set of {count} bytes", signed(payload(set=b64(bytes(count)))), "malformed")
    add("a set that is padded", signed(payload(set=b64(SET) + "==")), "malformed")
    add("16 topics", signed(payload(topics=[TOPIC] + [f"com.example.app{n}" for n in range(15)])))
    add("17 topics", signed(payload(topics=[TOPIC] + [f"com.example.app{n}" for n in range(16)])), "tooLarge")
    for what, topics, failure in (("no topics", [], "malformed"), ("a topic twice", [TOPIC, TOPIC], "malformed"),
                                  ("a topic that is a number", [TOPIC, 1], "malformed"), ("an empty topic", [TOPIC, ""], "invalidTopic"),
                                  ("a topic with a space", [TOPIC, "a b"], "invalidTopic"), ("a topic of 156 characters", ["a" * 156], "invalidTopic")):
        add(what, signed(payload(topics=topics)), failure)
    time = time_text
    for what, seconds, failure in (("90 days", 90 * DAY, None), ("90 days and a second", 90 * DAY + 1, "malformed"),
                                   ("a second", 1, None), ("no time", 0, "malformed"), ("less than no time", -1, "malformed")):
        add(f"valid for {what}", signed(payload(validUntil=time(NOW + seconds))), failure)
    add("validUntil in another time zone", signed(payload(validUntil="2027-03-16T10:00:00.5+02:00")))
    for what, value, failure in (("at the beginning of the year 0", "0000-01-01T00:00:00Z", None),
                                 ("before the year 0", "0000-01-01T00:00:00+00:01", "malformed"),
                                 ("on 29 February of the year 0", "0000-02-29T12:00:00-01:00", None),
                                 ("after the year 9999", "9999-12-31T23:59:60Z", "malformed")):
        add(f"a key that activates {what}", signed(payload({SENDER: {"activatesAt": value}})), failure)
    for what, value, failure in (("a time", "2027-01-10T00:00:00Z", None), ("no time", "yesterday", "malformed"), ("null", None, "malformed")):
        add(f"a key whose destroyedAt is {what}", signed(payload({SENDER: {**ALWAYS, "destroyedAt": value}})), failure)
    add("validUntil without a time zone", signed(payload(validUntil="2027-03-16T08:00:00")), "malformed")
    add("unknown members in the payload", signed({**payload(more=1), "more": [1]}))
    add("64 keys", signed(payload({key: ALWAYS for key in MANY[:64]})))
    add("65 keys", signed(payload({key: ALWAYS for key in MANY})), "tooLarge")
    private = payload()
    private["keys"][0] = SENDER.record()
    add("a private sender key", signed(private), "wrongKind")
    shared = made("oct", "shared")
    add("a set of shared keys", signed({**payload({shared: ALWAYS}), "keys": [shared.record()]}), "wrongKind")
    add("a set of recipients' keys", signed(payload({made("x25519", "x25519"): ALWAYS})), "wrongKind")
    add("a set of recipients' keys of suite 3", signed(payload({XWING_KEYS["xwing"]: ALWAYS})), "wrongKind")
    add("a recipient's key of suite 3 among the senders'", signed(payload({SENDER: ALWAYS, XWING_KEYS["xwing"]: ALWAYS})), "wrongKind")
    add("a recipient's key among the senders'", signed(payload({SENDER: ALWAYS, made("x25519", "x25519"): ALWAYS})), "wrongKind")
    add("a key without its times", signed({**payload(), "keys": good["keys"] + [THIEF.record(private=False)]}), "malformed")
    add("a key twice", signed({**payload(), "keys": good["keys"] + good["keys"][:1]}), "duplicateKey")
    for member, value in (("kty", "O\u212aP"), ("alg", "Ed25519\u0000"), ("crv", "ed25519")):
        add(f"a key with the {member} {value!r}", signed(
            {**payload({SENDER: ALWAYS}), "keys": [{**SENDER.record(private=False), member: value}]}), "unsupportedKey")
    add("a kid of another key", signed({**payload({SENDER: ALWAYS, OTHER: ALWAYS}), "keys": [
        {**SENDER.record(private=False), "kid": OTHER.kid}]}), "kidMismatch")


def add_roles(cases: Cases) -> None:
    """A key is sender or publisher, never both."""
    add = cases.add
    plain = dataclasses.replace
    for name, key in PUBLISHERS.items():
        add(f"the key of the {name} with its role among the senders", signed(payload({SENDER: ALWAYS, key: ALWAYS})), "wrongKind")
        add(f"the key of the {name} with its role as the only sender", signed(payload({key: ALWAYS})), "wrongKind")
        failure = None if name == "stranger" else "wrongKind"
        add(f"the key of the {name} without its role as a sender", signed(payload({SENDER: ALWAYS, plain(key, role=None): ALWAYS})), failure)
    for what, role in (("unknown", "sender"), ("null", None), ("empty", "")):
        record = {**SENDER.record(private=False), "role": role}
        add(f"a sender's key with a role that is {what}", signed({**payload({SENDER: ALWAYS}), "keys": [record]}), "unsupportedKey")


def add_acceptance(cases: Cases) -> None:
    add, time = cases.add, time_text
    add("another set", signed(payload(set=b64(OTHER_SET))), "otherSet")
    add("the pinned set is another one", signed(payload()), "otherSet", pinned="pins of another set")
    add("for another app", signed(payload(topics=["com.example.other"])), "otherTopic")
    add("for an app in lower case", signed(payload(topics=["com.example.App"])), "otherTopic")
    add("for the second app of its topics", signed(payload()), topic="com.example.other")
    for epoch in (0, 2, LAST):
        add(f"of epoch {epoch}", signed(payload(epoch=epoch)), "otherEpoch")
    add("of the last epoch, which is pinned", signed(payload(epoch=LAST)), pinned="pins of the last epoch")
    for seq, failure in ((0, "rolledBack"), (4, "rolledBack"), (6, None), (LAST, None)):
        add(f"seq {seq} after 5", signed(payload(seq=seq)), failure, stored())
    add("the same set again", signed(payload()), None, stored())
    add("the same set again, signed by the next publisher", signed(payload(), NEXT), None, stored())
    add("the same seq with another key", signed(payload({SENDER: ALWAYS})), "conflict", stored())
    add("the same seq with another order of bytes", signed(json.dumps(payload(), indent=1).encode()), "conflict", stored())
    add("the seq 2^53 - 1 again, with other keys", signed(payload({THIEF: ALWAYS}, seq=LAST)), "conflict", stored(seq=LAST))
    add("a set of the pinned epoch after seq 2^53 - 1 of a lower epoch", signed(payload(epoch=2, seq=1), NEXT), None,
        stored(seq=LAST, revoked=(sender_sets.thumbprint(SENDER),)), pinned="pins of epoch 2")
    add("the set of a stolen publisher after an update with a higher epoch", signed(payload(seq=LAST)), "notSigned",
        stored(seq=LAST), pinned="pins of epoch 2")
    add("a set of the pinned epoch after a set of a higher epoch", signed(payload(seq=9)), "rolledBack", stored(epoch=2))
    for what, at, failure in (("a second before validUntil", 60 * DAY - 1, None), ("at validUntil", 60 * DAY, "expired"),
                              ("long after validUntil", 10_000 * DAY, "expired"), ("long before issuedAt", -10_000 * DAY, None)):
        add(f"offered {what}", signed(payload()), failure, now=NOW + at)
    far = {"issuedAt": time(NOW + 60 * DAY)}
    add("the stored set was issued at validUntil", signed(payload(seq=6)), "expired", stored(**far))
    add("the stored set was issued a second before validUntil", signed(payload(seq=6)), None,
        stored(issuedAt=time(NOW + 60 * DAY - 1)))
    add("the stored set of a lower epoch was issued at validUntil", signed(payload(epoch=2), NEXT), None, stored(**far),
        pinned="pins of epoch 2")
    add("the same set again, long before issuedAt", signed(payload()), None, stored(), now=NOW - 10_000 * DAY)
    add("the same set again at validUntil", signed(payload()), "expired", stored(), now=NOW + 60 * DAY)
    sender, other = sender_sets.thumbprint(SENDER), sender_sets.thumbprint(OTHER)
    add("a revoked key", signed(payload({SENDER: REVOKED, OTHER: ALWAYS})))
    add("a key that is revoked in a year", signed(payload({SENDER: {**ALWAYS, "revokedAt": time(NOW + 365 * DAY)}})))
    add("a revoked key is no longer listed", signed(payload({OTHER: ALWAYS}, seq=6)), None, stored(revoked=(sender,)))
    add("a revoked key is listed as valid", signed(payload(seq=6)), None, stored(revoked=(sender,)))
    add("a revoked key is listed with a later revokedAt",
        signed(payload({SENDER: {**ALWAYS, "revokedAt": time(NOW + 365 * DAY)}}, seq=6)), None, stored(revoked=(sender,)))
    add("another key is revoked", signed(payload({OTHER: REVOKED}, seq=6)), None, stored(revoked=(sender,)))
    add("two keys are revoked at once", signed(payload({OTHER: REVOKED, SENDER: REVOKED}, seq=6)), None, stored())
    namesake = sender[:8] + other[8:]
    add("a key with the id of another revoked key", signed(payload(seq=6)), "conflict", stored(revoked=(namesake,)))


def read_pins() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    def add(name: str, content: Any, failure: Optional[str] = None) -> None:
        body = text(content)
        try:
            sender_sets.Pins.from_json(body)
            assert failure is None, name
        except PushCryptError as refusal:
            assert refusal.code == failure, (name, refusal)
        found.append({"name": name, "text": body.decode(), "failure": failure})

    records = [publisher(f"publisher {number}").record(private=False) for number in range(5)]
    for count, failure in ((0, "malformed"), (1, None), (4, None), (5, "tooLarge")):
        add(f"{count} publishers", {**pins(), "publishers": records[:count]}, failure)
    add("a publisher twice", {**pins(), "publishers": records[:1] * 2}, "duplicateKey")
    add("a publisher's private key", {**pins(), "publishers": [PUBLISHER.record()]}, "wrongKind")
    add("a sender's key", {**pins(), "publishers": [SENDER.record(private=False)]}, "wrongKind")
    add("a publisher's and a sender's key", {**pins(), "publishers": records[:1] + [SENDER.record(private=False)]}, "wrongKind")
    add("a publisher's key without its role", {**pins(), "publishers": [dataclasses.replace(PUBLISHER, role=None).record(private=False)]}, "wrongKind")
    add("a publisher's key with an unknown role", {**pins(), "publishers": [{**records[0], "role": "owner"}]}, "unsupportedKey")
    add("a recipient's key", {**pins(), "publishers": [made("x25519", "x25519").record(private=False)]}, "wrongKind")
    add("a recipient's key of suite 3", {**pins(), "publishers": [XWING_KEYS["xwing"].record(private=False)]}, "wrongKind")
    add("a recipient's key with the role publisher",
        {**pins(), "publishers": [{**made("x25519", "x25519").record(private=False), "role": "publisher"}]}, "wrongKind")
    add("a publisher's key with a psk", {**pins(), "publishers": [{**records[0], "psk": b64(bytes(32))}]}, "malformed")
    add("a publisher's key with the kty 'O\u212aP'", {**pins(), "publishers": [{**records[0], "kty": "O\u212aP"}]}, "unsupportedKey")
    add("a publisher with another kid", {**pins(), "publishers": [{**records[0], "kid": SENDER.kid}]}, "kidMismatch")
    for member in ("publishers", "set", "epoch"):
        add(f"without {member}", {name: value for name, value in pins().items() if name != member}, "malformed")
        for what, value in (("null", None), ("true", True), ("an empty string", ""), ("an object", {"a": 1})):
            add(f"{member} {what}", pins(**{member: value}), "malformed")
        twice = json.dumps(pins())[:-1] + f', "{member}": {json.dumps(pins()[member])}}}'
        add(f"{member} twice", twice.encode(), "malformed")
    add("another member", pins(more=1), "malformed")
    for epoch, failure in ((0, None), (LAST, None), (-1, "malformed"), (LAST + 1, "malformed"), (1.5, "malformed")):
        add(f"epoch {epoch}", pins(epoch=epoch), failure)
    for count in (0, 15, 17):
        add(f"a set of {count} bytes", pins(set=b64(bytes(count))), "malformed")
    add("a set that is padded", pins(set=b64(SET) + "=="), "malformed")
    add("an array", [pins()], "malformed")
    add("empty", b"", "malformed")
    return found


def main() -> None:
    cases = Cases()
    adders: tuple[Callable[[Cases], None], ...] = (add_signatures, add_forms, add_payloads, add_roles, add_acceptance)
    for add in adders:
        add(cases)
    annotate.printed("sender-sets-v1", {"sets": SETS, "pins": read_pins(), "cases": cases.found})


if __name__ == "__main__":
    main()
