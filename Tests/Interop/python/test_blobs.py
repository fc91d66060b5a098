"""Tests of blobs and of references: python -m unittest test_blobs"""
from __future__ import annotations

import json
import os
import unittest
from dataclasses import replace

import support
from pushcrypt import OpenError, SealError, _keys, blobs
from pushcrypt._json import b64, parse, unb64
from pushcrypt._message import check_extras
from pushcrypt.errors import Flaw

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "Conformance", "vectors", "blobs-v1.json")
KEY = bytes(range(32))
NOW = 1_800_000_000


PURPOSES = {"attachment": blobs.ATTACHMENT, "payload": blobs.PAYLOAD}


def pattern(count: int) -> bytes:
    return bytes((i * 167 + (i >> 8) * 13 + count) & 255 for i in range(count))


class Blobs(unittest.TestCase):
    def refused(self, ref: blobs.Reference, blob: bytes, purpose: int = blobs.ATTACHMENT) -> None:
        with self.assertRaises(OpenError) as caught:
            blobs.open_blob(ref, purpose, blob)
        self.assertEqual(caught.exception.code, "undecryptable")

    def own(self, ref: blobs.Reference, blob: bytes) -> blobs.Reference:
        return replace(ref, sha256=support.reference(KEY, b"", blob).sha256)

    def test_round_trip_and_length(self) -> None:
        for size in (0, 1, 65_535, 65_536, 65_537, 131_072, 131_073):
            plaintext = pattern(size)
            blob = blobs.seal_blob(KEY, blobs.PAYLOAD, plaintext)
            self.assertEqual(len(blob), 4 + size + 16 * max(1, -(-size // 65_536)))
            ref = support.reference(KEY, plaintext, blob)
            self.assertEqual(blobs.open_blob(ref, blobs.PAYLOAD, blob), plaintext)
            self.refused(ref, blob)

    def test_changes(self) -> None:
        plaintext = pattern(2 * blobs.CHUNK + 5)
        blob = blobs.seal_blob(KEY, blobs.ATTACHMENT, plaintext)
        ref, step = support.reference(KEY, plaintext, blob), blobs.CHUNK + blobs.TAG
        first, second, third = blob[4:4 + step], blob[4 + step:4 + 2 * step], blob[4 + 2 * step:]
        for changed in (b"", blob[:3], blob[:4], blob[:4 + step], blob[:4 + 2 * step], blob[:-1], blob + b"\0",
                        blob[:4] + second + first + third, blob[:4] + first + third, b"PCB2" + blob[4:],
                        blob[:100] + bytes([blob[100] ^ 1]) + blob[101:], blob[:-1] + bytes([blob[-1] ^ 1])):
            self.refused(ref, changed)
            self.refused(self.own(ref, changed), changed)
        for size in (0, ref.size - 1, ref.size + 1):
            self.refused(replace(ref, size=size), blob)
        self.refused(replace(ref, sha256=bytes(32)), blob)
        self.refused(replace(ref, key=bytes(32)), blob)

    def test_vectors(self) -> None:
        with open(VECTORS, encoding="utf-8") as file:
            vectors = json.load(file)
        for vector in vectors["blobs"]:
            plaintext = pattern(vector["size"])
            blob = blobs.seal_blob(unb64(vector["key"]), PURPOSES[vector["purpose"]], plaintext)
            self.assertEqual(b64(blob), vector.get("blob", b64(blob)))
            self.assertEqual(blobs.open_blob(blobs.Offload.from_members(vector), PURPOSES[vector["purpose"]], blob), plaintext)
        for vector in vectors["refused"]:
            blob = unb64(vector["blob"]) if vector["blob"] else b""
            self.refused(blobs.Offload.from_members(vector), blob, PURPOSES[vector["purpose"]])

    def test_headers_of_the_vectors(self) -> None:
        with open(VECTORS, encoding="utf-8") as file:
            vectors = json.load(file)
        for vector in vectors["headers"]:
            header, _ = parse(vector["header"].encode())
            if vector["valid"]:
                check_extras(header)
                continue
            with self.assertRaises(Flaw, msg=vector["name"]):
                check_extras(header)

    def test_payloads_of_the_vectors(self) -> None:
        with open(VECTORS, encoding="utf-8") as file:
            vectors = json.load(file)
        for vector in vectors["payloads"]:
            plaintext = (vector["start"] + vector["repeated"] * vector["count"] + vector["end"]).encode()
            with self.subTest(vector["name"]):
                if vector["valid"]:
                    blobs.offloaded_payload(plaintext)
                    continue
                with self.assertRaises(OpenError) as caught:
                    blobs.offloaded_payload(plaintext)
                self.assertEqual(caught.exception.code, "malformed")

    def test_a_push_opens_with_the_extras_that_were_sealed_and_a_wrong_one_is_not_sealed(self) -> None:
        key, blob = _keys.generate("x25519"), blobs.seal_blob(KEY, blobs.ATTACHMENT, b"x")
        attachment = {**support.reference(KEY, b"x", blob, "https://a.b/c").members(), "type": "text/plain"}
        for extras in ({}, {"test": True}, {"attachments": [attachment], "test": True}):
            payload = support.seal(key, "a.b", '{"aps":{"alert":"x"}}', {"title": "t"}, NOW, extras=extras)
            self.assertEqual(support.open_payload(payload, [key], "a.b", NOW)._extras, extras)
        for change in ({"url": "http://a.b/c"}, {"type": "Text/plain"}, {"type": None}, {"size": -1}, {"id": "a b"}):
            with self.assertRaises(SealError) as caught:
                support.seal(key, "a.b", '{"aps":{"alert":"x"}}', {"title": "t"}, NOW,
                             extras={"attachments": [{**attachment, **change}]})
            self.assertEqual(caught.exception.code, "invalidOption")


if __name__ == "__main__":
    unittest.main()
