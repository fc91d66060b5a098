"""Tests of keysets at rest: python -m unittest test_keyset_at_rest"""
from __future__ import annotations

import json
import os
import unittest

import support
from pushcrypt import Keyset, KeyRecordError, SenderKey, _keys

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Vectors", "keyset-at-rest-v1.json")
REFUSED = VECTORS.replace("keyset-at-rest-v1", "keyset-at-rest-refused-v1")
KEYS = [_keys.Key("oct", _keys.key_id("oct", b"", bytes(32)), b"", bytes(32)).record()]
METADATA = '{ "seq" : 1, "x": "}\\"", "keys": {"%s": {"suite": "shared"}} }' % KEYS[0]["kid"]


class KeysetAtRest(unittest.TestCase):
    def refusal(self, text: str, passphrase: str) -> str:
        with self.assertRaises(KeyRecordError) as caught:
            support.open_keyset(text, passphrase)
        return caught.exception.code

    def test_vectors(self) -> None:
        with open(VECTORS, encoding="utf-8") as file:
            vectors = json.load(file)
        self.assertEqual([entry["by"] for entry in vectors["keysets"]], ["Swift", "Python"])
        for entry in vectors["keysets"]:
            self.assertEqual(support.open_keyset(entry["text"], vectors["passphrase"]), vectors["keys"])
            self.assertEqual(self.refusal(entry["text"], vectors["passphrase"] + "\n"), "wrongSecret")
            changed = entry["text"].replace('"seq": 4', '"seq": 5')
            self.assertEqual(self.refusal(changed, vectors["passphrase"]), "damaged")

    def test_refused_vectors(self) -> None:
        with open(REFUSED, encoding="utf-8") as file:
            vectors = json.load(file)
        for entry in vectors["vectors"]:
            with self.subTest(entry["name"]):
                if entry["failure"] is None:
                    self.assertEqual(support.open_keyset(entry["text"], vectors["passphrase"]), vectors["keys"])
                else:
                    self.assertEqual(self.refusal(entry["text"], vectors["passphrase"]), entry["failure"])

    def test_a_keyset_with_several_secrets_opens_with_each_passphrase(self) -> None:
        with open(VECTORS.replace("-v1", "-v2"), encoding="utf-8") as file:
            vector = json.load(file)
        text = vector["text"]
        for passphrase in vector["passphrases"]:
            self.assertEqual(support.open_keyset(text, passphrase), vector["keys"])
        self.assertEqual(self.refusal(text, "x"), "wrongSecret")
        passphrase = vector["passphrases"][0]
        for old, new in [('"seq": 3', '"seq": 4'), ('"second"', '"third"')]:
            start = text.rindex(",\n  \"digest\"")
            changed = text[:start].replace(old, new) + "\n}"
            self.assertEqual(self.refusal(changed, passphrase), "damaged")
        for old, new in [('"v": 2', '"v": 3'), ('"second"', '"first"'), ('"second"', '"a b"'), ('"command": true', '"command": 1')]:
            changed = text[:text.rindex(",\n  \"digest\"")].replace(old, new) + "\n}"
            self.assertEqual(self.refusal(changed, passphrase), "malformed")

    def test_a_backend_signs_with_the_primary_key_of_its_encrypted_keyset(self) -> None:
        key = _keys.generate("ed25519")
        metadata = {"seq": 1, "updatedAt": "2027-01-01T00:00:00Z", "keys": {
            key.kid: {"suite": "ed25519", "activatesAt": "2027-01-01T00:00:00Z", "retiresAt": "2027-02-01T00:00:00Z"}}}
        keyset = Keyset.from_encrypted(support.seal_keyset(json.dumps(metadata), [key.record()], "x", 16, 1, 1), "x")
        self.assertEqual(SenderKey.from_keyset(keyset, at=1_800_000_000).kid, key.kid)
        with self.assertRaises(KeyRecordError) as caught:
            SenderKey.from_keyset(keyset, at=1_900_000_000)
        self.assertEqual(caught.exception.code, "noKeySeals")

    def test_round_trip_and_changes(self) -> None:
        text = support.seal_keyset(METADATA, KEYS, "x", 16, 1, 1)
        self.assertEqual(support.open_keyset(text, "x"), KEYS)
        self.assertEqual(self.refusal(text, "y"), "wrongSecret")
        root = json.loads(text)
        sealed = root["sealed"]
        for part, code in [("dataKey", "damaged"), ("keys", "damaged"), ("salt", "wrongSecret"), ("check", "wrongSecret")]:
            value = sealed.get(part) or sealed["passphrase"][part]
            other = ("A" if value[0] != "A" else "B") + value[1:]
            self.assertEqual(self.refusal(text.replace(value, other), "x"), code, part)


if __name__ == "__main__":
    unittest.main()
