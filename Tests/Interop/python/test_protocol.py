"""Tests of the package against the protocol, by hand and field by field: python -m unittest test_protocol"""
from __future__ import annotations

import hashlib
import hmac
import json
import os
import unittest
from typing import Any, Optional
from unittest import mock

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import support
from pushcrypt import OpenedPush, PushCryptError, _envelope, _json, _keys, _points
from pushcrypt._json import b64, parse, unb64
from pushcrypt._keys import Key
from pushcrypt.errors import Flaw
from pushcrypt.sealer import campaign_id

TOPIC, NOW, DAY = "com.example.app", 1_800_000_000, 86_400
INNER = '{ "aps" : {"alert":{"title":"Zoë \\u00e9 😀","body":"Hi"}, "sound":"chime.caf","badge": 1.50e0 ,' \
        '"content-available":1},\t"x":[1, {"y":null}]\n}'
PLACEHOLDER = {"loc-key": "NEW_MESSAGE"}


def sealed(to: Key, inner: Any = INNER, **options: Any) -> bytes:
    options = {"topic": TOPIC, "text": PLACEHOLDER, "at": NOW, **options}
    return support.seal(to, inner=inner, **options)


def opened(payload: bytes, *keys: Key, topic: str = TOPIC, at: int = NOW, trust: Optional[list] = None) -> OpenedPush:
    return support.open_payload(payload, keys, topic, at, trust)


def craft(to: Key, message: bytes, **outer: Any) -> bytes:
    """An outer payload with an arbitrary message (base or psk profile)."""
    field = {"v": 1, "kid": to.kid, "sealed": b64(_envelope.encrypt(to, _envelope.context(to, None, TOPIC), message)), **outer}
    return json.dumps({"aps": {"alert": PLACEHOLDER, "mutable-content": 1}, "pushcrypt": field}).encode()


def inner_with(member: str) -> bytes:
    return b'{"aps":{"alert":"Hi"},"pushcrypt":' + member.encode() + b"}"


class ProtocolTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.master = _keys.generate("oct")
        cls.recipients = {
            "1": _keys.generate("p256"), "1 psk": _keys.generate("p256", True), "2": _keys.generate("x25519"),
            "2 psk": _keys.generate("x25519", True), "4": cls.master, "4 device": _keys.device_key(cls.master, "dev-1_A"),
        }
        cls.sender, cls.other = _keys.generate("ed25519"), _keys.generate("ed25519")

    def refused(self, code: str, call: Any, *arguments: Any, **options: Any) -> PushCryptError:
        with self.assertRaises(PushCryptError) as caught:
            call(*arguments, **options)
        self.assertEqual(caught.exception.code, code, caught.exception)
        return caught.exception

    # Round trips

    def test_round_trips(self) -> None:
        for name, key in self.recipients.items():
            public = _keys.load_key(key.record(private=False))
            for signer in (None, self.sender):
                with self.subTest(recipient=name, signed=signer is not None):
                    payload = sealed(public, sign_with=signer)
                    result = opened(payload, key, trust=[self.sender] if signer else None)
                    self.assertEqual(result.json, INNER)
                    self.assertEqual((result.issued_at, result.expires_at), (NOW, NOW + 30 * DAY))
                    self.assertEqual(result.signed_by, signer.kid if signer else None)
                    self.assertEqual(len(unb64(result.id)), 16)

    def test_tampering(self) -> None:
        for name, key in self.recipients.items():
            outer = json.loads(sealed(key))
            data = unb64(outer["pushcrypt"]["sealed"])
            for at in (0, 1, 20, 70, len(data) - 1):
                with self.subTest(recipient=name, at=at):
                    flipped = data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]
                    outer["pushcrypt"]["sealed"] = b64(flipped)
                    self.refused("undecryptable", opened, json.dumps(outer).encode(), key)
            for size in (1, 16, 32, 65, len(data) - 1):
                outer["pushcrypt"]["sealed"] = b64(data[:size])
                self.refused("undecryptable", opened, json.dumps(outer).encode(), key)

    def test_context_is_bound(self) -> None:
        for key in self.recipients.values():
            payload = sealed(key)
            self.refused("undecryptable", opened, payload, key, topic="com.example.app2")
            self.refused("unknownKey", opened, payload, _keys.generate("p256"))
            self.refused("unknownKey", opened, payload)
        psk = self.recipients["1 psk"]
        without = Key(psk.kind, psk.kid, psk.public, psk.secret)
        self.refused("undecryptable", opened, sealed(without), psk)
        self.refused("undecryptable", opened, sealed(psk), without)
        self.refused("undecryptable", opened, sealed(self.master), _keys.device_key(self.master, "a"))
        self.refused("undecryptable", opened, sealed(_keys.device_key(self.master, "b")), _keys.device_key(self.master, "a"))
        self.refused("duplicateKey", opened, sealed(psk), psk, without)

    def test_suite_4_and_info_by_hand(self) -> None:
        key = _keys.device_key(self.master, "phone")

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
        data = unb64(json.loads(sealed(key))["pushcrypt"]["sealed"])
        info = b"pushcrypt/1\0\x04\0\0\x0b" + key.kid.encode() + b"\0\0\0\x0fcom.example.app"
        okm = hkdf(key.secret, data[:16], info, 44)
        message = AESGCM(okm[:32]).decrypt(okm[32:], data[16:], b"")
        self.assertTrue(message.startswith(INNER[:-2].encode() + b',"pushcrypt":{"id":"'))
        self.assertEqual(len(message) % 128, 0)
        info = _envelope.context(self.recipients["2 psk"], self.sender.kid, "a" * 155)
        self.assertEqual((len(info), info[12:14]), (197, b"\x02\x03"))

    # Signed profile

    def test_signed_profile(self) -> None:
        for key in self.recipients.values():
            signed, unsigned = sealed(key, sign_with=self.sender), sealed(key)
            self.refused("undecryptable", opened, unsigned, key, trust=[self.sender])
            self.refused("undecryptable", opened, unsigned, key, trust=[])
            self.refused("unknownKey", opened, signed, key)
            self.refused("unknownKey", opened, signed, key, trust=[])
            self.refused("unknownKey", opened, signed, key, trust=[self.other])
            forged = Key("ed25519", self.sender.kid, self.sender.public, self.other.secret)
            self.refused("undecryptable", opened, sealed(key, sign_with=forged), key, trust=[self.sender])
            outer = json.loads(signed)
            del outer["pushcrypt"]["skid"]
            self.refused("undecryptable", opened, json.dumps(outer).encode(), key)
            outer = json.loads(unsigned)
            outer["pushcrypt"]["skid"] = self.sender.kid
            self.refused("undecryptable", opened, json.dumps(outer).encode(), key, trust=[self.sender])

    def test_signature_names_the_recipient(self) -> None:
        key, again = self.recipients["4 device"], _keys.device_key(self.master, "other")
        info = _envelope.context(key, self.sender.kid, TOPIC)
        captured: list[bytes] = []
        with mock.patch.object(_envelope, "encrypt", side_effect=lambda k, i, p: captured.append(p) or b"\0"):
            sealed(key, sign_with=self.sender)
        moved = b64(_envelope.encrypt(again, info, captured[0]))
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
            self.refused("invalidOption", sealed, key, expires=expires)

    def test_inner_member(self) -> None:
        key, name = self.recipients["4"], '"id":"AAAAAAAAAAAAAAAAAAAAAA"'
        good = f'{{{name},"iat":{NOW},"exp":{NOW + 60},"more":1}}'
        self.assertEqual(opened(craft(key, inner_with(good)), key).json, '{"aps":{"alert":"Hi"}}')
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
            self.assertEqual(opened(craft(key, message.encode()), key).json, inner)

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
            parse(good)
        for bad in (
            b"", b"[]", b"1", b"{}x", b"{} {}", b"\xef\xbb\xbf{}", b'{"a":1,"a":1}', b'{"a":1,"\\u0061":1}',
            b'{"x":[{"a":1,"a":2}]}', b'{"a":"\xff"}', b'{"a":"\xed\xa0\x80"}', b'{"a":"\\ud800"}',
            b'{"a":"\\ude00\\ud83d"}', b'{"\\ud800":1}', b'{"a":' + b"[" * 64 + b"]" * 64 + b"}", b"{" * 100_000,
            b'{"a":' * 100_000 + b"1" + b"}" * 100_000, b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
            b'{"a":1,}', b'{"a":[1,]}', b'{"a":01}', b'{"a":+1}', b'{"a":.5}', b'{"a":1.}', b'{"a":NaN}', b"{'a':1}",
            b'{"a":"\n"}', b'{"a":"\\x"}', b'{"a":tru}', b'{"a" 1}', b'{"a":1', b'{"a":"', b'{}\x0b', b'{}\0',
            b'{"a":1}//', '{"a":\u0661}'.encode(), b"\xff\xfe{\0}\0", b'{"a":[Infinity]}', b'{"a":-Infinity}',
            b'{"a":"\\uD83Dx"}', b'{"a":["\\\\\\udbff"]}', b'{"a":"\\u00g0"}', b'{"a":"\\U0041"}', b'{"a":--1}', b'{"a":1e}',
        ):
            with self.subTest(bad=bad[:40]):
                self.assertRaises(Flaw, parse, bad)
        nfc, nfd = '{"\u00e9":1,"e\u0301":2}', '{"\u00e9":1,"\\u00e9":2}'
        self.assertEqual(len(parse(nfc.encode())[0]), 2)
        self.assertRaises(Flaw, parse, nfd.encode())

    def test_an_integer_token_of_at_most_17_characters_is_an_integer(self) -> None:
        text = '{"a":[0,-1,-0,1.0,1e0,9007199254740993,123456789012345678,%s]}' % ("9" * 5000)
        values = parse(text.encode())[0]["a"]
        self.assertEqual([type(value) for value in values], [int, int, float, float, float, int, float, float])
        self.assertEqual(values[5], 2**53 + 1)

    def test_the_spans_of_members_are_byte_exact_at_any_depth(self) -> None:
        text = ' { "a" : {"b":[1, {"c":"},\\"{"}] ,\t"\\u0064:":-1.50 } , "e\\\\":"x:y" ,"f":{}\n} '
        root, _ = parse(text.encode())

        def slices(spans: dict[str, tuple[int, int, int]]) -> dict[str, tuple[str, str]]:
            return {name: (text[start:value], text[value:end]) for name, (start, value, end) in spans.items()}

        self.assertEqual(slices(root.spans), {
            "a": ('"a" : ', '{"b":[1, {"c":"},\\"{"}] ,\t"\\u0064:":-1.50 }'), "e\\": ('"e\\\\":', '"x:y"'), "f": ('"f":', "{}")})
        self.assertEqual(slices(_json.spans(text, root.spans["a"][1])), {
            "b": ('"b":', '[1, {"c":"},\\"{"}]'), "d:": ('"\\u0064:":', "-1.50")})
        self.assertEqual(_json.spans(text, root.spans["f"][1]), {})

    def test_inner_refusals(self) -> None:
        key = self.recipients["2"]
        for inner in ("", "[]", '{"aps":{}}', '{"aps":{"content-available":1}}', '{"aps":{"alert":{"body":""}}}',
                      '{"aps":{"alert":"x"},"pushcrypt":1}', '{"aps":{"alert":"x"},"pushcryp\\u0074":1}',
                      '{"aps":{"alert":"x","alert":"x"}}', '{"aps":{"alert":"\ud800"}}',
                      b'\xef\xbb\xbf{"aps":{"alert":"x"}}'):
            with self.subTest(inner=inner):
                self.refused("invalidPayload", sealed, key, inner)

    # Size, padding, exposure

    def test_padding_and_size(self) -> None:
        lengths: list[int] = []
        real = _envelope.encrypt

        def spy(key: Key, info: bytes, plaintext: bytes) -> bytes:
            lengths.append(len(plaintext))
            return real(key, info, plaintext)

        with mock.patch.object(_envelope, "encrypt", side_effect=spy):
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
                    self.assertEqual(opened(payload, key, trust=trust).json, largest)
                    larger = bare % ("x" * (room + 2))
                    refusal = self.refused("tooLarge", sealed, key, larger, pad="none", sign_with=signer)
                    self.assertIn(refusal.bytes_needed, (4097, 4098))
                    self.assertEqual(refusal.bytes_available, 4096)
        for limit in range(700, 712):
            self.assertIn(len(sealed(self.master, '{"aps":{"alert":"x"}}', pad="max", limit=limit)), (limit, limit - 1))
        self.assertEqual(self.refused("tooLarge", sealed, self.master, limit=50).bytes_available, 50)
        for pad in (0, -1, True, "some", 1.5):
            self.refused("invalidOption", sealed, self.master, pad=pad)
        for limit in (0, 4097, True):
            self.refused("invalidOption", sealed, self.master, limit=limit)

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
            self.refused("invalidOption", sealed, self.master, expose=names)
        for placeholder in ({}, {"title": ""}, {"body": ""}, {"title": 1}, {"title": "\ud800"}):
            self.refused("invalidPlaceholder", sealed, self.master, text=placeholder)

    # Key records

    def test_campaign_id(self) -> None:
        def by_hand(secret: bytes, kid: str, device: bytes) -> bytes:
            text = b"pushcrypt/1 campaign\0\0\x06spring\0\x0b" + kid.encode() + device
            return hmac.digest(secret, text, "sha256")[:16]

        master, phone, watch = (_keys.generate("oct"), _keys.generate("p256"), _keys.generate("p256", psk=True))
        device = _keys.device_key(master, "d1")
        self.assertEqual(campaign_id("spring", master), by_hand(master.secret or b"", master.kid, b"\0\0"))
        self.assertEqual(campaign_id("spring", device), by_hand(device.secret or b"", master.kid, b"\0\x02d1"))
        self.assertEqual(campaign_id("spring", phone), by_hand(b"", phone.kid, b"\0\0"))
        self.assertEqual(campaign_id("spring", watch), by_hand(watch.psk or b"", watch.kid, b"\0\0"))

    def test_kid(self) -> None:
        rfc8037 = {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
        thumbprint = unb64("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
        self.assertEqual(_keys.load_key(rfc8037, require_kid=False).kid, b64(thumbprint[:8]))
        x = "hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo"  # RFC 7748, 6.1: Alice's key
        text = '{"crv":"X25519","kty":"OKP","x":"%s"}' % x
        self.assertEqual(_keys.load_key(json.loads(text), False).kid, b64(hashlib.sha256(text.encode()).digest()[:8]))

    def test_record_refusals(self) -> None:
        for name, key in [*self.recipients.items(), ("sender", self.sender)]:
            record = key.record()
            self.assertEqual(_keys.load_key(record), key)
            changes: list[tuple[str, dict[str, Any]]] = [("malformed", change) for change in (
                {"kid": None}, {"kid": ""}, {"kty": None}, {"psk": None}, {"psk": ""}, {"device": None})]
            changes += [("unsupportedKey", change) for change in ({"alg": "x"}, {"alg": None}, {"kty": "RSA"})]
            changes += [("invalidDeviceID" if key.kind == "oct" else "malformed", {"device": ""})]
            if key.kind in ("oct", "ed25519"):
                changes += [("malformed", {"psk": b64(bytes(32))})]
            if key.kind == "oct":
                changes += [("malformed", {"k": b64(bytes(31))}), ("malformed", {"k": b64(bytes(33))})]
            else:
                changes += [("malformed", {"device": "a"}), ("malformed", {"d": None}),
                            ("invalidKey", {"d": b64(os.urandom(32))}), ("invalidKey", {"d": b64(bytes(32))})]
            if key.device is None:
                changes += [("kidMismatch", {"kid": "AAAAAAAAAAA"})]
            for code, change in changes:
                with self.subTest(record=name, change=change):
                    self.refused(code, _keys.load_key, {**record, **change})
        self.refused("wrongKind", _keys.device_key, self.recipients["4 device"], "b")
        for device in ("", "a" * 65, "a b", "ä", "a\n", 1):
            self.refused("invalidDeviceID", _keys.device_key, self.master, device)

    def test_bad_points(self) -> None:
        def load(kty: str, crv: str, **coordinates: bytes) -> Key:
            return _keys.load_key({"kty": kty, "crv": crv, **{k: b64(v) for k, v in coordinates.items()}}, False)

        prime = 2**255 - 19
        bad_y = [0, 1, prime - 1, prime, prime + 1, 2, _points.ORDER_8_Y, prime - _points.ORDER_8_Y]  # 2 is off the curve
        for y in bad_y:
            for sign in (0, 1 << 255):
                self.refused("invalidKey", load, "OKP", "Ed25519", x=(y | sign).to_bytes(32, "little"))
        y = _points.ORDER_8_Y  # order 8: x^2 = -y^2, and the point is on the curve
        self.assertEqual((2 * y * y - 1 + _points.D_25519 * pow(y, 4, prime)) % prime, 0)
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


if __name__ == "__main__":
    unittest.main()
