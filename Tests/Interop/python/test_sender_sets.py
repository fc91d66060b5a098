"""Tests of signed sender sets: python -m unittest test_sender_sets"""
from __future__ import annotations

import json
import os
import unittest
from dataclasses import replace
from typing import Any, Callable, Optional

import support
from pushcrypt import (
    KeyRecordError, OpenError, Opener, Placeholder, PublisherKey, Recipient, RecipientKey, Sealer, SenderKey, sender_sets,
)
from pushcrypt._json import b64, unb64
from pushcrypt._keys import Key, key_id
from pushcrypt._points import public_of
from pushcrypt._times import time_text
from pushcrypt.sender_sets import Pins, Publication, State, TrustedSet

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "Conformance", "vectors", "sender-sets-v1.json")
TOPIC, NOW, DAY = "com.example.app", 1_800_000_000, 86_400


def key(number: int, role: Optional[str] = None) -> Key:
    """An Ed25519 key of 32 equal bytes."""
    secret = bytes([number]) * 32
    public = public_of("ed25519", secret)
    return Key("ed25519", key_id("ed25519", public, secret), public, secret, role=role)


PUBLISHER, NEXT_PUBLISHER, STRANGER = (key(number, "publisher") for number in (1, 2, 3))
SENDER, OTHER_SENDER = key(11), key(12)
PINS = Pins((PUBLISHER, NEXT_PUBLISHER), bytes(16), 1)
PUBLICATION = Publication(bytes(16), (TOPIC, "com.example.other"), 1, 5, NOW, NOW + 60 * DAY)


def published(*senders: Key, revoked: tuple[Key, ...] = (), **times: str) -> bytes:
    """A published set."""
    lives = {sender.kid: {"activatesAt": "2027-01-01T00:00:00Z", **times,
                          **({"revokedAt": "2027-01-02T00:00:00Z"} if sender in revoked else {})} for sender in senders}
    return json.dumps({"keys": [sender.record(private=False) for sender in senders],
                       "pushcrypt": {"seq": 1, "keys": lives}}).encode()


def signed(*senders: Key, by: tuple[Key, ...] = (PUBLISHER,), revoked: tuple[Key, ...] = (),
           **changes: Any) -> bytes:
    return sender_sets.sign(published(*(senders or (SENDER,)), revoked=revoked), replace(PUBLICATION, **changes), map(PublisherKey, by))


def verified(document: bytes) -> sender_sets.SenderSet:
    return sender_sets.verify(document, PINS)


def accepted(document: bytes, stored: Optional[State] = None, pins: Pins = PINS, at: int = NOW) -> TrustedSet:
    return sender_sets.accept(document, pins, TOPIC, stored, at)


class VectorTests(unittest.TestCase):
    def setUp(self) -> None:
        with open(VECTORS, encoding="utf-8") as file:
            self.vectors = json.load(file)

    def test_pins(self) -> None:
        for entry in self.vectors["pins"]:
            with self.subTest(entry["name"]):
                self.assertEqual(outcome(lambda: Pins.from_json(entry["text"].encode()))[1], entry["failure"])

    def test_documents(self) -> None:
        for entry in self.vectors["cases"]:
            with self.subTest(entry["name"]):
                pins = self.vectors["sets"][entry["pins"]].encode()
                document = unb64(entry["document"]) + b" " * entry.get("padding", 0)
                state, failure = outcome(
                    lambda: support.accept_set(pins, entry["topic"], document, entry["stored"], entry["now"]))
                self.assertEqual((state, failure), (entry.get("state"), entry["failure"]))


def outcome(body: Callable[[], Any]) -> tuple[Any, Optional[str]]:
    """The result, or the code of the refusal."""
    try:
        return body(), None
    except KeyRecordError as refusal:
        return None, refusal.code


class SenderSetTests(unittest.TestCase):
    def expect(self, code: str, body: Callable[[], Any]) -> None:
        with self.assertRaises(KeyRecordError) as caught:
            body()
        self.assertEqual(caught.exception.code, code)

    def expect_malformed(self, change: Callable[[dict[str, Any]], None], code: str = "malformed") -> None:
        """Changes a parsed document."""
        document = json.loads(signed())
        change(document)
        self.expect(code, lambda: verified(json.dumps(document).encode()))

    def expect_payload(self, code: str, change: Callable[[dict[str, Any]], None]) -> None:
        """Changes the payload before a publisher signs it."""
        payload = json.loads(unb64(json.loads(signed())["payload"]))
        change(payload)
        document = sender_sets.sign_payload(json.dumps(payload).encode(), [PUBLISHER])
        self.expect(code, lambda: verified(document))

    def test_round_trip(self) -> None:
        for by in ((PUBLISHER,), (NEXT_PUBLISHER,), (PUBLISHER, NEXT_PUBLISHER), (STRANGER, NEXT_PUBLISHER)):
            offered = verified(signed(by=by))
            self.assertEqual(offered.publication, PUBLICATION)
            self.assertEqual([entry.key.kid for entry in offered.keyset.entries], [SENDER.kid])
            self.assertEqual(offered.signers, tuple(one.kid for one in by if one is not STRANGER))

    def test_a_document_without_a_pinned_publisher_is_refused(self) -> None:
        self.expect("notSigned", lambda: verified(signed(by=(STRANGER,))))

    def test_one_valid_signature_among_foreign_entries_accepts(self) -> None:
        document = json.loads(signed())
        foreign = [None, 1, {}, {"protected": "AA", "signature": "AA", "header": {}}, {"protected": "!", "signature": ""},
                   *json.loads(signed(by=(STRANGER,)))["signatures"]]
        document["signatures"] = foreign + document["signatures"]
        self.assertEqual(verified(json.dumps(document).encode()).signers, (PUBLISHER.kid,))

    def test_other_forms_are_refused(self) -> None:
        document = json.loads(signed())
        entry = document["signatures"][0]
        compact = f'{entry["protected"]}.{document["payload"]}.{entry["signature"]}'.encode()
        flattened = json.dumps({"payload": document["payload"], **entry}).encode()
        for text in (compact, flattened, b"", b"[]", b"{}", signed() + b"x", b'{"payload":"AA",' + signed()[1:]):
            self.expect("malformed", lambda: verified(text))

    def test_members_are_exact(self) -> None:
        self.expect_malformed(lambda document: document.update(extra=1))
        self.expect_malformed(lambda document: document.pop("payload"))
        self.expect_malformed(lambda document: document.pop("signatures"))
        self.expect_malformed(lambda document: document.update(payload=document["payload"] + "="))
        self.expect_malformed(lambda document: document.update(signatures=[]), "notSigned")
        self.expect_malformed(lambda document: document.update(signatures=document["signatures"] * 9), "tooLarge")
        entries = lambda document: document["signatures"][0]
        for change in (lambda document: entries(document).update(header={}),
                       lambda document: entries(document).pop("protected"),
                       lambda document: entries(document).update(signature=entries(document)["signature"] + "="),
                       lambda document: document.update(payload=b64(b"{}"))):
            self.expect_malformed(change, "notSigned")

    def test_headers_are_exact(self) -> None:
        for header in ({"alg": "none"}, {"alg": "EdDSA"}, {"typ": "JWT"}, {"kid": STRANGER.kid}, {"crit": []}, {"b64": True}):
            document = sender_sets.sign_payload(unb64(json.loads(signed())["payload"]), [PUBLISHER], **header)
            self.expect("notSigned", lambda: verified(document))

    def test_limits(self) -> None:
        self.assertEqual(len(verified(signed(*map(key, range(11, 75)))).keyset.entries), 64)
        self.expect_payload("tooLarge", lambda payload: payload.update(
            keys=[key(number).record(private=False) for number in range(11, 76)]))
        long = json.loads(signed())
        long["signatures"] += [{"x": "a" * sender_sets.MAX_DOCUMENT}]
        self.expect("tooLarge", lambda: verified(json.dumps(long).encode()))

    def test_the_payload_is_checked(self) -> None:
        member = lambda payload: payload["pushcrypt"]
        for name in ("seq", "keys", "set", "topics", "epoch", "issuedAt", "validUntil"):
            self.expect_payload("malformed", lambda payload: member(payload).pop(name))
        for name, value in (("set", "AA"), ("topics", []), ("topics", [TOPIC] * 2), ("topics", [1]), ("epoch", -1), ("epoch", 2**53),
                            ("seq", "1"), ("issuedAt", "now"), ("validUntil", time_text(NOW)),
                            ("validUntil", time_text(NOW + 90 * DAY + 1))):
            self.expect_payload("malformed", lambda payload: member(payload).update({name: value}))
        many = [f"a{number}" for number in range(17)]
        self.expect_payload("tooLarge", lambda payload: member(payload).update(topics=many))
        self.expect_payload("invalidTopic", lambda payload: member(payload).update(topics=["a b"]))
        self.expect_payload("wrongKind", lambda payload: payload.update(keys=[SENDER.record()]))

    def test_a_key_is_publisher_or_sender(self) -> None:
        self.expect("wrongKind", lambda: signed(PUBLISHER))
        self.expect("wrongKind", lambda: signed(replace(PUBLISHER, role=None)))
        for listed in (PUBLISHER, replace(PUBLISHER, role=None), replace(NEXT_PUBLISHER, role=None)):
            payload = json.loads(unb64(json.loads(signed())["payload"]))
            payload["keys"] = [listed.record(private=False)]
            payload["pushcrypt"]["keys"] = {listed.kid: {}}
            document = sender_sets.sign_payload(json.dumps(payload).encode(), [PUBLISHER])
            self.expect("wrongKind", lambda: verified(document))
        self.expect("wrongKind", lambda: support.senders(PUBLISHER.record(private=False)))
        self.expect("wrongKind", lambda: SenderKey.from_jwk(PUBLISHER.record()))
        record = SENDER.record(private=False)
        self.expect("wrongKind", lambda: Pins.from_json(json.dumps(
            {"publishers": [record], "set": b64(bytes(16)), "epoch": 1}).encode()))

    def test_pins(self) -> None:
        records = [one.record(private=False) for one in (PUBLISHER, NEXT_PUBLISHER)]
        pins = {"publishers": records, "set": b64(bytes(16)), "epoch": 1}
        read = Pins.from_json(json.dumps(pins).encode())
        self.assertEqual([one.kid for one in read.publishers], [PUBLISHER.kid, NEXT_PUBLISHER.kid])
        for name, value, code in (
                ("publishers", [], "malformed"), ("publishers", records * 3, "tooLarge"), ("set", "AA", "malformed"),
                ("publishers", records[:1] * 2, "duplicateKey"), ("publishers", [PUBLISHER.record()], "wrongKind"),
                ("epoch", -1, "malformed"), ("epoch", True, "malformed"), ("more", 1, "malformed")):
            self.expect(code, lambda: Pins.from_json(json.dumps({**pins, name: value}).encode()))

    def test_accepting(self) -> None:
        first = accepted(signed()).state
        self.assertEqual((first.epoch, first.seq), (1, 5))
        self.assertEqual(accepted(signed(by=(NEXT_PUBLISHER,)), first).state, first)
        self.assertEqual(accepted(signed(seq=6), first).state.seq, 6)
        for code, document, stored, at in (
                ("rolledBack", signed(seq=4), first, NOW), ("conflict", signed(OTHER_SENDER), first, NOW),
                ("otherSet", signed(set=bytes(15) + b"a"), None, NOW), ("otherTopic", signed(topics=("com.example",)), None, NOW),
                ("otherEpoch", signed(epoch=2), None, NOW), ("otherEpoch", signed(epoch=0), None, NOW),
                ("expired", signed(), None, NOW + 60 * DAY)):
            self.expect(code, lambda: accepted(document, stored, at=at))
        accepted(signed(), at=NOW + 60 * DAY - 1)

    def test_an_earlier_epoch_counts_for_nothing(self) -> None:
        stolen = accepted(signed(seq=2**53 - 1)).state
        update = replace(PINS, publishers=(NEXT_PUBLISHER,), epoch=2)
        state = accepted(signed(seq=1, epoch=2, by=(NEXT_PUBLISHER,)), stolen, update).state
        self.assertEqual((state.epoch, state.seq), (2, 1))

    def verified_by(self, trusted: TrustedSet, sender: Key, at: int) -> None:
        found = trusted.verification_key(sender.kid, at)
        self.assertEqual(found and found.kid, sender.kid)

    def test_revocation_is_final(self) -> None:
        trusted = accepted(signed(SENDER, OTHER_SENDER))
        self.verified_by(trusted, SENDER, NOW)
        trusted = accepted(signed(SENDER, OTHER_SENDER, revoked=(SENDER,), seq=6), trusted.state)
        for offered, seq in ((None, 6), (signed(OTHER_SENDER, seq=7), 7), (signed(SENDER, OTHER_SENDER, seq=8), 8)):
            if offered:
                trusted = accepted(offered, trusted.state)
            if seq == 7:
                self.assertIsNone(trusted.verification_key(SENDER.kid, NOW - 400 * DAY))
            else:
                self.expect("keyRevoked", lambda: trusted.verification_key(SENDER.kid, NOW - 400 * DAY))
            self.verified_by(trusted, OTHER_SENDER, NOW)

    def test_keys_are_judged_no_earlier_than_the_set(self) -> None:
        trusted = accepted(sender_sets.sign(
            published(SENDER, expiresAt=time_text(NOW + DAY)), PUBLICATION, [PublisherKey(PUBLISHER)]))
        self.verified_by(trusted, SENDER, NOW - DAY)
        self.expect("keyExpired", lambda: trusted.verification_key(SENDER.kid, NOW + DAY))
        late, later = (replace(trusted, highest_issued_at=NOW + DAY + more) for more in (599, 600))
        self.verified_by(late, SENDER, 0)
        self.expect("keyExpired", lambda: later.verification_key(SENDER.kid, 0))

    def test_an_expired_set_verifies_nothing(self) -> None:
        trusted, end = accepted(signed()), NOW + 60 * DAY
        self.verified_by(trusted, SENDER, end - 1)
        self.expect("keyExpired", lambda: trusted.verification_key(SENDER.kid, end))
        patient = replace(trusted, grace_in_seconds=DAY)
        self.verified_by(patient, SENDER, end)
        self.expect("keyExpired", lambda: patient.verification_key(SENDER.kid, end + DAY))

    def test_an_opener_accepts_what_a_sender_of_the_set_signed_and_refuses_a_revoked_sender(self) -> None:
        phone = RecipientKey.generate(2)
        push = Sealer(TOPIC, signer=SenderKey(SENDER), clock=lambda: NOW).seal(
            {"aps": {"alert": "x"}}, to=Recipient.from_jwk(phone.registration_record()), placeholder=Placeholder(title="t"))
        trusted = accepted(signed())
        opened = Opener(TOPIC, phone, senders=trusted, clock=lambda: NOW).open(push.json)
        self.assertEqual(opened.signed_by, SENDER.kid)
        revoking = accepted(signed(SENDER, OTHER_SENDER, revoked=(SENDER,), seq=6), trusted.state)
        with self.assertRaises(OpenError) as caught:
            Opener(TOPIC, phone, senders=revoking, clock=lambda: NOW).open(push.json)
        self.assertEqual(caught.exception.code, "keyRevoked")


if __name__ == "__main__":
    unittest.main()
