"""Tests of HPKE against the vectors of RFC 9180 and against pyhpke: python -m unittest test_hpke"""
from __future__ import annotations

import json
import os
import unittest
from typing import Any, Iterator

from cryptography.exceptions import InvalidTag
from pyhpke import AEADId, CipherSuite, KDFId, KEMId, KEMKey

from pushcrypt import _hpke
from pushcrypt._hpke import P256_AES256, X25519_AES128, Suite
from pushcrypt._points import dh_private, dh_public, public_of

HERE = os.path.dirname(os.path.abspath(__file__))
RFC = os.path.join(HERE, "..", "..", "..", "Conformance", "vectors", "rfc9180-appendix-a.json")
#: All vectors of the draft for these algorithms, if they are there (CONTRIBUTING.md).
ROOT = os.path.join(HERE, "..", "..", "..")
FETCHED = os.path.join(ROOT, ".build", "vectors")
FOLDER = os.environ.get("PUSHCRYPT_VECTORS") or (
    FETCHED if os.path.exists(FETCHED) else os.path.join(ROOT, "..", "shared", "vectors"))
DRAFT = os.path.join(FOLDER, "hpke", "test-vectors-trimmed.json")
SUITES = {(16, 1): Suite("p256", 16, 1, 16, 65), (16, 2): P256_AES256, (32, 1): X25519_AES128,
          (32, 2): Suite("x25519", 32, 2, 32, 32)}
PEERS = {P256_AES256: (KEMId.DHKEM_P256_HKDF_SHA256, AEADId.AES256_GCM),
         X25519_AES128: (KEMId.DHKEM_X25519_HKDF_SHA256, AEADId.AES128_GCM)}


def vectors(path: str) -> Iterator[tuple[Suite, dict[str, Any]]]:
    """Those of the modes Base and PSK with AES-GCM."""
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    for vector in found:
        suite = SUITES.get((vector["kem_id"], vector["aead_id"]))
        if suite is not None and vector["kdf_id"] == 1 and vector["mode"] in (0, 1):
            yield suite, vector


def data(vector: dict[str, Any], name: str) -> bytes:
    return bytes.fromhex(vector.get(name, ""))


class PublishedVectorTests(unittest.TestCase):
    def check(self, suite: Suite, vector: dict[str, Any]) -> None:
        private, public_bytes = dh_private(suite.kind, data(vector, "skRm")), data(vector, "pkRm")
        public, ephemeral = dh_public(suite.kind, public_bytes), dh_private(suite.kind, data(vector, "skEm"))
        expected = data(vector, "shared_secret")
        self.assertEqual(_hpke.encap(suite, public, public_bytes, ephemeral), (expected, data(vector, "enc")))
        self.assertEqual(_hpke.decap(suite, data(vector, "enc"), private, public_bytes), expected)
        psk = data(vector, "psk"), data(vector, "psk_id")
        self.assertEqual(_hpke.key_schedule(suite, expected, data(vector, "info"), *psk),
                         (data(vector, "key"), data(vector, "base_nonce")))
        first = vector["encryptions"][0]
        sealed, aad = data(vector, "enc") + data(first, "ct"), data(first, "aad")
        self.assertEqual(_hpke.seal(suite, public, public_bytes, data(vector, "info"), data(first, "pt"), *psk, aad, ephemeral),
                         sealed)
        self.assertEqual(_hpke.open_(suite, private, public_bytes, data(vector, "info"), sealed, *psk, aad), data(first, "pt"))

    def test_it_agrees_with_the_vectors_of_the_rfc(self) -> None:
        sections = []
        for suite, vector in vectors(RFC):
            with self.subTest(vector["section"]):
                self.check(suite, vector)
                sections.append(vector["section"])
        self.assertEqual(sections, ["A.1.1", "A.1.2", "A.3.1", "A.3.2"])

    @unittest.skipUnless(os.path.exists(DRAFT), "the public vectors aren't here: scripts/vectors fetches them")
    def test_it_agrees_with_the_vectors_of_the_draft_in_both_suites_of_the_protocol(self) -> None:
        found = list(vectors(DRAFT))
        for suite, vector in found:
            with self.subTest(suite=suite, mode=vector["mode"]):
                self.check(suite, vector)
        self.assertEqual(sum(suite in PEERS for suite, _ in found), 4)


class PeerTests(unittest.TestCase):
    """pyhpke is an independent implementation."""

    def setUp(self) -> None:
        self.cases = [(suite, psk) for suite in PEERS for psk in ((b"", b""), (bytes(range(32)), b"AAAAAAAAAAA"))]

    def peer(self, suite: Suite) -> Any:
        kem, aead = PEERS[suite]
        return CipherSuite.new(kem, KDFId.HKDF_SHA256, aead)

    def test_pyhpke_opens_what_the_package_seals(self) -> None:
        for suite, (psk, psk_id) in self.cases:
            private = _hpke.generate(suite.kind)
            public = private.public_key()
            sealed = _hpke.seal(suite, public, _hpke.serialised(suite.kind, public), b"info", b"hello", psk, psk_id)
            enc, ct = sealed[:suite.enc_size], sealed[suite.enc_size:]
            peer = self.peer(suite).create_recipient_context(
                enc, KEMKey.from_pyca_cryptography_key(private), info=b"info", psk=psk, psk_id=psk_id)
            self.assertEqual(peer.open(ct, aad=b""), b"hello")

    def test_the_package_opens_what_pyhpke_seals_and_nothing_that_was_changed(self) -> None:
        for suite, (psk, psk_id) in self.cases:
            private = _hpke.generate(suite.kind)
            public = private.public_key()
            enc, peer = self.peer(suite).create_sender_context(
                KEMKey.from_pyca_cryptography_key(public), info=b"info", psk=psk, psk_id=psk_id)
            sealed, own = enc + peer.seal(b"hello", aad=b""), _hpke.serialised(suite.kind, public)
            self.assertEqual(_hpke.open_(suite, private, own, b"info", sealed, psk, psk_id), b"hello")
            for at in range(len(sealed)):
                changed = sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1:]
                with self.assertRaises((ValueError, InvalidTag), msg=f"byte {at}"):
                    _hpke.open_(suite, private, own, b"info", changed, psk, psk_id)

    def test_a_psk_without_its_id_and_an_id_without_a_psk_are_refused(self) -> None:
        for psk in ((bytes(32), b""), (b"", b"id")):
            with self.assertRaises(ValueError):
                _hpke.key_schedule(X25519_AES128, bytes(32), b"", *psk)

    def test_two_messages_never_have_the_same_ephemeral_key(self) -> None:
        for suite in PEERS:
            public = _hpke.generate(suite.kind).public_key()
            sealed = {_hpke.seal(suite, public, _hpke.serialised(suite.kind, public), b"", b"x")[:suite.enc_size] for _ in range(50)}
            self.assertEqual(len(sealed), 50)


class PointTests(unittest.TestCase):
    def test_a_compressed_point_is_refused(self) -> None:
        point = public_of("p256", bytes(31) + b"\x07")
        for changed in (bytes([2 + point[64] % 2]) + point[1:33], b"\x06" + point[1:], b"\x00" * 65, b""):
            with self.assertRaises(ValueError):
                dh_public("p256", changed)


if __name__ == "__main__":
    unittest.main()
