"""Tests of the reference and its driver: python -m unittest test_reference"""
from __future__ import annotations

import hashlib
import hmac
import json
import os
import subprocess
import sys
import unittest
from typing import Any, Optional
from unittest import mock

from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import pushcrypt_reference as pc

TOPIC, NOW, DAY = "com.example.app", 1_800_000_000, 86_400
INNER = '{ "aps" : {"alert":{"title":"Zoë \\u00e9 😀","body":"Hi"}, "sound":"chime.caf","badge": 1.50e0 ,' \
        '"content-available":1},\t"x":[1, {"y":null}]\n}'
PLACEHOLDER = {"loc-key": "NEW_MESSAGE"}


def sealed(to: pc.Key, inner: Any = INNER, **options: Any) -> bytes:
    options = {"topic": TOPIC, "placeholder": PLACEHOLDER, "at": NOW, **options}
    return pc.seal(to, inner=inner, **options)


def opened(payload: bytes, *keys: pc.Key, topic: str = TOPIC, at: int = NOW, trust: Optional[list] = None) -> pc.Opened:
    return pc.open_payload(payload, keys, topic, at, trust)


def craft(to: pc.Key, message: bytes, **outer: Any) -> bytes:
    """An outer payload with an arbitrary message (base or psk profile)."""
    field = {"v": 1, "kid": to.kid, "sealed": pc.b64(pc.encrypt(to, pc.context(to, None, TOPIC), message)), **outer}
    return json.dumps({"aps": {"alert": PLACEHOLDER, "mutable-content": 1}, "pushcrypt": field}).encode()


def inner_with(member: str) -> bytes:
    return b'{"aps":{"alert":"Hi"},"pushcrypt":' + member.encode() + b"}"


def rfc9180_psk_open(key: pc.Key, info: bytes, data: bytes) -> bytes:
    """HPKE mode PSK, written from RFC 9180 without an HPKE library."""
    kem, aead, size, key_size = (0x10, 2, 65, 32) if key.suite == 1 else (0x20, 1, 32, 16)
    enc, ct = data[:size], data[size:]
    kem_suite = b"KEM" + kem.to_bytes(2, "big")
    suite = b"HPKE" + kem.to_bytes(2, "big") + b"\x00\x01" + aead.to_bytes(2, "big")

    def mac(k: bytes, data: bytes) -> bytes:
        return hmac.new(k, data, hashlib.sha256).digest()

    def extract(salt: bytes, label: bytes, ikm: bytes, suite_id: bytes) -> bytes:
        return mac(salt or bytes(32), b"HPKE-v1" + suite_id + label + ikm)

    def expand(prk: bytes, label: bytes, data: bytes, length: int, suite_id: bytes) -> bytes:
        return mac(prk, length.to_bytes(2, "big") + b"HPKE-v1" + suite_id + label + data + b"\x01")[:length]

    if key.suite == 1:
        private = ec.derive_private_key(int.from_bytes(key.secret, "big"), ec.SECP256R1())
        dh = private.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), enc))
    else:
        private = x25519.X25519PrivateKey.from_private_bytes(key.secret)
        dh = private.exchange(x25519.X25519PublicKey.from_public_bytes(enc))
    prk = extract(b"", b"eae_prk", dh, kem_suite)
    shared = expand(prk, b"shared_secret", enc + key.public, 32, kem_suite)
    schedule = b"\x01" + extract(b"", b"psk_id_hash", key.kid.encode(), suite) + extract(b"", b"info_hash", info, suite)
    secret = extract(shared, b"secret", key.psk, suite)
    nonce = expand(secret, b"base_nonce", schedule, 12, suite)
    return AESGCM(expand(secret, b"key", schedule, key_size, suite)).decrypt(nonce, ct, b"")


class ReferenceTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.master = pc.generate("oct")
        cls.recipients = {
            "1": pc.generate("p256"), "1 psk": pc.generate("p256", True), "2": pc.generate("x25519"),
            "2 psk": pc.generate("x25519", True), "4": cls.master, "4 device": pc.device_key(cls.master, "dev-1_A"),
        }
        cls.sender, cls.other = pc.generate("ed25519"), pc.generate("ed25519")

    def refused(self, code: str, call: Any, *arguments: Any, **options: Any) -> pc.Refusal:
        with self.assertRaises(pc.Refusal) as caught:
            call(*arguments, **options)
        self.assertEqual(caught.exception.code, code, caught.exception)
        return caught.exception

    # Round trips

    def test_round_trips(self) -> None:
        for name, key in self.recipients.items():
            public = pc.load_key(key.record(private=False))
            for signer in (None, self.sender):
                with self.subTest(recipient=name, signed=signer is not None):
                    payload = sealed(public, sign_with=signer)
                    result = opened(payload, key, trust=[self.sender] if signer else None)
                    self.assertEqual(result.inner, INNER)
                    self.assertEqual((result.iat, result.exp), (NOW, NOW + 30 * DAY))
                    self.assertEqual(result.signed_by, signer.kid if signer else None)
                    self.assertEqual(len(pc.unb64(result.id)), 16)

    def test_tampering(self) -> None:
        for name, key in self.recipients.items():
            outer = json.loads(sealed(key))
            data = pc.unb64(outer["pushcrypt"]["sealed"])
            for at in (0, 1, 20, 70, len(data) - 1):
                with self.subTest(recipient=name, at=at):
                    flipped = data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]
                    outer["pushcrypt"]["sealed"] = pc.b64(flipped)
                    self.refused("undecryptable", opened, json.dumps(outer).encode(), key)
            for size in (1, 16, 32, 65, len(data) - 1):
                outer["pushcrypt"]["sealed"] = pc.b64(data[:size])
                self.refused("undecryptable", opened, json.dumps(outer).encode(), key)

    def test_context_is_bound(self) -> None:
        for key in self.recipients.values():
            payload = sealed(key)
            self.refused("undecryptable", opened, payload, key, topic="com.example.app2")
            self.refused("unknownKey", opened, payload, pc.generate("p256"))
            self.refused("unknownKey", opened, payload)
        psk = self.recipients["1 psk"]
        without = pc.Key(psk.kind, psk.kid, psk.public, psk.secret)
        self.refused("undecryptable", opened, sealed(without), psk)
        self.refused("undecryptable", opened, sealed(psk), without)
        self.refused("undecryptable", opened, sealed(self.master), pc.device_key(self.master, "a"))
        self.refused("undecryptable", opened, sealed(pc.device_key(self.master, "b")), pc.device_key(self.master, "a"))
        self.refused("malformed", opened, sealed(psk), psk, without)

    def test_suite_4_and_info_by_hand(self) -> None:
        key = pc.device_key(self.master, "phone")

        def expand(prk: bytes, info: bytes, size: int) -> bytes:
            blocks = b""
            while len(blocks) < size:
                block = blocks[-32:] + info + bytes([len(blocks) // 32 + 1])
                blocks += hmac.new(prk, block, hashlib.sha256).digest()
            return blocks[:size]

        def hkdf(ikm: bytes, salt: bytes, info: bytes, size: int) -> bytes:
            return expand(hmac.new(salt or bytes(32), ikm, hashlib.sha256).digest(), info, size)

        info = b"pushcrypt/1 device\0\0\x0b" + self.master.kid.encode() + b"\0\x05phone"
        self.assertEqual(key.secret, hkdf(self.master.secret, b"", info, 32))
        data = pc.unb64(json.loads(sealed(key))["pushcrypt"]["sealed"])
        info = b"pushcrypt/1\0\x04\0\0\x0b" + key.kid.encode() + b"\0\0\0\x0fcom.example.app"
        okm = hkdf(key.secret, data[:16], info, 44)
        message = AESGCM(okm[:32]).decrypt(okm[32:], data[16:], b"")
        self.assertTrue(message.startswith(INNER[:-2].encode() + b',"pushcrypt":{"id":"'))
        self.assertEqual(len(message) % 128, 0)
        info = pc.context(self.recipients["2 psk"], self.sender.kid, "a" * 155)
        self.assertEqual((len(info), info[12:14]), (197, b"\x02\x03"))

    def test_psk_mode_against_rfc_9180(self) -> None:
        for key in (self.recipients["1 psk"], self.recipients["2 psk"]):
            info = pc.context(key, None, TOPIC)
            self.assertEqual(rfc9180_psk_open(key, info, pc.encrypt(key, info, b"hello")), b"hello")

    # Signed profile

    def test_signed_profile(self) -> None:
        for key in self.recipients.values():
            signed, unsigned = sealed(key, sign_with=self.sender), sealed(key)
            self.refused("undecryptable", opened, unsigned, key, trust=[self.sender])
            self.refused("undecryptable", opened, unsigned, key, trust=[])
            self.refused("unknownKey", opened, signed, key)
            self.refused("unknownKey", opened, signed, key, trust=[])
            self.refused("unknownKey", opened, signed, key, trust=[self.other])
            forged = pc.Key("ed25519", self.sender.kid, self.sender.public, self.other.secret)
            self.refused("undecryptable", opened, sealed(key, sign_with=forged), key, trust=[self.sender])
            outer = json.loads(signed)
            del outer["pushcrypt"]["skid"]
            self.refused("undecryptable", opened, json.dumps(outer).encode(), key)
            outer = json.loads(unsigned)
            outer["pushcrypt"]["skid"] = self.sender.kid
            self.refused("undecryptable", opened, json.dumps(outer).encode(), key, trust=[self.sender])

    def test_signature_names_the_recipient(self) -> None:
        key, again = self.recipients["4 device"], pc.device_key(self.master, "other")
        info = pc.context(key, self.sender.kid, TOPIC)
        captured: list[bytes] = []
        with mock.patch.object(pc, "encrypt", side_effect=lambda k, i, p: captured.append(p) or b"\0"):
            sealed(key, sign_with=self.sender)
        moved = pc.b64(pc.encrypt(again, info, captured[0]))
        outer = {"aps": {"alert": "x", "mutable-content": 1},
                 "pushcrypt": {"v": 1, "kid": key.kid, "skid": self.sender.kid, "sealed": moved}}
        self.refused("undecryptable", opened, json.dumps(outer).encode(), again, trust=[self.sender])

    # Freshness and the inner member

    def test_freshness(self) -> None:
        key = self.recipients["2"]
        payload = sealed(key, expires=60)
        opened(payload, key, at=NOW + 59)
        self.refused("expired", opened, payload, key, at=NOW + 60)
        self.refused("expired", opened, payload, key, at=NOW + 31 * DAY)
        opened(payload, key, at=NOW - 600)
        self.refused("notYetValid", opened, payload, key, at=NOW - 601)
        for expires in (0, -1, 30 * DAY + 1, True, 60.0):
            self.refused("invalidArgument", sealed, key, expires=expires)

    def test_inner_member(self) -> None:
        key, name = self.recipients["4"], '"id":"AAAAAAAAAAAAAAAAAAAAAA"'
        good = f'{{{name},"iat":{NOW},"exp":{NOW + 60},"more":1}}'
        self.assertEqual(opened(craft(key, inner_with(good)), key).inner, '{"aps":{"alert":"Hi"}}')
        for bad in (
            "null", "1", "{}", f'{{"iat":{NOW},"exp":{NOW + 60}}}', f'{{{name},"iat":{NOW}}}',
            f'{{{name},"iat":true,"exp":{NOW + 60}}}', f'{{{name},"iat":{NOW}.0,"exp":{NOW + 60}}}',
            f'{{{name},"iat":18e8,"exp":{NOW + 60}}}', f'{{{name},"iat":"{NOW}","exp":{NOW + 60}}}',
            f'{{{name},"iat":{NOW},"exp":{NOW}}}', f'{{{name},"iat":{NOW},"exp":{NOW + 30 * DAY + 1}}}',
            f'{{{name},"iat":-1,"exp":60}}', f'{{{name},"iat":-0,"exp":60}}',
            f'{{{name},"iat":{2**53 - 1},"exp":{2**53}}}',
            f'{{"id":"AAAAAAAAAAAAAAAAAAAAAB","iat":{NOW},"exp":{NOW + 60}}}',
            f'{{"id":"AAAA","iat":{NOW},"exp":{NOW + 60}}}', f'{{{name},"iat":{NOW},"iat":{NOW},"exp":{NOW + 60}}}',
        ):
            with self.subTest(member=bad):
                self.refused("malformed", opened, craft(key, inner_with(bad)), key)
        for message in (b"", b"[]", b'{"pushcrypt":' + good.encode() + b"}", inner_with(good) + b"\0",
                        inner_with(good).replace(b"Hi", b""), inner_with(good).replace(b'"Hi"', b'{"sound":"x"}')):
            self.refused("malformed", opened, craft(key, message), key)

    def test_member_is_taken_out_wherever_it_stands(self) -> None:
        key, member = self.recipients["4"], f'{{"id":"AAAAAAAAAAAAAAAAAAAAAA","iat":{NOW},"exp":{NOW + 60}}}'
        aps = '"aps":{"alert":"Hi"}'
        for message, inner in (
            (f'{{"pushcrypt":{member}, {aps}}}', f"{{{aps}}}"),
            (f'{{ {aps} , "pushcrypt" : {member} , "z":1 }} \n   ', f'{{ {aps} , "z":1 }} \n'),
            (f'{{{aps}\n,\n"pushc\\u0072ypt":{member}\n}}', f"{{{aps}\n}}"),
        ):
            self.assertEqual(opened(craft(key, message.encode()), key).inner, inner)

    # Strict JSON and the outer payload

    def test_outer_refusals(self) -> None:
        key = self.recipients["1"]
        outer = json.loads(sealed(key))
        field = outer["pushcrypt"]
        self.refused("notSealed", opened, b'{"aps":{"alert":"x"}}', key)
        for code, change in (
            ("unsupportedVersion", {"v": 2}), ("unsupportedVersion", {"v": 0}), ("malformed", {"v": 1.0}),
            ("malformed", {"v": True}), ("malformed", {"v": "1"}), ("malformed", {"v": -1}),
            ("malformed", {"v": 2**53}), ("malformed", {"v": None}), ("malformed", {"kid": ""}),
            ("malformed", {"kid": None}),
            ("malformed", {"kid": field["kid"] + "="}), ("malformed", {"kid": "AAAAAAAAAAB"}),
            ("unknownKey", {"kid": "AAAAAAAAAAA"}), ("malformed", {"skid": None}), ("malformed", {"skid": ""}),
            ("malformed", {"sealed": ""}), ("malformed", {"sealed": None}),
            ("malformed", {"sealed": field["sealed"] + "="}),
            ("malformed", {"sealed": field["sealed"] + "\n"}), ("malformed", {"sealed": "+/+/"}),
            ("undecryptable", {"sealed": "AAAA"}),
        ):
            with self.subTest(change=change):
                self.refused(code, opened, json.dumps({**outer, "pushcrypt": {**field, **change}}).encode(), key)
        for aps in (None, {}, {"alert": "", "mutable-content": 1}, {"alert": "x"},
                    {"alert": "x", "mutable-content": True}):
            self.refused("malformed", opened, json.dumps({**outer, "aps": aps}).encode(), key)
        for name in ("v", "kid", "sealed"):
            left = {k: v for k, v in field.items() if k != name}
            self.refused("malformed", opened, json.dumps({**outer, "pushcrypt": left}).encode(), key)
        self.refused("malformed", opened, json.dumps({**outer, "pushcrypt": [1]}).encode(), key)
        opened(json.dumps({**outer, "pushcrypt": {**field, "new": [1]}}).encode(), key)

    def test_strict_json(self) -> None:
        deep = b'{"a":' + b"[" * 63 + b"]" * 63 + b"}"
        for good in (b'{}', b' {"a":1}\r\n\t ', deep, b'{"a":[-0.0e+1,true]}',
                     '{"a":"\\ud83d\\ude00 \U0001f600\ufeff"}'.encode()):
            pc.parse(good)
        for bad in (
            b"", b"[]", b"1", b"{}x", b"{} {}", b"\xef\xbb\xbf{}", b'{"a":1,"a":1}', b'{"a":1,"\\u0061":1}',
            b'{"x":[{"a":1,"a":2}]}', b'{"a":"\xff"}', b'{"a":"\xed\xa0\x80"}', b'{"a":"\\ud800"}',
            b'{"a":"\\ude00\\ud83d"}', b'{"\\ud800":1}', b'{"a":' + b"[" * 64 + b"]" * 64 + b"}", b"{" * 100_000,
            b'{"a":1,}', b'{"a":[1,]}', b'{"a":01}', b'{"a":+1}', b'{"a":.5}', b'{"a":1.}', b'{"a":NaN}', b"{'a':1}",
            b'{"a":"\n"}', b'{"a":"\\x"}', b'{"a":tru}', b'{"a" 1}', b'{"a":1', b'{"a":"', b'{}\x0b', b'{}\0',
            b'{"a":1}//', '{"a":\u0661}'.encode(), b"\xff\xfe{\0}\0",
        ):
            with self.subTest(bad=bad[:40]):
                self.refused("malformed", pc.parse, bad)
        nfc, nfd = '{"\u00e9":1,"e\u0301":2}', '{"\u00e9":1,"\\u00e9":2}'
        self.assertEqual(len(pc.parse(nfc.encode())[0]), 2)
        self.refused("malformed", pc.parse, nfd.encode())

    def test_inner_refusals(self) -> None:
        key = self.recipients["2"]
        for inner in ("", "[]", '{"aps":{}}', '{"aps":{"content-available":1}}', '{"aps":{"alert":{"body":""}}}',
                      '{"aps":{"alert":"x"},"pushcrypt":1}', '{"aps":{"alert":"x"},"pushcryp\\u0074":1}',
                      '{"aps":{"alert":"x","alert":"x"}}', '{"aps":{"alert":"\ud800"}}',
                      b'\xef\xbb\xbf{"aps":{"alert":"x"}}'):
            with self.subTest(inner=inner):
                self.refused("malformed", sealed, key, inner)

    # Size, padding, exposure

    def test_padding_and_size(self) -> None:
        lengths: list[int] = []
        real = pc.encrypt

        def spy(key: pc.Key, info: bytes, plaintext: bytes) -> bytes:
            lengths.append(len(plaintext))
            return real(key, info, plaintext)

        with mock.patch.object(pc, "encrypt", side_effect=spy):
            for name, key in self.recipients.items():
                for signer in (None, self.sender):
                    extra = 64 if signer else 0
                    bare = '{"aps":{"alert":"%s"}}'
                    for pad in (1, 128, 1000):
                        payload = sealed(key, bare % "x", pad=pad, sign_with=signer)
                        self.assertEqual((lengths[-1] - extra) % pad, 0)
                    full = len(sealed(key, bare % "x", pad="max", sign_with=signer))
                    self.assertIn(full, (4095, 4096))
                    top = lengths[-1]
                    sealed(key, bare % "x", pad="none", sign_with=signer)
                    room = top - lengths[-1]  # bytes by which the body may grow
                    largest, trust = bare % ("x" * (room + 1)), [signer] if signer else None
                    payload = sealed(key, largest, sign_with=signer)
                    self.assertEqual((len(payload), lengths[-1]), (full, top))
                    self.assertEqual(opened(payload, key, trust=trust).inner, largest)
                    larger = bare % ("x" * (room + 2))
                    refusal = self.refused("tooLarge", sealed, key, larger, pad="none", sign_with=signer)
                    self.assertEqual((refusal.needed, refusal.available), (top - extra + 1, top - extra))
        for limit in range(700, 712):
            self.assertIn(len(sealed(self.master, '{"aps":{"alert":"x"}}', pad="max", limit=limit)), (limit, limit - 1))
        self.assertEqual(self.refused("tooLarge", sealed, self.master, limit=50).available, 0)
        for pad in (0, -1, True, "some", 1.5, None):
            self.refused("invalidArgument", sealed, self.master, pad=pad)
        for limit in (0, 4097, True):
            self.refused("invalidArgument", sealed, self.master, limit=limit)

    def test_exposure(self) -> None:
        aps = json.loads(sealed(self.master))["aps"]
        self.assertEqual(aps, {"alert": PLACEHOLDER, "mutable-content": 1, "sound": "default", "content-available": 1})
        payload = sealed(self.master, expose=["sound", "sound"])
        self.assertEqual(json.loads(payload)["aps"]["sound"], "chime.caf")
        for name, raw in (("badge", "7"), ("relevance-score", "0.50"), ("interruption-level", '"passive"'),
                          ("sound", '{"critical":1,"volume":0.5}'), ("x", "true")):
            payload = sealed(self.master, '{"aps":{"alert":"x","%s":%s}}' % (name, raw), expose=[name])
            self.assertIn(f'"{name}":{raw}'.encode(), payload)
        for name, raw in (("badge", "1.50e0"), ("badge", "-1"), ("relevance-score", "1e400"), ("sound", "1"),
                          ("interruption-level", '"x"'), ("sound", '{"critical":true}'), ("sound", '{"x":1}'),
                          ("x", "[]"), ("x", "null"), ("content-available", "10"), ("thread-id", "1")):
            self.refused("notExposable", sealed, self.master, '{"aps":{"alert":"x","%s":%s}}' % (name, raw),
                         expose=[name])
        self.refused("notExposable", sealed, self.master, expose=["thread-id"])
        for raw in ('{"x":"SECRET"}', "1.0", "0", "true", "null"):
            payload = sealed(self.master, '{"aps":{"alert":"x","content-available":%s}}' % raw)
            self.assertNotIn(b"content-available", payload)
        for sound, hinted in (('{"name":"a","critical":1}', True), ('"default"', True), ("null", False), ('""', False)):
            payload = sealed(self.master, '{"aps":{"alert":"x","sound":%s}}' % sound)
            self.assertEqual(json.loads(payload)["aps"].get("sound"), "default" if hinted else None)
        for names in (["alert"], ["mutable-content"], [1], [""], ["a b"], ["a" * 65], ["badge"] * 33):
            self.refused("invalidArgument", sealed, self.master, expose=names)
        for placeholder in ({}, "", None, {"body": ""}):
            self.refused("invalidArgument", sealed, self.master, placeholder=placeholder)

    # Key records

    def test_campaign_id(self) -> None:
        def by_hand(secret: bytes, kid: str, device: bytes) -> bytes:
            text = b"pushcrypt/1 campaign\0\0\x06spring\0\x0b" + kid.encode() + device
            return hmac.digest(secret, text, "sha256")[:16]

        master, phone, watch = pc.generate("oct"), pc.generate("p256"), pc.generate("p256", psk=True)
        device = pc.device_key(master, "d1")
        self.assertEqual(pc.campaign_id("spring", master), by_hand(master.secret, master.kid, b"\0\0"))
        self.assertEqual(pc.campaign_id("spring", device), by_hand(device.secret, master.kid, b"\0\x02d1"))
        self.assertEqual(pc.campaign_id("spring", phone), by_hand(b"", phone.kid, b"\0\0"))
        self.assertEqual(pc.campaign_id("spring", watch), by_hand(watch.psk, watch.kid, b"\0\0"))

    def test_kid(self) -> None:
        rfc8037 = {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
        thumbprint = pc.unb64("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
        self.assertEqual(pc.load_key(rfc8037, require_kid=False).kid, pc.b64(thumbprint[:8]))
        x = "hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo"  # RFC 7748, 6.1: Alice's key
        text = '{"crv":"X25519","kty":"OKP","x":"%s"}' % x
        self.assertEqual(pc.load_key(json.loads(text), False).kid, pc.b64(hashlib.sha256(text.encode()).digest()[:8]))

    def test_record_refusals(self) -> None:
        for name, key in [*self.recipients.items(), ("sender", self.sender)]:
            record = key.record()
            self.assertEqual(pc.load_key(record), key)
            changes: list[tuple[str, dict[str, Any]]] = [("malformed", change) for change in (
                {"kid": None}, {"kid": ""}, {"kty": None}, {"psk": None}, {"psk": ""}, {"device": None})]
            changes += [("unsupportedKey", change) for change in ({"alg": "x"}, {"alg": None}, {"kty": "RSA"})]
            changes += [("invalidDeviceID" if key.kind == "oct" else "malformed", {"device": ""})]
            if key.kind in ("oct", "ed25519"):
                changes += [("malformed", {"psk": pc.b64(bytes(32))})]
            if key.kind == "oct":
                changes += [("malformed", {"k": pc.b64(bytes(31))}), ("malformed", {"k": pc.b64(bytes(33))})]
            else:
                changes += [("malformed", {"device": "a"}), ("malformed", {"d": None}),
                            ("invalidKey", {"d": pc.b64(os.urandom(32))}), ("invalidKey", {"d": pc.b64(bytes(32))})]
            if key.device is None:
                changes += [("kidMismatch", {"kid": "AAAAAAAAAAA"})]
            for code, change in changes:
                with self.subTest(record=name, change=change):
                    self.refused(code, pc.load_key, {**record, **change})
        self.refused("malformed", pc.device_key, self.recipients["4 device"], "b")
        for device in ("", "a" * 65, "a b", "ä", "a\n", 1):
            self.refused("invalidArgument", pc.device_key, self.master, device)

    def test_bad_points(self) -> None:
        def load(kty: str, crv: str, **coordinates: bytes) -> pc.Key:
            return pc.load_key({"kty": kty, "crv": crv, **{k: pc.b64(v) for k, v in coordinates.items()}}, False)

        prime = 2**255 - 19
        bad_y = [0, 1, prime - 1, prime, prime + 1, 2, pc._ORDER8_Y, prime - pc._ORDER8_Y]  # 2 is off the curve
        for y in bad_y:
            for sign in (0, 1 << 255):
                self.refused("invalidKey", load, "OKP", "Ed25519", x=(y | sign).to_bytes(32, "little"))
        y = pc._ORDER8_Y  # order 8: x^2 = -y^2, and the point is on the curve
        self.assertEqual((2 * y * y - 1 + pc._D25519 * pow(y, 4, prime)) % prime, 0)
        for x in (0, 1, prime - 1, prime, prime + 9, 2**255 - 1, 2**255 + 9):
            self.refused("invalidKey", load, "OKP", "X25519", x=x.to_bytes(32, "little"))
        load("OKP", "X25519", x=(9).to_bytes(32, "little"))
        good = self.recipients["1"].public
        off = good[33:64] + bytes([good[64] ^ 1])
        self.refused("invalidKey", load, "EC", "P-256", x=good[1:33], y=off)
        self.refused("malformed", load, "EC", "P-256", x=good[2:33], y=good[33:])
        self.refused("malformed", load, "EC", "P-256", x=b"\0" + good[1:33], y=good[33:])
        field = 2**256 - 2**224 + 2**192 + 2**96 - 1
        b = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b
        small = next(v for v in range(1, 99) if pow(v**3 - 3 * v + b, (field - 1) // 2, field) == 1)
        root = pow(small**3 - 3 * small + b, (field + 1) // 4, field).to_bytes(32, "big")
        load("EC", "P-256", x=small.to_bytes(32, "big"), y=root)
        self.refused("invalidKey", load, "EC", "P-256", x=(small + field).to_bytes(32, "big"), y=root)


class DriverTests(unittest.TestCase):
    def talk(self, *requests: Any) -> list[dict[str, Any]]:
        lines = "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in requests)
        driver = os.path.join(os.path.dirname(os.path.abspath(__file__)), "interop.py")
        done = subprocess.run([sys.executable, driver], input=lines.encode(), capture_output=True, timeout=60)
        self.errors = done.stderr.decode()
        self.assertEqual(done.returncode, 0)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_conversation(self) -> None:
        kinds = [("p256", False), ("p256", True), ("x25519", True), ("oct", False), ("ed25519", False)]
        made = self.talk(*({"op": "generate", "kind": kind, "psk": psk} for kind, psk in kinds))
        sender = made.pop()
        self.assertEqual([("d" in m["public"], "psk" in m["public"]) for m in made],
                         [(False, False), (False, True), (False, True), (False, False)])
        base = {"op": "seal", "topic": TOPIC, "inner": INNER, "placeholder": PLACEHOLDER, "pad": 128, "at": NOW,
                "expires": 3600, "limit": 4096, "expose": ["sound"]}
        signed = {**base, "device": "dev", "sign_with": sender["private"]}
        sealed_by = self.talk(*({**signed, "to": m["public"]} for m in made))
        opens = [{"op": "open", "payload": answer["payload"], "keys": [m["private"]], "device": "dev", "topic": TOPIC,
                  "trust": [sender["public"]], "at": NOW} for answer, m in zip(sealed_by, made)]
        for answer in self.talk(*opens):
            self.assertEqual((answer["inner"], answer["signed_by"], answer["exp"]),
                             (INNER, sender["public"]["kid"], NOW + 3600))
        device, kid = self.talk({"op": "device_key", "key": made[3]["private"], "device": "dev"},
                                {"op": "kid", "key": {k: v for k, v in made[0]["public"].items() if k != "kid"}})
        self.assertEqual(kid, {"kid": made[0]["public"]["kid"]})
        common = {name: opens[0][name] for name in ("op", "keys", "topic", "at")}
        as_device, wrong, small, surrogate, raw = self.talk(
            {**opens[3], "keys": [device["key"]]}, {**opens[3], "device": "other"},
            {**base, "to": made[0]["public"], "limit": 300}, {**common, "payload": '{"a":"\ud800"}'},
            {**common, "payload_b64": "/w=="})
        self.assertEqual(as_device["inner"], INNER)
        self.assertEqual(wrong, {"error": "undecryptable"})
        self.assertEqual(small["error"], "tooLarge")
        self.assertGreater(small["needed"], small["available"])
        self.assertEqual((surrogate["error"], raw["error"]), ("malformed", "malformed"))

    def test_goes_on_after_nonsense(self) -> None:
        first, second, third, last = self.talk("nonsense", {"op": "none"}, [1], {"op": "version"})
        self.assertEqual([first, second, third], [{"error": "internalError"}] * 3)
        self.assertIn("Traceback", self.errors)
        self.assertEqual(set(last), {"cryptography", "pyhpke"})


if __name__ == "__main__":
    unittest.main()
