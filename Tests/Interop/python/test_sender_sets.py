"""Tests of signed sender sets: python -m unittest test_sender_sets"""
from __future__ import annotations

import json
import os
import unittest
from dataclasses import replace
from typing import Any, Callable, Optional

import keysets
import pushcrypt_reference as pc
import sender_sets
from sender_sets import Pins, Publication, State
from strict_json import Refusal, b64, unb64

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Vectors", "sender-sets-v1.json")
TOPIC, NOW, DAY = "com.example.app", 1_800_000_000, 86_400


def key(number: int, role: Optional[str] = None) -> pc.Key:
    """An Ed25519 key of 32 equal bytes."""
    secret = bytes([number]) * 32
    public = pc.public_of("ed25519", secret)
    return pc.Key("ed25519", pc.key_id("ed25519", public, secret), public, secret, role=role)


PUBLISHER, NEXT_PUBLISHER, STRANGER = (key(number, "publisher") for number in (1, 2, 3))
SENDER, OTHER_SENDER = key(11), key(12)
PINS = Pins([PUBLISHER, NEXT_PUBLISHER], bytes(16), 1)
PUBLICATION = Publication(bytes(16), [TOPIC, "com.example.other"], 1, 5, NOW, NOW + 60 * DAY)


def published(*senders: pc.Key, revoked: tuple[pc.Key, ...] = (), **times: str) -> bytes:
    """A published set."""
    lives = {sender.kid: {"activatesAt": "2027-01-01T00:00:00Z", **times,
                          **({"revokedAt": "2027-01-02T00:00:00Z"} if sender in revoked else {})} for sender in senders}
    return json.dumps({"keys": [sender.record(private=False) for sender in senders],
                       "pushcrypt": {"seq": 1, "keys": lives}}).encode()


def signed(*senders: pc.Key, by: tuple[pc.Key, ...] = (PUBLISHER,), revoked: tuple[pc.Key, ...] = (),
           **changes: Any) -> bytes:
    return sender_sets.sign(published(*(senders or (SENDER,)), revoked=revoked), replace(PUBLICATION, **changes), list(by))


def verified(document: bytes) -> sender_sets.SenderSet:
    return sender_sets.verify(document, PINS.publishers)


class VectorTests(unittest.TestCase):
    def setUp(self) -> None:
        with open(VECTORS, encoding="utf-8") as file:
            self.vectors = json.load(file)

    def test_pins(self) -> None:
        for entry in self.vectors["pins"]:
            with self.subTest(entry["name"]):
                self.assertEqual(outcome(lambda: sender_sets.read_pins(entry["text"].encode()))[1], entry["failure"])

    def test_documents(self) -> None:
        for entry in self.vectors["cases"]:
            with self.subTest(entry["name"]):
                pins = self.vectors["sets"][entry["pins"]].encode()
                document = unb64(entry["document"]) + b" " * entry.get("padding", 0)
                state, failure = outcome(
                    lambda: sender_sets.accept(pins, entry["topic"], document, entry["stored"], entry["now"]))
                self.assertEqual((state, failure), (entry.get("state"), entry["failure"]))


def outcome(body: Callable[[], Any]) -> tuple[Any, Optional[str]]:
    """The result, or the code of the refusal."""
    try:
        return body(), None
    except Refusal as refusal:
        return None, refusal.code


class SenderSetTests(unittest.TestCase):
    def expect(self, code: str, body: Callable[[], Any]) -> None:
        with self.assertRaises(Refusal) as caught:
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
            self.assertEqual(offered.signers, [one.kid for one in by if one is not STRANGER])

    def test_a_document_without_a_pinned_publisher_is_refused(self) -> None:
        self.expect("notSigned", lambda: verified(signed(by=(STRANGER,))))

    def test_one_valid_signature_among_foreign_entries_accepts(self) -> None:
        document = json.loads(signed())
        foreign = [None, 1, {}, {"protected": "AA", "signature": "AA", "header": {}}, {"protected": "!", "signature": ""},
                   *json.loads(signed(by=(STRANGER,)))["signatures"]]
        document["signatures"] = foreign + document["signatures"]
        self.assertEqual(verified(json.dumps(document).encode()).signers, [PUBLISHER.kid])

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
                            ("seq", "1"), ("issuedAt", "now"), ("validUntil", sender_sets.time(NOW)),
                            ("validUntil", sender_sets.time(NOW + 90 * DAY + 1))):
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
        self.expect("wrongKind", lambda: keysets.senders(json.dumps(PUBLISHER.record(private=False)).encode()))
        self.expect("wrongKind", lambda: keysets.signer(json.dumps(PUBLISHER.record()).encode()))
        record = SENDER.record(private=False)
        self.expect("wrongKind", lambda: sender_sets.read_pins(json.dumps(
            {"publishers": [record], "set": b64(bytes(16)), "epoch": 1}).encode()))

    def test_pins(self) -> None:
        records = [one.record(private=False) for one in (PUBLISHER, NEXT_PUBLISHER)]
        pins = {"publishers": records, "set": b64(bytes(16)), "epoch": 1}
        read = sender_sets.read_pins(json.dumps(pins).encode())
        self.assertEqual([one.kid for one in read.publishers], [PUBLISHER.kid, NEXT_PUBLISHER.kid])
        for name, value, code in (
                ("publishers", [], "malformed"), ("publishers", records * 3, "tooLarge"), ("set", "AA", "malformed"),
                ("publishers", records[:1] * 2, "duplicateKey"), ("publishers", [PUBLISHER.record()], "wrongKind"),
                ("epoch", -1, "malformed"), ("epoch", True, "malformed"), ("more", 1, "malformed")):
            self.expect(code, lambda: sender_sets.read_pins(json.dumps({**pins, name: value}).encode()))

    def test_accepting(self) -> None:
        first = sender_sets.accept_verified(PINS, TOPIC, None, verified(signed()), NOW)
        self.assertEqual((first.epoch, first.seq), (1, 5))
        again = sender_sets.accept_verified(PINS, TOPIC, first, verified(signed(by=(NEXT_PUBLISHER,))), NOW)
        self.assertEqual(again, first)
        newer = sender_sets.accept_verified(PINS, TOPIC, first, verified(signed(seq=6)), NOW)
        self.assertEqual(newer.seq, 6)
        for code, document, stored, at in (
                ("rolledBack", signed(seq=4), first, NOW), ("conflict", signed(OTHER_SENDER), first, NOW),
                ("otherSet", signed(set=bytes(15) + b"a"), None, NOW), ("otherTopic", signed(topics=["com.example"]), None, NOW),
                ("otherEpoch", signed(epoch=2), None, NOW), ("otherEpoch", signed(epoch=0), None, NOW),
                ("expired", signed(), None, NOW + 60 * DAY)):
            self.expect(code, lambda: sender_sets.accept_verified(PINS, TOPIC, stored, verified(document), at))
        sender_sets.accept_verified(PINS, TOPIC, None, verified(signed()), NOW + 60 * DAY - 1)

    def test_an_earlier_epoch_counts_for_nothing(self) -> None:
        stolen = sender_sets.accept_verified(PINS, TOPIC, None, verified(signed(seq=2**53 - 1)), NOW)
        update = replace(PINS, publishers=[NEXT_PUBLISHER], epoch=2)
        document = signed(seq=1, epoch=2, by=(NEXT_PUBLISHER,))
        state = sender_sets.accept_verified(update, TOPIC, stolen, sender_sets.verify(document, update.publishers), NOW)
        self.assertEqual((state.epoch, state.seq), (2, 1))

    def test_revocation_is_final(self) -> None:
        before = verified(signed(SENDER, OTHER_SENDER))
        state = sender_sets.accept_verified(PINS, TOPIC, None, before, NOW)
        self.assertEqual(sender_sets.trusted(state, before, SENDER.kid, NOW).kid, SENDER.kid)
        revoking = verified(signed(SENDER, OTHER_SENDER, revoked=(SENDER,), seq=6))
        state = sender_sets.accept_verified(PINS, TOPIC, state, revoking, NOW)
        for offered, seq in ((None, 6), (signed(OTHER_SENDER, seq=7), 7), (signed(SENDER, OTHER_SENDER, seq=8), 8)):
            current = verified(offered) if offered else revoking
            if offered:
                state = sender_sets.accept_verified(PINS, TOPIC, state, current, NOW)
            code = "keyRevoked" if seq != 7 else "unknownKey"
            self.expect(code, lambda: sender_sets.trusted(state, current, SENDER.kid, NOW - 400 * DAY))
            self.assertEqual(sender_sets.trusted(state, current, OTHER_SENDER.kid, NOW).kid, OTHER_SENDER.kid)

    def test_keys_are_judged_no_earlier_than_the_set(self) -> None:
        document = sender_sets.sign(published(SENDER, expiresAt=sender_sets.time(NOW + DAY)), PUBLICATION, [PUBLISHER])
        accepted = verified(document)
        state = sender_sets.accept_verified(PINS, TOPIC, None, accepted, NOW)
        self.assertEqual(sender_sets.trusted(state, accepted, SENDER.kid, NOW - DAY).kid, SENDER.kid)
        self.expect("keyExpired", lambda: sender_sets.trusted(state, accepted, SENDER.kid, NOW + DAY))
        self.expect("keyExpired", lambda: sender_sets.trusted(state, accepted, SENDER.kid, 0, NOW + DAY + 600))
        sender_sets.trusted(state, accepted, SENDER.kid, 0, NOW + DAY + 599)

    def test_an_expired_set_verifies_nothing(self) -> None:
        accepted = verified(signed())
        state = sender_sets.accept_verified(PINS, TOPIC, None, accepted, NOW)
        end = NOW + 60 * DAY
        sender_sets.trusted(state, accepted, SENDER.kid, end - 1)
        self.expect("keyExpired", lambda: sender_sets.trusted(state, accepted, SENDER.kid, end))
        sender_sets.trusted(state, accepted, SENDER.kid, end, grace=DAY)
        self.expect("keyExpired", lambda: sender_sets.trusted(state, accepted, SENDER.kid, end + DAY, grace=DAY))


if __name__ == "__main__":
    unittest.main()
