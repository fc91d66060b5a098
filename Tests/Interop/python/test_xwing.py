"""Tests of suite 3, X-Wing, against the draft's vectors and the HPKE of pyca/cryptography: python -m unittest test_xwing"""
from __future__ import annotations

import json
import os
import unittest
from typing import Any
from unittest import mock

from cryptography.exceptions import InvalidTag

from pushcrypt import (
    KeyRecordError, Keyset, OpenError, Opener, Placeholder, Push, Recipient, RecipientKey, Sealer, SenderKey, _hpke, _keys, _xwing,
    pinned,
)
from pushcrypt._json import b64, unb64

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
FETCHED = os.path.join(ROOT, ".build", "vectors")
FOLDER = os.environ.get("PUSHCRYPT_VECTORS") or (
    FETCHED if os.path.exists(FETCHED) else os.path.join(ROOT, "..", "shared", "vectors"))
VECTORS = os.path.join(FOLDER, "xwing", "xwing-kem.json")
TOPIC, NOW = "com.example.app", 1_800_000_000
SENDER = SenderKey.generate()

try:
    _xwing.require_mlkem()
    MISSING = None
except KeyRecordError as error:
    MISSING = error.reason


class WithoutMLKEMTests(unittest.TestCase):
    """What an older cryptography does."""

    def test_a_record_of_suite_3_is_refused_with_what_is_needed(self) -> None:
        record = {"kty": "AKP", "alg": "pushcrypt-3", "pub": b64(bytes(1_216)), "kid": b64(bytes(8))}
        with mock.patch.object(_xwing, "_IS_IMPORTED", False):
            for call in (lambda: RecipientKey.generate(3), lambda: Recipient.from_jwk(record)):
                with self.assertRaises(KeyRecordError) as caught:
                    call()
                self.assertEqual(caught.exception.code, "unsupportedSuite")
                self.assertIn("version 48", caught.exception.reason)


@unittest.skipIf(MISSING is not None, MISSING)
class XWingTests(unittest.TestCase):
    def seal(self, key: RecipientKey, signer: SenderKey | None = SENDER, body: str = "b") -> Push:
        sealer = Sealer(TOPIC, signer=signer, clock=lambda: NOW)
        return sealer.seal({"aps": {"alert": {"title": "t", "body": body}}}, to=Recipient.from_jwk(key.registration_record()),
                           placeholder=Placeholder(title="New message"))

    def open(self, push: bytes, key: RecipientKey, senders: Any) -> Any:
        return Opener(TOPIC, key, senders=senders, clock=lambda: NOW).open(push).payload

    @unittest.skipUnless(os.path.exists(VECTORS), "the public vectors aren't here: scripts/vectors fetches them")
    def test_it_agrees_with_the_vectors_of_the_draft(self) -> None:
        with open(VECTORS, encoding="utf-8") as file:
            vectors = json.load(file)
        self.assertEqual(len(vectors), 3)
        for vector in vectors:
            private = _xwing.XWingPrivateKey(bytes.fromhex(vector["sk"]))
            self.assertEqual(private.public_bytes().hex(), vector["pk"])
            self.assertEqual(private.decapsulate(bytes.fromhex(vector["ct"])).hex(), vector["ss"])

    def test_the_hpke_of_cryptography_opens_its_messages_and_the_reverse(self) -> None:
        from cryptography.hazmat.primitives import hpke

        peer = hpke.Suite(hpke.KEM.MLKEM768_X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_256_GCM)
        key = _keys.generate("xwing")
        private, public = key.private_object, key.public_object
        assert isinstance(private, _xwing.XWingPrivateKey) and isinstance(public, _xwing.XWingPublicKey)
        peer_private = hpke.MLKEM768X25519PrivateKey(private._mlkem, private._x25519)
        peer_public = hpke.MLKEM768X25519PublicKey(public._mlkem, public._x25519)
        for size in (0, 1, 255, 2_000):
            message, info = os.urandom(size), os.urandom(size % 99)
            sealed = _hpke.seal(_hpke.XWING_AES256, public, key.public, info, message)
            self.assertEqual(len(sealed), 1_120 + size + 16)
            self.assertEqual(peer.decrypt(sealed, peer_private, info=info), message)
            sealed = peer.encrypt(message, peer_public, info=info)
            self.assertEqual(_hpke.open_(_hpke.XWING_AES256, private, key.public, info, sealed), message)

    def test_a_sealed_push_opens_with_and_without_psk_and_signature(self) -> None:
        for psk in (False, True):
            for signer, senders in ((SENDER, pinned(SENDER.public_jwk())), (None, None)):
                with self.subTest(psk=psk, signed=signer is not None):
                    key = RecipientKey.generate(3, psk=psk)
                    push = self.seal(key, signer)
                    again = RecipientKey.from_jwk(json.dumps(key.private_jwk()))
                    self.assertEqual(self.open(push.json, again, senders)["aps"]["alert"], {"title": "t", "body": "b"})
                    with self.assertRaises(OpenError) as caught:
                        self.open(push.json, RecipientKey.generate(3), senders)
                    self.assertEqual(caught.exception.code, "unknownKey")

    def test_every_changed_or_cut_message_fails_alike(self) -> None:
        key = _keys.generate("xwing")
        private, public = key.private_object, key.public_object
        sealed = _hpke.seal(_hpke.XWING_AES256, public, key.public, b"", b"x")
        for at in range(0, len(sealed) * 8, 7):
            changed = bytearray(sealed)
            changed[at // 8] ^= 1 << at % 8
            with self.assertRaises((InvalidTag, ValueError)):
                _hpke.open_(_hpke.XWING_AES256, private, key.public, b"", bytes(changed))
        for cut in (*range(0, len(sealed), 100), len(sealed) - 1):
            with self.assertRaises((InvalidTag, ValueError)):
                _hpke.open_(_hpke.XWING_AES256, private, key.public, b"", sealed[:cut])

    def test_a_record_has_the_members_of_the_protocol_and_a_wrong_one_is_refused(self) -> None:
        record = RecipientKey.generate(3).private_jwk()
        self.assertEqual(set(record), {"kty", "pub", "priv", "alg", "kid", "psk"})
        public = unb64(record["pub"])
        for code, changes in (
            ("unsupportedKey", {"alg": "HPKE-7"}), ("unsupportedKey", {"kty": "OKP"}), ("malformed", {"pub": b64(public[1:])}),
            ("malformed", {"priv": b64(bytes(31))}), ("kidMismatch", {"kid": b64(bytes(8))}),
            ("invalidKey", {"priv": b64(bytes(32))}),
            ("invalidKey", {"pub": b64(b"\xff" * 3 + public[3:])}),  # a coefficient of 4,095
            ("invalidKey", {"pub": b64(public[:1_184] + bytes(32))}),  # a point of small order
            ("invalidKey", {"pub": b64(public[:1_184] + b"\xff" * 32)}),  # not canonical
        ):
            with self.subTest(changes=list(changes)), self.assertRaises(KeyRecordError) as caught:
                RecipientKey.from_jwk({**record, **changes})
            self.assertEqual(caught.exception.code, code)

    def test_a_set_whose_newest_key_ranks_below_an_older_one_is_refused_unless_it_is_allowed(self) -> None:
        high, low = RecipientKey.generate(3, psk=False), RecipientKey.generate(1, psk=False)

        def published(*keys: tuple[RecipientKey, str]) -> Keyset:
            return Keyset.from_json({"keys": [key.registration_record() for key, _ in keys], "pushcrypt": {
                "seq": 1, "keys": {key.kid: {"activatesAt": time} for key, time in keys}}})

        lower = published((high, "2026-01-01T00:00:00Z"), (low, "2026-06-01T00:00:00Z"))
        # Also before the newest key seals.
        for at in (NOW, NOW - 300 * 86_400):
            with self.assertRaises(KeyRecordError) as caught:
                Recipient.from_keyset(lower, at=at)
            self.assertEqual(caught.exception.code, "suiteTooLow")
        self.assertEqual(Recipient.from_keyset(lower, at=NOW, allows_lower_suite=True).kid, low.kid)
        higher = published((low, "2026-01-01T00:00:00Z"), (high, "2026-06-01T00:00:00Z"))
        self.assertEqual(Recipient.from_keyset(higher, at=NOW).kid, high.kid)

    def test_the_private_key_isn_t_in_the_registration_record_and_no_text_shows_it(self) -> None:
        key = RecipientKey.generate(3)
        secrets = [key.private_jwk()["priv"], key.private_jwk()["psk"]]
        self.assertNotIn("priv", key.registration_record())
        for text in (repr(key), repr(key._key)):
            for secret in secrets:
                self.assertNotIn(secret, text)
        with self.assertRaises(KeyRecordError) as caught:
            Recipient.from_jwk(key.private_jwk())
        self.assertEqual(caught.exception.code, "wrongKind")


if __name__ == "__main__":
    unittest.main()
