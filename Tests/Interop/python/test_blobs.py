"""Tests of blobs and of references: python -m unittest test_blobs"""
from __future__ import annotations

import json
import os
import unittest
from typing import Any

import blobs
import pushcrypt_reference as pc
from strict_json import Refusal, b64, parse, unb64

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Vectors", "blobs-v1.json")
KEY = bytes(range(32))
NOW = 1_800_000_000


def pattern(count: int) -> bytes:
    return bytes((i * 167 + (i >> 8) * 13 + count) & 255 for i in range(count))


class Blobs(unittest.TestCase):
    def refused(self, ref: dict[str, Any], blob: bytes, purpose: str = "attachment") -> None:
        with self.assertRaises(Refusal) as caught:
            blobs.open_blob(ref, purpose, blob)
        self.assertEqual(caught.exception.code, "undecryptable")

    def own(self, ref: dict[str, Any], blob: bytes, **members: Any) -> dict[str, Any]:
        return {**ref, **blobs.reference(KEY, b"", blob), "size": ref["size"], **members}

    def test_round_trip_and_length(self) -> None:
        for size in (0, 1, 65_535, 65_536, 65_537, 131_072, 131_073):
            plaintext = pattern(size)
            blob = blobs.seal_blob(KEY, "payload", plaintext)
            self.assertEqual(len(blob), 4 + size + 16 * max(1, -(-size // 65_536)))
            ref = blobs.reference(KEY, plaintext, blob)
            self.assertEqual(blobs.open_blob(ref, "payload", blob), plaintext)
            self.refused(ref, blob)

    def test_changes(self) -> None:
        plaintext = pattern(2 * blobs.CHUNK + 5)
        blob = blobs.seal_blob(KEY, "attachment", plaintext)
        ref, step = blobs.reference(KEY, plaintext, blob), blobs.CHUNK + blobs.TAG
        first, second, third = blob[4:4 + step], blob[4 + step:4 + 2 * step], blob[4 + 2 * step:]
        for changed in (b"", blob[:3], blob[:4], blob[:4 + step], blob[:4 + 2 * step], blob[:-1], blob + b"\0",
                        blob[:4] + second + first + third, blob[:4] + first + third, b"PCB2" + blob[4:],
                        blob[:100] + bytes([blob[100] ^ 1]) + blob[101:], blob[:-1] + bytes([blob[-1] ^ 1])):
            self.refused(ref, changed)
            self.refused(self.own(ref, changed), changed)
        for size in (0, ref["size"] - 1, ref["size"] + 1):
            self.refused({**ref, "size": size}, blob)
        self.refused({**ref, "sha256": b64(bytes(32))}, blob)
        self.refused({**ref, "key": b64(bytes(32))}, blob)

    def test_vectors(self) -> None:
        with open(VECTORS, encoding="utf-8") as file:
            vectors = json.load(file)
        for vector in vectors["blobs"]:
            plaintext = pattern(vector["size"])
            blob = blobs.seal_blob(unb64(vector["key"]), vector["purpose"], plaintext)
            self.assertEqual(b64(blob), vector.get("blob", b64(blob)))
            self.assertEqual(blobs.open_blob(vector, vector["purpose"], blob), plaintext)
        for vector in vectors["refused"]:
            blob = unb64(vector["blob"]) if vector["blob"] else b""
            self.refused(vector, blob, vector["purpose"])

    def test_headers_of_the_vectors(self) -> None:
        with open(VECTORS, encoding="utf-8") as file:
            vectors = json.load(file)
        for vector in vectors["headers"]:
            header, _ = parse(vector["header"].encode())
            if vector["valid"]:
                blobs.check_extras(header)
                continue
            with self.assertRaises(Refusal, msg=vector["name"]) as caught:
                blobs.check_extras(header)
            self.assertEqual(caught.exception.code, "malformed")

    def test_sealed_extras(self) -> None:
        key = pc.generate("x25519")
        blob = blobs.seal_blob(KEY, "attachment", b"x")
        attachment = {"url": "https://a.b/c", **blobs.reference(KEY, b"x", blob), "type": "text/plain"}
        for extras in ({}, {"test": True}, {"attachments": [attachment], "test": True}):
            payload = pc.seal(key, "a.b", '{"aps":{"alert":"x"}}', {"title": "t"}, NOW, extras=extras)
            self.assertEqual(pc.open_payload(payload, [key], "a.b", NOW).extras, extras)
        payload = pc.seal(key, "a.b", '{"aps":{"alert":"x"}}', {"title": "t"}, NOW, extras={"attachments": []})
        with self.assertRaises(Refusal):
            pc.open_payload(payload, [key], "a.b", NOW)


if __name__ == "__main__":
    unittest.main()
