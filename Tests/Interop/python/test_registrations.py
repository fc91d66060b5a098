"""Tests of what a backend stores and reads of devices: python -m unittest test_registrations"""
from __future__ import annotations

import json
import unittest
from typing import Any
from urllib.parse import urlencode

from pushcrypt import (
    KeyRecordError, Opener, Pending, PossessionError, PushCryptError, Receipt, RecipientKey, Registration, RegistrationChange,
    SenderKey, StoredRegistration, challenge, possession, pinned,
)
from pushcrypt.receipts import name_of
from pushcrypt.sender_sets import ReportedVersion

TOPIC, HOST, NOW = "com.example.app", "push.example.com", 1_800_000_000
PHONE, BACKEND = RecipientKey.generate(), SenderKey.generate()
RECORD = json.dumps(PHONE.registration_record())
NAME, RANDOM = name_of("BBBBBBBBBBBBBBBBBBBBBA"), "AAECAwQFBgcICQoLDA0ODw"


class ProofTests(unittest.TestCase):
    def prove(self) -> tuple[Pending, str]:
        registration = Registration.from_json(RECORD, requiring=("psk", "asymmetric"))
        made = challenge(registration, host=HOST, topic=TOPIC, signer=BACKEND, clock=lambda: NOW)
        opener = Opener(TOPIC, PHONE, senders=pinned(BACKEND.public_jwk()), clock=lambda: NOW)
        return made.pending, possession.answer(made.json, record=RECORD.encode(), host=HOST, opener=opener)

    def test_a_pending_registration_that_was_stored_is_confirmed(self) -> None:
        pending, answer = self.prove()
        stored = Pending.from_json(pending.to_json())
        self.assertEqual(stored, pending)
        self.assertEqual(Pending.id_of(answer), pending.id)
        self.assertEqual(stored.confirm(answer, clock=lambda: NOW).record, RECORD.encode())
        self.assertNotIn("nonce", pending.to_json())

    def test_a_stored_value_that_was_changed_is_refused(self) -> None:
        whole = json.loads(self.prove()[0].to_json())
        record = {name: value for name, value in PHONE.registration_record().items() if name != "psk"}
        changes: list[tuple[dict[str, Any], str]] = [
            ({"version": 2}, "malformed"), ({"codeDigest": "AA"}, "malformed"), ({"challengedAt": "1"}, "malformed"),
            ({"id": ""}, "malformed"), ({"registration": None}, "malformed"),
            ({"registration": {**whole["registration"], "kid": "AAAAAAAAAAA"}}, "malformed"),
            ({"registration": {**whole["registration"], "record": json.dumps(record)}}, "pskMissing")]
        for change, code in changes:
            with self.subTest(change), self.assertRaises(PushCryptError) as caught:
                Pending.from_json(json.dumps({**whole, **change}))
            self.assertEqual(caught.exception.code, code)

    def test_the_environment_of_a_device_token_is_compared(self) -> None:
        registration = Registration.from_json(RECORD, requiring=())
        row = StoredRegistration(registration, "a", "t", "production")
        for environment, is_written in (("production", False), ("sandbox", True), (None, True)):
            stored = StoredRegistration(registration, "a", "t", environment)  # type: ignore[arg-type]
            change = RegistrationChange.storing(row, over=[stored], is_proven=False)
            self.assertEqual((change.is_written, change.removed), (is_written, ()))

    def test_another_environment_and_a_token_of_bytes_are_refused(self) -> None:
        registration = Registration.from_json(RECORD, requiring=())
        with self.assertRaises(ValueError):
            StoredRegistration(registration, "a", "t", "prod")  # type: ignore[arg-type]
        with self.assertRaises(TypeError):
            StoredRegistration(registration, "a", b"t")  # type: ignore[arg-type]

    def test_a_parsed_value_in_place_of_its_text_is_refused_with_a_reason(self) -> None:
        calls: list[Any] = [
            lambda: Registration.from_json(json.loads(RECORD), requiring=()), lambda: Pending.from_json({}), lambda: Receipt.from_body({}),
            lambda: Opener(TOPIC, PHONE, senders=None).open({})]
        for call in calls:
            with self.assertRaisesRegex(TypeError, "as it came"):
                call()

    def test_an_answer_to_another_challenge_is_refused(self) -> None:
        (pending, _), (_, answer) = self.prove(), self.prove()
        with self.assertRaises(PossessionError) as caught:
            pending.confirm(answer, clock=lambda: NOW)
        self.assertEqual(caught.exception.code, "otherChallenge")


class ReceiptTests(unittest.TestCase):
    opened: dict[str, Any] = {"id": NAME, "push": "7", "outcome": "opened", "time": NOW}
    failed: dict[str, Any] = {
        "id": NAME + "-timedOut", "push": "7", "outcome": "timedOut", "time": NOW, "kid": "AAAAAAAAAAA", "skid": "BBBBBBBBBBA",
        "suppressed": True, "test": True}
    unopened: dict[str, Any] = {"id": RANDOM, "outcome": "unknownKey", "time": NOW, "kid": "AAAAAAAAAAA"}

    def test_the_three_kinds_are_read_as_json_and_as_a_form(self) -> None:
        self.assertEqual(NAME, "QYQ7oTAS2VrGRAnrYya3TfXBxZtdgvHP3H5T1cmMwdw")
        for members, name, failure in ((self.opened, NAME, None), (self.failed, NAME, "timedOut"), (self.unopened, None, "unknownKey")):
            receipt = Receipt.from_body(json.dumps({**members, "x": [1]}))
            self.assertEqual((receipt.name, receipt.failure, receipt.time), (name, failure, NOW))
            self.assertEqual(receipt.is_suppressed, "suppressed" in members)
            form = {field: "true" if value is True else value for field, value in members.items()}
            self.assertEqual(Receipt.from_body(urlencode({**form, "x": "é"})), receipt)

    def test_one_that_breaks_a_rule_is_malformed(self) -> None:
        opened, unopened = json.dumps(self.opened), json.dumps(self.unopened)
        wrong = ["", "x", "[]", opened + "x", opened.replace("}", ',"time":1}')]
        wrong += [json.dumps({**self.opened, **change}) for change in (
            {"id": NAME[:-1]}, {"id": NAME + "A"}, {"id": RANDOM}, {"id": NAME + "-opened"}, {"push": 7}, {"push": None},
            {"push": "x" * 257}, {"outcome": "timedOut"}, {"outcome": None}, {"outcome": ""}, {"time": str(NOW)}, {"time": -1},
            {"time": 1.0}, {"kid": "AAAAAAAAAAA"}, {"suppressed": False}, {"test": 1}, {"test": "true"})]
        wrong += [json.dumps({**self.failed, **change}) for change in (
            {"id": NAME}, {"id": NAME + "_timedOut"}, {"outcome": "timed out"}, {"kid": "AAAAAAAAAAB"}, {"skid": ""})]
        wrong += [json.dumps({**self.unopened, "push": "7"}), unopened.replace(RANDOM, RANDOM[:-1]), opened + " " * 4_096]
        form = urlencode(self.opened)
        wrong += ["&", "=", form + "&", "&" + form, form + "&time=1", form + "&x", form + "&x=1=2", form + "&=1", form + "&x=%",
                  form + "&x=%4g", form + "&x=%FF", form + "&x=1&x=2", form + "&test=1", form.replace(str(NOW), "0" + str(NOW)),
                  form.replace(str(NOW), "1e9"), form.replace(str(NOW), "+1")]
        for body in wrong:
            with self.subTest(body), self.assertRaises(PushCryptError) as caught:
                Receipt.from_body(body)
            self.assertEqual(caught.exception.code, "malformed")


class ReportedVersionTests(unittest.TestCase):
    def test_a_version_is_read_and_another_form_refused(self) -> None:
        version = ReportedVersion.from_json('{"epoch":1,"seq":7,"digest":"%s"}' % ("A" * 43))
        self.assertEqual((version.epoch, version.seq, version.digest), (1, 7, bytes(32)))
        self.assertFalse(version.is_of(b"{}"))
        for text in ("", "{}", '{"epoch":1,"seq":"7","digest":"%s"}' % ("A" * 43), '{"epoch":1,"seq":7,"digest":"A"}'):
            with self.assertRaises(KeyRecordError):
                ReportedVersion.from_json(text)


if __name__ == "__main__":
    unittest.main()
