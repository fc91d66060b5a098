"""Tests of day keys (PROTOCOL section 14): python -m unittest test_device_sets"""
from __future__ import annotations

import json
import threading
import unittest
from dataclasses import replace
from datetime import date, timedelta
from typing import Any, Callable
from unittest import mock

from pushcrypt import (
    KeyRecordError, OpenedPush, Opener, Pending, Placeholder, Push, PushCryptError, Recipient, RecipientKey, Registration,
    RegistrationChange, SealError, Sealer, SenderKey, StoredRegistration, challenge, pinned, possession,
)
from pushcrypt import _device_set, _keys

TOPIC, DAY = "com.example.app", 86_400
TODAY = date(2027, 1, 15)
NOON = 1_800_014_400  # of TODAY
PLACEHOLDER = Placeholder("New message")


class DeviceSetTests(unittest.TestCase):
    """A phone of suite 1 with a key for TODAY, one for the next two days, none for the day after them, and one for the week behind it."""

    def setUp(self) -> None:
        self.phone = RecipientKey.generate()
        self.keys = [self.phone.day_key() for _ in range(3)]
        self.days = list(zip(self.keys, (TODAY, TODAY + timedelta(1), TODAY + timedelta(4)), (1, 2, 7)))

    def text(self, sequence: int = 1, **options: Any) -> str:
        return self.phone.device_set(options.pop("days", self.days), sequence=sequence, **options)

    def record(self, **options: Any) -> str:
        return json.dumps(self.phone.registration_record(self.text(**options)))

    def seal(self, to: Recipient, at: float = NOON, **options: Any) -> Push:
        return Sealer(TOPIC, clock=lambda: at).seal({"aps": {"alert": "x"}}, to=to, placeholder=PLACEHOLDER, **options)

    def refused(self, kind: type[PushCryptError], code: str, call: Callable[..., Any], *arguments: Any, **options: Any) -> None:
        with self.assertRaises(kind) as caught:
            call(*arguments, **options)
        self.assertEqual(caught.exception.code, code, caught.exception)

    def test_the_key_of_the_day_is_used_from_its_first_to_its_last_second_and_the_key_of_the_record_on_a_day_without_one(self) -> None:
        to = Recipient.from_jwk(self.record())
        midnight = NOON - DAY // 2
        for start, end, key in ((-30, 0, self.phone), (0, 1, self.keys[0]), (1, 3, self.keys[1]), (3, 4, self.phone), (4, 11, self.keys[2]),
                                (11, 40, self.phone)):
            for at in (midnight + start * DAY, midnight + end * DAY - 1, midnight + end * DAY - 0.001):
                with self.subTest(at=at):
                    push = self.seal(to, at)
                    self.assertEqual(push.envelope["kid"], key.kid)
                    self.assertEqual(push.uses_last_resort_key, key is self.phone)
                    opened = Opener(TOPIC, [key], senders=None, clock=lambda: at).open(push.json)
                    self.assertEqual((opened.proof, opened.expires_at), (1, int(at) + DAY))

    def test_a_push_to_a_day_key_has_the_psk_of_the_record_and_opens_with_no_other_key(self) -> None:
        push = self.seal(Recipient.from_jwk(self.record()))
        without = RecipientKey(replace(self.keys[0]._key, psk=None))
        for key, code in ((without, "undecryptable"), (self.phone, "unknownKey"), (self.keys[1], "unknownKey")):
            self.refused(PushCryptError, code, Opener(TOPIC, [key], senders=None, clock=lambda: NOON).open, push.json)

    def test_a_signature_names_the_key_of_the_record_so_a_record_with_the_day_key_of_another_device_forwards_no_signed_push(self) -> None:
        signer, key = SenderKey.generate(), self.keys[0]
        pins = pinned(signer.public_jwk())

        def opened(record: dict[str, str]) -> OpenedPush:
            push = Sealer(TOPIC, signer=signer, clock=lambda: NOON).seal({"aps": {"alert": "x"}}, to=Recipient.from_jwk(record),
                                                                         placeholder=PLACEHOLDER)
            self.assertEqual(push.envelope["kid"], key.kid)
            return Opener(TOPIC, [key], senders=pins, clock=lambda: NOON).open(push.json)

        self.assertEqual(opened(self.phone.registration_record(self.text())).proof, 3)
        other = RecipientKey(replace(_keys.generate("p256"), psk=self.phone._key.psk))
        self.refused(PushCryptError, "undecryptable", opened, other.registration_record(other.device_set(self.days, sequence=1)))

    def test_each_suite_with_key_pairs_has_day_keys(self) -> None:
        for suite in (1, 2, 3):
            try:
                phone = RecipientKey.generate(suite)
            except KeyRecordError as error:
                self.assertEqual(error.code, "unsupportedSuite")
                continue
            day = phone.day_key()
            record = phone.registration_record(phone.device_set([(day, TODAY, 1)], sequence=1))
            push = self.seal(Registration.from_json(json.dumps(record), requiring=["psk", "asymmetric"]).recipient)
            self.assertEqual(Opener(TOPIC, [phone, day], senders=None, clock=lambda: NOON).open(push.json).payload, {"aps": {"alert": "x"}})
            self.assertEqual(push.envelope["kid"], day.kid)

    def test_a_policy_that_demands_day_keys_refuses_a_day_without_one_and_seals_to_records_without_a_set(self) -> None:
        to = Recipient.from_jwk(self.record())
        self.seal(to, requires_day_key=True)
        self.refused(SealError, "noDayKey", self.seal, to, NOON + 3 * DAY, requires_day_key=True)
        self.seal(Recipient.from_jwk(self.phone.registration_record()), requires_day_key=True)
        self.refused(SealError, "invalidOption", self.seal, to, requires_day_key=1)

    def test_a_push_lives_for_the_flight_by_default_and_no_longer_also_to_the_last_resort_key(self) -> None:
        for flight in (DAY, DAY + 1, 7 * DAY):
            to = Recipient.from_jwk(self.record(flight=flight))
            self.assertEqual(to.longest_lifetime, flight)
            for at in (NOON, NOON + 3 * DAY):
                self.assertEqual(self.seal(to, at).expires_at, at + flight)
                self.assertEqual(self.seal(to, at, expires_after=60).expires_at, at + 60)
                self.assertEqual(self.seal(to, at, expires_after=timedelta(seconds=flight)).expires_at, at + flight)
                self.refused(SealError, "expiresTooLate", self.seal, to, at, expires_after=flight + 1)
        self.refused(SealError, "invalidOption", self.seal, to, expires_after=30 * DAY + 1)
        bare = Recipient.from_jwk(self.phone.registration_record())
        self.assertEqual((bare.longest_lifetime, self.seal(bare).expires_at), (30 * DAY, NOON + 30 * DAY))

    def test_the_id_of_a_campaign_is_the_same_on_every_day_and_without_a_set(self) -> None:
        to = Recipient.from_jwk(self.record())
        ids = {self.seal(to, NOON + day * DAY, campaign="sale").id for day in range(12)}
        self.assertEqual(ids, {self.seal(Recipient.from_jwk(self.phone.registration_record()), campaign="sale").id})

    def test_the_key_of_a_day_is_read_at_its_first_push_and_then_kept_and_the_others_are_not_read(self) -> None:
        record = self.record()
        with mock.patch.object(_keys, "load_key", wraps=_keys.load_key) as load_key:
            to = Recipient.from_jwk(record)
            for at, reads in ((NOON, 1), (NOON + 1, 1), (NOON + DAY, 2), (NOON + 2 * DAY, 2), (NOON + 3 * DAY, 2), (NOON, 3)):
                self.seal(to, at)
                self.assertEqual(load_key.call_count, reads, at)
            load_key.reset_mock()
            Registration.from_json(record, requiring=())
            self.assertEqual(load_key.call_count, 3)

    def test_threads_that_seal_on_both_sides_of_midnight_get_the_key_of_their_own_day(self) -> None:
        to, wrong = Recipient.from_jwk(self.record()), []

        def seals(day: int) -> None:
            wrong.extend(1 for _ in range(200) if self.seal(to, NOON + day * DAY).envelope["kid"] != self.keys[day].kid)

        threads = [threading.Thread(target=seals, args=(number % 2,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_a_key_that_is_not_used_is_checked_by_the_reader_of_uploads_and_refused_by_the_sender_on_its_day(self) -> None:
        point = self.keys[1]._key.public
        bad = RecipientKey(replace(self.keys[1]._key, public=point[:-1] + bytes([point[-1] ^ 1])))
        record = self.record(days=[self.days[0], (bad, TODAY + timedelta(1), 2)])
        self.refused(KeyRecordError, "invalidKey", Registration.from_json, record, requiring=())
        to = Recipient.from_jwk(record)
        self.assertEqual(self.seal(to).envelope["kid"], self.keys[0].kid)
        self.refused(SealError, "invalidKey", self.seal, to, NOON + DAY)

    def test_a_record_in_a_set_of_one_and_in_a_set_with_times_has_its_day_keys(self) -> None:
        record = json.loads(self.record())
        times = {"seq": 1, "keys": {self.phone.kid: {"activatesAt": "2026-01-01T00:00:00Z", "psk": True}}}
        for text in ({"keys": [record]}, {"keys": [record], "pushcrypt": times}):
            self.assertEqual(self.seal(Recipient.from_jwk(text)).envelope["kid"], self.keys[0].kid)
            damaged = json.loads(json.dumps(text).replace("deviceSet\": \"", "deviceSet\": \"A"))
            self.refused(KeyRecordError, "malformed", Recipient.from_jwk, damaged)

    def test_the_record_of_a_recipient_has_its_device_set_and_a_private_record_is_read_without_it(self) -> None:
        record = json.loads(self.record())
        self.assertEqual(Recipient.from_jwk(Recipient.from_jwk(record).jwk()).jwk(), record)
        self.assertNotIn("deviceSet", RecipientKey.from_jwk({**self.phone.private_jwk(), "deviceSet": 1}).private_jwk())
        self.refused(KeyRecordError, "wrongKind", Recipient.from_jwk, {**record, **self.phone.private_jwk()})

    # Registrations

    def test_a_record_has_4096_bytes_without_its_device_set(self) -> None:
        record = self.record()
        room = 4_096 - len(record.encode()) + len(json.dumps(self.text()).encode())
        long = record.replace("{", "{" + " " * room, 1)
        self.assertGreater(len(long), 4_096)
        self.assertEqual(Registration.from_json(long, requiring=()).kid, self.phone.kid)
        self.refused(KeyRecordError, "tooLarge", Registration.from_json, long.replace("{", "{ ", 1), requiring=())
        self.refused(KeyRecordError, "tooLarge", Registration.from_json, "{".ljust(4_097 + 6 * _device_set.MAX_SET), requiring=())

    def test_a_challenge_is_sealed_to_the_key_of_the_record_and_the_answer_is_for_its_bytes_with_the_set(self) -> None:
        record = self.record()
        made = challenge(Registration.from_json(record, requiring=()), host="push.example.com", topic=TOPIC, clock=lambda: NOON)
        self.assertEqual(json.loads(made.json)["kid"], self.phone.kid)
        opener = Opener(TOPIC, [self.phone], senders=None, clock=lambda: NOON)
        pending = Pending.from_json(made.pending.to_json())
        answer = possession.answer(made.json, record=record.encode(), host="push.example.com", opener=opener)
        confirmed = pending.confirm(answer, clock=lambda: NOON)
        self.assertEqual(self.seal(confirmed.recipient).envelope["kid"], self.keys[0].kid)
        without = json.dumps(self.phone.registration_record()).encode()
        other = possession.answer(made.json, record=without, host="push.example.com", opener=opener)
        self.refused(PushCryptError, "possessionNotProven", pending.confirm, other, clock=lambda: NOON)

    def row(self, record: str, token: str = "t1") -> StoredRegistration:
        return StoredRegistration(Registration.from_json(record, requiring=()), "alice", token)

    def test_a_newer_set_replaces_the_stored_one_an_older_one_is_rolled_back_and_another_of_the_same_seq_a_conflict(self) -> None:
        stored = self.row(self.record(sequence=5))

        def change(record: str) -> tuple[bool, tuple[str, ...]]:
            made = RegistrationChange.storing(self.row(record), over=[stored], is_proven=False)
            return made.is_written, made.removed

        self.assertEqual(change(self.record(sequence=6)), (True, ()))
        self.assertEqual(change(self.record(sequence=6, days=self.days[1:])), (True, ()))
        self.assertEqual(change(self.record(sequence=5)), (False, ()))
        self.assertEqual(change(self.record(sequence=5).replace("{", "{ ", 1)), (True, ()))
        self.assertEqual(change(json.dumps(self.phone.registration_record())), (True, ()))
        self.refused(KeyRecordError, "rolledBack", change, self.record(sequence=4))
        self.refused(KeyRecordError, "conflict", change, self.record(sequence=5, days=self.days[1:]))
        self.refused(KeyRecordError, "conflict", change, self.record(sequence=5, flight=2 * DAY))
        for proven in (True, False):
            self.refused(KeyRecordError, "rolledBack", RegistrationChange.storing, self.row(self.record(sequence=4), "t2"), over=[stored],
                         is_proven=proven)

    def test_the_set_of_another_record_of_the_installation_is_not_compared(self) -> None:
        other = RecipientKey.generate()
        stored = self.row(json.dumps(other.registration_record(other.device_set([(other.day_key(), TODAY, 1)], sequence=9))))
        made = RegistrationChange.storing(self.row(self.record(sequence=1)), over=[stored], is_proven=False)
        self.assertEqual((made.is_written, made.removed), (True, (other.kid,)))

    def test_the_texts_of_a_recipient_a_registration_and_a_push_have_neither_the_psk_nor_a_day_key(self) -> None:
        to = Recipient.from_jwk(self.record())
        secret = self.phone.private_jwk()["psk"]
        for text in (repr(to), repr(to._key), repr(Registration.from_json(self.record(), requiring=())), repr(self.seal(to))):
            self.assertNotIn(secret, text)
            self.assertNotIn(self.keys[0].private_jwk()["x"], text)


if __name__ == "__main__":
    unittest.main()
