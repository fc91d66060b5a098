"""Tests of the file of a keyset: python -m unittest test_keyset_log"""
from __future__ import annotations

import json
import os
import unittest
from typing import Any, Callable, Optional
from unittest import mock

import support
from pushcrypt import KeyRecordError, Opener, Placeholder, Recipient, RecipientKey, Sealer, SenderKey, _keys, _xwing
from pushcrypt._json import unb64
from pushcrypt.errors import KeysetFileError
from pushcrypt.keyset_log import KeysetFile, KeysetLog, Point
from pushcrypt.keysets import MAX_SIZE

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "Conformance", "vectors", "keyset-log-v1.json")
NOW, TIME, LATER = 1_772_355_600, "2026-03-01T09:00:00Z", "2026-04-01T09:00:00Z"
ID, POINT = "AAAAAAAAAAAAAAAAAAAAAA", {"n": 1, "hash": "A" * 43}


def vectors() -> dict[str, list[dict[str, Any]]]:
    with open(VECTORS, encoding="utf-8") as file:
        found: dict[str, list[dict[str, Any]]] = json.load(file)
    return found


def created(kind: str, *keys: _keys.Key, **members: Any) -> dict[str, Any]:
    """A first line that adds the keys."""
    added = {key.kid: {"jwk": key.record(private=False), "activatesAt": TIME} for key in keys}
    return {"at": TIME, "who": "a", "what": "created", "id": ID, "kind": kind, "keys": added, **members}


def plain(*lines: dict[str, Any], keys: tuple[_keys.Key, ...] = ()) -> bytes:
    rows = support.chained(lines)
    return rows + support.plain_row(rows, [key.record() for key in keys])


def refusal(body: Callable[[], Any]) -> Optional[tuple[str, int]]:
    """The code and the row."""
    try:
        body()
    except KeysetFileError as error:
        return error.code, error.row
    return None


def supports_suite_3() -> bool:
    try:
        _xwing.require_mlkem()
    except KeyRecordError:
        return False
    return True


class VectorTests(unittest.TestCase):
    def test_accepted_vectors(self) -> None:
        for vector in vectors()["accepted"]:
            with self.subTest(vector["name"]):
                text, passphrase = vector["keyset"].encode(), vector.get("passphrase")
                file = KeysetFile.from_bytes(text, passphrase)
                log = file.log
                self.assertEqual((log.id, log.kind), (vector["id"], vector["kind"]))
                self.assertEqual(support.point(log.head), vector["head"])
                self.assertEqual(support.log_state(log), vector["state"])
                self.assertEqual([support.point(point) for point in log.points], vector["points"])
                history = text[:text.rindex(b"\n", 0, -1) + 1]
                self.assertEqual(KeysetLog.from_bytes(history), log)
                if file.locks and passphrase is None:
                    self.assertEqual(refusal(file.keyset), ("secretNeeded", len(log.lines) + 1))
                    continue
                material = {kid for kid, key in vector["state"]["keys"].items()
                            if "destroyedAt" not in key and "lost" not in key}
                self.assertEqual({entry.key.kid for entry in file.keyset().entries}, material)

    def test_refused_vectors(self) -> None:
        for vector in vectors()["refused"]:
            with self.subTest(vector["name"]):
                found = refusal(lambda: KeysetFile.from_bytes(vector["keyset"].encode(), vector.get("passphrase")))
                self.assertEqual(found, (vector["code"], vector["row"]))

    def test_vectors_of_logs_that_extend_others(self) -> None:
        for vector in vectors()["extends"]:
            with self.subTest(vector["name"]):
                log = KeysetLog.from_bytes(vector["log"].encode())
                if "point" in vector:
                    found = log.extends(Point(vector["point"]["n"], unb64(vector["point"]["hash"])))
                else:
                    found = log.extends_log(KeysetLog.from_bytes(vector["other"].encode()))
                self.assertIs(found, vector["extends"])


class KeysetLogTests(unittest.TestCase):
    def test_a_file_has_at_most_4_MiB(self) -> None:
        def file(points: int, who: int) -> bytes:
            restored = {"at": TIME, "who": "w" * who, "what": "restored", "over": [POINT] * points}
            return plain(created("recipient"), restored)

        size = len(file(1, 0))
        each = len(file(2, 0)) - size
        points, rest = divmod(MAX_SIZE - size - 1, each)
        whole = file(points + 1, rest + 1)
        self.assertEqual(len(whole), MAX_SIZE)
        self.assertEqual(len(KeysetFile.from_bytes(whole).log.points), points + 3)
        longer = file(points + 1, rest + 2)
        self.assertEqual(len(longer), MAX_SIZE + 1)
        self.assertEqual(refusal(lambda: KeysetFile.from_bytes(longer)), ("tooLarge", 0))

    def test_a_log_alone_has_at_least_one_line_and_no_last_row(self) -> None:
        text = plain(created("recipient"))
        history = text[:text.index(b"\n") + 1]
        self.assertEqual(KeysetLog.from_bytes(history).head.n, 1)
        for log, expected in ((b"", ("incomplete", 0)), (history[:-1], ("incomplete", 0)), (text, ("malformed", 2))):
            self.assertEqual(refusal(lambda: KeysetLog.from_bytes(log)), expected)

    def test_a_row_is_UTF_8(self) -> None:
        text = plain(created("recipient"), {"at": TIME, "who": "x", "what": "rotated", "writer": "w"})
        for wrong in (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xc3"):
            line, last = text.replace(b'"x"', b'"' + wrong + b'"'), text[:-2] + wrong + b"}\n"
            self.assertEqual(refusal(lambda: KeysetFile.from_bytes(line)), ("malformed", 2))
            self.assertEqual(refusal(lambda: KeysetFile.from_bytes(last)), ("malformed", 3))

    def test_a_changed_bit_is_refused_wherever_it_is(self) -> None:
        key = _keys.generate("x25519")
        rows = support.chained([created("recipient", key, secrets=["a", "kms"])])
        sealed = support.sealed_members(rows, [key.record()], {"a": "x", "kms": bytes(8)}, os.urandom)
        plain_text, sealed_text = rows + support.plain_row(rows, [key.record()]), rows + support.compact(sealed) + b"\n"
        for text, passphrase in ((plain_text, None), (sealed_text, "x")):
            KeysetFile.from_bytes(text, passphrase)
            for position in range(len(text)):
                changed = bytearray(text)
                changed[position] ^= 1
                self.assertIsNotNone(refusal(lambda: KeysetFile.from_bytes(bytes(changed), passphrase)), position)

    def test_a_key_is_revoked_if_the_log_or_one_that_was_given_up_says_so(self) -> None:
        key, other, elsewhere = (_keys.generate("x25519") for _ in range(3))
        lines = [created("recipient", key, other), {"at": TIME, "who": "a", "what": "revoked", "keys": {key.kid: {"revokedAt": LATER}}},
                 {"at": TIME, "who": "a", "what": "restored", "n": 5, "over": [POINT], "revoked": {elsewhere.kid: LATER}}]
        log = KeysetLog.from_bytes(support.chained(lines))
        self.assertEqual([log.is_revoked(kid) for kid in (key.kid, other.kid, elsewhere.kid, "A" * 11)], [True, False, True, False])

    def test_scrypt_with_n_of_at_least_2_to_the_power_of_16_r_is_refused(self) -> None:
        rows = support.chained([created("recipient", secrets=["a"])])
        lock = support.entry("a", "x", bytes(32), os.urandom, {"n": 16, "r": 1, "p": 1})
        sealed = support.sealed_members(rows, [], {"a": "x"}, os.urandom)
        for n, r, expected in ((2**16, 1, ("malformed", 2)), (2**17, 1, ("malformed", 2)), (2**15, 1, None), (2**16, 2, None)):
            entry = {**lock, "passphrase": {**lock["passphrase"], "n": n, "r": r}}
            text = rows + support.compact({**sealed, "sealed": {**sealed["sealed"], "locks": [entry]}}) + b"\n"
            self.assertEqual(refusal(lambda: KeysetFile.from_bytes(text)), expected, (n, r))

    def test_a_missing_secret_is_named(self) -> None:
        rows = support.chained([created("recipient")])
        last = support.sealed_members(rows, [], {"work": "x", "kms": bytes(8)}, os.urandom)
        file = KeysetFile.from_bytes(rows + support.compact(last) + b"\n")
        with self.assertRaises(KeysetFileError) as caught:
            file.keyset()
        self.assertEqual(caught.exception.code, "secretNeeded")
        self.assertIn("the passphrase work or the command kms", caught.exception.reason)


class KeysetTests(unittest.TestCase):
    def test_a_backend_signs_and_a_device_opens_with_the_keysets_of_files(self) -> None:
        sender, phone = _keys.generate("ed25519"), _keys.generate("x25519")
        signing = KeysetFile.from_bytes(plain(created("sender", sender), keys=(sender,))).keyset()
        opening = KeysetFile.from_bytes(plain(created("recipient", phone), keys=(phone,))).keyset()
        sealer = Sealer("com.example", signer=SenderKey.from_keyset(signing, at=NOW), clock=lambda: NOW)
        push = sealer.seal({"aps": {"alert": "x"}}, to=Recipient.from_jwk(phone.record(private=False)),
                           placeholder=Placeholder(title="t"))
        opener = Opener("com.example", opening, senders=signing, clock=lambda: NOW)
        self.assertEqual(opener.open(push.json).payload["aps"]["alert"], "x")

    def test_times_and_the_demand_of_a_psk_come_from_the_log(self) -> None:
        key = RecipientKey.generate(1)._key
        public = {name: value for name, value in key.record(private=False).items() if name != "psk"}
        added = {"jwk": public, "psk": True, "activatesAt": TIME, "retiresAt": LATER}
        keyset = KeysetFile.from_bytes(plain(created("recipient", keys={key.kid: added}), keys=(key,))).keyset()
        self.assertEqual((keyset.kind, keyset.sequence, keyset.updated_at), ("recipient", 1, NOW))
        self.assertTrue(keyset.entries[0].demands_psk)
        self.assertEqual(keyset.states(NOW), {key.kid: "primary"})
        self.assertEqual(keyset.states(NOW + 31 * 86_400), {key.kid: "retiring"})

    def test_states_are_evaluated_no_earlier_than_the_last_line(self) -> None:
        key = _keys.generate("ed25519")
        expired = {"at": LATER, "who": "a", "what": "rotated", "keys": {key.kid: {"expiresAt": LATER}}}
        keyset = KeysetFile.from_bytes(plain(created("sender", key), expired, keys=(key,))).keyset()
        self.assertEqual(keyset.states(NOW), {key.kid: "expired"})

    def test_a_host_without_suite_3_reads_its_log_and_refuses_its_keys(self) -> None:
        with open(VECTORS.replace("keyset-log-v1", "xwing-keys"), encoding="utf-8") as file:
            record = json.load(file)["keys"]["xwing"]
        public = {name: value for name, value in record.items() if name != "priv"}
        added = {record["kid"]: {"jwk": public, "activatesAt": TIME}}
        rows = support.chained([created("recipient", keys=added)])
        text = rows + support.plain_row(rows, [record])
        wrong = support.chained([created("recipient", keys={record["kid"]: {"jwk": {**public, "kid": "AAAAAAAAAAA"}}})])
        with mock.patch.object(_xwing, "_IS_IMPORTED", False):
            self.assertEqual(KeysetLog.from_bytes(rows).keys[record["kid"]].algorithm, "xwing")
            self.assertEqual(refusal(lambda: KeysetFile.from_bytes(text)), ("unsupportedSuite", 2))
            self.assertEqual(refusal(lambda: KeysetLog.from_bytes(wrong)), ("kidMismatch", 1))
        if supports_suite_3():
            self.assertEqual([entry.key.kid for entry in KeysetFile.from_bytes(text).keyset().entries], [record["kid"]])


if __name__ == "__main__":
    unittest.main()
