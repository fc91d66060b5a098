"""Tests of what a program calls: python -m unittest test_api"""
from __future__ import annotations

import json
import unittest
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

import pushcrypt
from pushcrypt import (
    KeyRecordError, Keyset, Offload, OpenedPush, OpenError, Opener, Placeholder, PublisherKey, Push, PushCryptError, Receipt,
    ReceiptError, Recipient, RecipientKey, Registration, SealedOffload, SealError, Sealer, SenderKey, pinned, seal_attachment, seal_offload,
)
from pushcrypt._json import b64, unb64
from pushcrypt.registration import RegistrationChange, StoredRegistration
from pushcrypt.sender_sets import Pins

TOPIC, NOW, DAY = "com.example.app", 1_800_000_000, 86_400
SECRET = "the-secret-text"
PAYLOAD = {"aps": {"alert": {"title": "Zoë", "body": SECRET}, "sound": "chime.caf", "badge": 3}, "x": [1]}
PLAIN = {"aps": {"alert": SECRET}}
PLAIN_TEXT = '{"aps":{"alert":"x"}}'
PLACEHOLDER = Placeholder(title="New message", body="Open the app to read it")
SENDER = SenderKey.generate()
PINNED = pinned(SENDER.public_jwk())


class APITests(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        shared = RecipientKey.generate(4)
        cls.phones = {
            "p256": RecipientKey.generate(1, psk=False), "p256 psk": RecipientKey.generate(1),
            "x25519": RecipientKey.generate(2, psk=False), "x25519 psk": RecipientKey.generate(2),
            "shared": shared, "device": shared.for_device("phone-1"),
        }

    def seal(self, phone: RecipientKey, payload: Any = PLAIN, signer: SenderKey | None = SENDER, **options: Any) -> Push:
        sealer = Sealer(TOPIC, signer=signer, clock=lambda: NOW + 0.9)
        options = {"bare": True, "placeholder": PLACEHOLDER, **options}
        return sealer.seal(payload, to=Recipient.from_jwk(phone.registration_record()), **options)

    def open(self, push: Push, *phones: RecipientKey, senders: Keyset | None = PINNED) -> OpenedPush:
        return Opener(TOPIC, phones, senders=senders, clock=lambda: NOW).open(push.json)

    def refused(self, error: type[PushCryptError], code: str, call: Any, *arguments: Any, **options: Any) -> PushCryptError:
        with self.assertRaises(error) as caught:
            call(*arguments, **options)
        self.assertEqual(caught.exception.code, code, caught.exception)
        self.assertNotIn(SECRET, str(caught.exception))
        return caught.exception

    # Sealing

    def test_a_placeholder_has_each_of_apples_alert_keys_and_is_refused_without_a_text(self) -> None:
        def sealed(**members: Any) -> Any:
            sealer = Sealer(TOPIC, clock=lambda: NOW)
            recipient = Recipient.from_jwk(self.phones["p256"].registration_record())
            return json.loads(sealer.seal(PLAIN, to=recipient, placeholder=Placeholder(**members)).json)["aps"]["alert"]

        self.assertEqual(
            sealed(
                title="T", subtitle="S", body="B", title_loc_key="TK", title_loc_args=["1"], subtitle_loc_key="SK",
                subtitle_loc_args=("2", "3"), loc_key="BK", loc_args=[""], launch_image="L"),
            {"title": "T", "subtitle": "S", "body": "B", "title-loc-key": "TK", "title-loc-args": ["1"],
             "subtitle-loc-key": "SK", "subtitle-loc-args": ["2", "3"], "loc-key": "BK", "loc-args": [""],
             "launch-image": "L"})
        for members in ({"subtitle_loc_key": "SK"}, {"loc_args": ["x"]}, {"launch_image": "L"}, {"title": "T", "subtitle": 1},
                        {"title": "T", "loc_args": "ab"}, {"title": "T", "loc_args": [1]}):
            self.refused(SealError, "invalidPlaceholder", sealed, **members)

    def test_a_sealed_push_opens_for_each_kind_of_recipient_signed_and_unsigned(self) -> None:
        for name, phone in self.phones.items():
            for signer, senders in ((SENDER, PINNED), (None, None)):
                with self.subTest(recipient=name, signed=signer is not None):
                    push = self.seal(phone, PAYLOAD, signer)
                    self.assertNotIn(SECRET.encode(), push.json)
                    opened = self.open(push, phone, senders=senders)
                    self.assertEqual(opened.payload, PAYLOAD)
                    self.assertEqual((opened.id, opened.issued_at, opened.expires_at), (push.id, NOW, push.expires_at))
                    self.assertEqual(opened.signed_by, SENDER.kid if signer else None)

    def test_a_push_has_the_headers_and_the_visible_members_of_the_protocol(self) -> None:
        push = self.seal(self.phones["p256 psk"], PAYLOAD, expires_after=timedelta(hours=1))
        self.assertEqual(push.headers, {
            "apns-push-type": "alert", "apns-topic": TOPIC, "apns-expiration": str(NOW + 3600), "apns-priority": "10"})
        outer = json.loads(push.json)
        self.assertEqual(outer["aps"], {"alert": {"title": "New message", "body": "Open the app to read it"},
                                        "mutable-content": 1, "sound": "default"})
        self.assertEqual(list(outer["pushcrypt"]), ["v", "kid", "sealed", "skid"])

    def test_a_mapping_its_text_and_its_bytes_are_sealed_alike_and_text_byte_for_byte(self) -> None:
        phone = self.phones["device"]
        text = '{ "aps": {"alert":"Zo\\u00eb"},\t"n": 1.50e0 }'
        for payload in (text, text.encode()):
            self.assertEqual(self.open(self.seal(phone, payload), phone).json, text)
        self.assertEqual(self.open(self.seal(phone, json.loads(text)), phone).json, '{"aps":{"alert":"Zoë"},"n":1.5}')

    def test_payloads_of_different_lengths_have_one_length_after_padding(self) -> None:
        phone = self.phones["p256 psk"]
        for padding in (512, "limit"):
            lengths = {len(self.seal(phone, {"aps": {"alert": "x" * count}}, padding=padding).json) for count in (1, 50, 200)}
            self.assertEqual(len(lengths), 1)
        unpadded = [len(self.seal(phone, {"aps": {"alert": "x" * count}}, padding=None).json) for count in (30, 60)]
        self.assertEqual(unpadded[1] - unpadded[0], 40)

    def test_a_payload_that_is_too_large_is_refused_with_its_exact_size(self) -> None:
        for phone in self.phones.values():
            exact = len(self.seal(phone, padding=None).json)
            self.seal(phone, limit=exact)
            error = self.refused(SealError, "tooLarge", self.seal, phone, limit=exact - 1)
            assert isinstance(error, SealError)
            self.assertEqual((error.bytes_needed, error.bytes_available), (exact, exact - 1))

    def test_payloads_that_are_no_notifications_are_refused(self) -> None:
        for payload in ({}, {"aps": {}}, {"aps": {"alert": ""}}, {"aps": {"alert": SECRET}, "pushcrypt": 1}, [1], None, 1,
                        {"aps": {"alert": SECRET, "x": float("nan")}}, {"aps": {"alert": SECRET, "x": b""}},
                        {"aps": {"alert": SECRET + "\ud800"}}, f'{{"aps":{{"alert":"{SECRET}","alert":"b"}}}}'):
            self.refused(SealError, "invalidPayload", self.seal, self.phones["p256"], payload)

    def test_payloads_of_live_activities_are_refused_and_alerts_with_an_event_of_their_own_are_sealed(self) -> None:
        for members in ({"event": "update"}, {"content-state": {}}, {"attributes": {"a": 1}}, {"attributes-type": "T"}):
            payload = {"aps": {"alert": SECRET, **members}}
            self.refused(SealError, "invalidPayload", self.seal, self.phones["p256"], payload)
            self.refused(SealError, "invalidPayload", seal_offload, payload)
        for members in ({"event": "order-shipped"}, {"event": None, "content-state": None, "attributes": None}):
            self.seal(self.phones["p256"], {"aps": {"alert": SECRET, **members}})

    def test_options_out_of_range_are_refused(self) -> None:
        for options in ({"expires_after": 0}, {"expires_after": timedelta(days=30, seconds=1)}, {"expires_after": 1.5},
                        {"expires_after": True}, {"limit": 4097}, {"limit": 0}, {"padding": 0}, {"padding": "max"},
                        {"exposed": ["alert"]}, {"campaign": ""}, {"campaign": "x" * 256}, {"campaign": 1},
                        {"retract": ["AAAA"]}, {"retract": ["A" * 22] * 2}, {"badge_add": 1000}, {"badge_add": True}):
            with self.subTest(options):
                self.refused(SealError, "invalidOption", self.seal, self.phones["p256"], **options)

    def test_a_clock_whose_time_has_no_form_in_a_message_is_refused(self) -> None:
        to = Recipient.from_jwk(self.phones["p256"].registration_record())
        for time, is_valid in ((-1, False), (0, True), (2**53 - 61, True), (2**53 - 60, False)):
            sealer = Sealer(TOPIC, clock=lambda: time)
            if is_valid:
                self.assertEqual(sealer.seal(PLAIN, to=to, placeholder=PLACEHOLDER, expires_after=60).expires_at, time + 60)
            else:
                self.refused(SealError, "invalidOption", sealer.seal, PLAIN, to=to, placeholder=PLACEHOLDER, expires_after=60)

    def test_one_campaign_gives_one_id_for_each_recipient(self) -> None:
        first, again = (self.seal(self.phones["device"], campaign="spring") for _ in range(2))
        self.assertEqual(first.id, again.id)
        self.assertNotEqual(first.json, again.json)
        ids = {self.seal(phone, campaign="spring").id for phone in self.phones.values()}
        self.assertEqual(len(ids), len(self.phones))
        self.assertNotEqual(self.seal(self.phones["device"], campaign="summer").id, first.id)

    # Instructions

    def test_instructions_open_as_they_were_sealed(self) -> None:
        for phone in self.phones.values():
            earlier = self.seal(phone)
            opened = self.open(self.seal(phone, retract=[earlier.id], badge_add=-2, self_test=True), phone)
            self.assertEqual((opened.retract, opened.badge_add, opened.quiet, opened.self_test),
                             ((earlier.id,), -2, False, True))
            quiet = self.seal(phone, quiet=True)
            self.assertTrue(self.open(quiet, phone).quiet)
            self.assertEqual(quiet.headers["apns-priority"], "5")

    def test_instructions_are_refused_where_the_device_would_ignore_them(self) -> None:
        avatar = seal_attachment(b"x").at("https://cdn.example.com/a", type="image/png", is_avatar=True)
        for options in ({"retract": ["A" * 22]}, {"quiet": True}, {"badge_add": 1}, {"attachments": [avatar]}):
            for name, phone in self.phones.items():
                if name in ("p256", "x25519"):
                    self.refused(SealError, "notAuthenticated", self.seal, phone, signer=None, **options)
                else:
                    self.seal(phone, signer=None, **options)

    def test_a_quiet_push_shows_no_sound_outside_and_fetches_nothing(self) -> None:
        phone = self.phones["x25519"]
        self.assertNotIn("sound", json.loads(self.seal(phone, PAYLOAD, quiet=True).json)["aps"])
        attachment = seal_attachment(b"x").at("https://cdn.example.com/a", type="image/png")
        offload = seal_offload(PLAIN).at("https://cdn.example.com/b")
        for options in ({"exposed": ["sound"]}, {"attachments": [attachment]}, {"offload": offload}):
            self.refused(SealError, "invalidOption", self.seal, phone, PAYLOAD, quiet=True, **options)

    def test_a_push_cannot_set_the_badge_and_add_to_it(self) -> None:
        self.refused(SealError, "invalidPayload", self.seal, self.phones["x25519"], PAYLOAD, badge_add=1)

    # Blobs

    def test_attachments_and_an_avatar_open_with_what_the_push_says(self) -> None:
        phone, picture, face = self.phones["p256 psk"], seal_attachment(b"picture" * 20_000), seal_attachment(b"face")
        opened = self.open(self.seal(phone, attachments=[
            picture.at("https://cdn.example.com/a", type="image/png", id="a"),
            face.at("https://cdn.example.com/b", type="image/jpeg", is_avatar=True)]), phone)
        self.assertEqual([(one.type, one.id, one.is_avatar) for one in opened.attachments],
                         [("image/png", "a", False), ("image/jpeg", None, True)])
        self.assertEqual(opened.attachments[0].open(picture.data), b"picture" * 20_000)
        self.assertEqual(opened.attachments[1].open(face.data), b"face")
        self.refused(OpenError, "undecryptable", opened.attachments[0].open, face.data)
        self.refused(OpenError, "undecryptable", opened.attachments[0].open, picture.data[:-1])

    def test_an_offloaded_payload_opens_byte_for_byte_and_its_blob_hides_its_length(self) -> None:
        phone, long = self.phones["shared"], {"aps": {"alert": "x" * 9000}}
        blob = seal_offload(long)
        self.assertEqual((blob.size % 4096, len(seal_offload(PLAIN).data)), (0, 4 + 4096 + 16))
        opened = self.open(self.seal(phone, offload=blob.at("https://cdn.example.com/p")), phone)
        self.assertEqual(json.loads(opened.open_offload(blob.data)), long)
        self.assertEqual(opened.offload and opened.offload.open(blob.data), opened.open_offload(blob.data))
        self.refused(SealError, "invalidPayload", seal_offload, {"aps": {}})
        self.refused(OpenError, "malformed", self.open(self.seal(phone), phone).open_offload, blob.data)

    def test_the_largest_payload_that_can_be_offloaded_opens_with_any_number_of_spaces_behind_it(self) -> None:
        phone, limit = self.phones["shared"], 256 * 1024
        largest = '{"aps":{"alert":"x"},"n":"%s"}'
        largest %= "y" * (limit - len(largest) + 2)
        self.assertEqual(len(largest), limit)
        for text, size in ((largest, limit), (largest + " " * 5000, limit), ('{"aps":{"alert":"x"}}' + " " * limit, 4096)):
            blob = seal_offload(text)
            self.assertEqual(blob.size, size)
            opened = self.open(self.seal(phone, offload=blob.at("https://cdn.example.com/p")), phone)
            self.assertEqual(opened.open_offload(blob.data), text.rstrip(" "))
        self.refused(SealError, "invalidPayload", seal_offload, largest + "\n")

    def test_a_payload_has_at_most_16384_values_offloaded_or_not(self) -> None:
        phone, numbers = self.phones["shared"], [0] * (16_384 - 4)
        text = {"aps": {"alert": "x"}, "n": numbers}
        blob = seal_offload(text)
        opened = self.open(self.seal(phone, offload=blob.at("https://cdn.example.com/p")), phone)
        self.assertEqual(json.loads(opened.open_offload(blob.data)), text)
        for seal in (seal_offload, lambda payload: self.seal(phone, payload)):
            self.refused(SealError, "invalidPayload", seal, {**text, "m": 0})

    def test_an_offloaded_badge_is_refused_in_a_message_that_adds_to_the_badge(self) -> None:
        phone, blob = self.phones["shared"], seal_offload(PAYLOAD)
        reference = blob.at("https://cdn.example.com/p")
        self.refused(SealError, "invalidPayload", self.seal, phone, offload=reference, badge_add=1)
        stored = Offload.from_members(reference.members())  # doesn't show what the blob has
        opened = self.open(self.seal(phone, offload=stored, badge_add=1), phone)
        self.refused(OpenError, "malformed", opened.open_offload, blob.data)

    def test_an_attachment_in_the_place_of_an_offload_and_the_reverse_are_type_errors(self) -> None:
        attachment = seal_attachment(b"x").at("https://cdn.example.com/a", type="image/png")
        offload = seal_offload(PLAIN).at("https://cdn.example.com/b")
        for options in ({"offload": attachment}, {"attachments": [offload]}, {"attachments": attachment}, {"offload": offload.members()},
                        {"attachments": [attachment.members()]}):
            with self.assertRaises(TypeError):
                self.seal(self.phones["shared"], **options)

    # Payloads that don't fit

    def test_a_payload_that_does_not_fit_is_offloaded_and_the_push_has_its_aps(self) -> None:
        stored: list[SealedOffload] = []

        def store(blob: SealedOffload) -> str:
            stored.append(blob)
            return "https://files.example.com/1"

        picture = seal_attachment(b"x").at("https://files.example.com/2", type="image/png")
        long = '{ "x" : "%s", "aps" : {"alert":"%s","badge": 3 } , "y":1 }  ' % ("y" * 9000, SECRET)
        for phone in self.phones.values():
            push = self.seal(phone, long, oversize=store, campaign="c", exposed=["badge"], attachments=[picture])
            self.assertEqual((push.offloaded, push.aps["badge"]), (stored[-1], 3))
            self.assertLessEqual(len(push.json), 4096)
            opened = self.open(push, phone)
            self.assertEqual((opened.json, opened.attachments), ('{"aps":{"alert":"%s","badge": 3 }}' % SECRET, (picture,)))
            self.assertEqual(opened.id, self.seal(phone, campaign="c").id)
            assert opened.offload is not None
            self.assertEqual(opened.offload.url, "https://files.example.com/1")
            self.assertEqual(opened.open_offload(stored[-1].data), long.rstrip(" "))
        self.assertEqual(len(stored), len(self.phones))

    def test_a_payload_that_fits_or_is_offloaded_already_is_not_offloaded(self) -> None:
        phone, blob = self.phones["p256 psk"], seal_offload(PLAIN).at("https://files.example.com/1")
        exact = self.seal(phone, padding=None)
        push = self.seal(phone, limit=len(exact.json), oversize=self.fail)
        self.assertIsNone(push.offloaded)
        self.refused(SealError, "tooLarge", self.seal, phone, {**PLAIN, "x": "y" * 4000}, offload=blob, oversize=self.fail)
        self.refused(SealError, "invalidOption", self.seal, phone, {**PLAIN, "x": "y" * 4000}, quiet=True, oversize=self.fail)
        self.refused(SealError, "invalidPayload", self.seal, phone, {**PLAIN, "x": "y" * 262_144}, oversize=self.fail)
        self.refused(SealError, "invalidPayload", self.seal, phone, {**PAYLOAD, "y": "y" * 4000}, badge_add=1, oversize=self.fail)

    def test_a_text_that_is_too_long_for_a_push_is_refused_with_its_size_and_the_caller_shortens_it(self) -> None:
        phone, url = self.phones["x25519 psk"], "https://files.example.com/1"
        long = {"aps": {"alert": {"title": "t", "body": "é" * 4000}}, "x": 1}
        error = self.refused(SealError, "tooLarge", self.seal, phone, long, oversize=lambda _: url)
        assert isinstance(error, SealError) and error.bytes_needed is not None and error.bytes_available is not None
        blob = seal_offload(long)
        short = {"aps": {"alert": {"title": "t", "body": "é" * 400 + "…"}}}
        self.assertEqual(error.bytes_available, 4096)
        shorter = len(self.seal(phone, short, offload=blob.at(url), padding=None).json)
        self.assertAlmostEqual(error.bytes_needed, shorter + 2 * 3600 * 4 / 3, delta=8)
        opened = self.open(self.seal(phone, short, offload=blob.at(url)), phone)
        self.assertEqual((opened.payload, json.loads(opened.open_offload(blob.data))), (short, long))

    def test_an_address_that_is_none_is_refused_and_an_error_of_the_store_is_raised_as_it_is(self) -> None:
        phone, long = self.phones["device"], {**PLAIN, "x": "y" * 4000}

        def full(_: SealedOffload) -> str:
            raise OSError("disk full")

        for url in ("http://files.example.com/1", "", None, "https://a/" + "x" * 2048):
            self.refused(SealError, "invalidOption", self.seal, phone, long, oversize=lambda _: url)
        with self.assertRaisesRegex(OSError, "disk full"):
            self.seal(phone, long, oversize=full)
        for plan in ("https://files.example.com/1", True, {}):
            with self.assertRaises(TypeError):
                self.seal(phone, oversize=plan)

    def test_whatever_is_sealed_opens(self) -> None:
        random, cdn = Random(11), "https://files.example.com/" + "x" * 2022
        blob = seal_offload(PLAIN_TEXT + " " * 200_000)
        choices: dict[str, list[Any]] = {
            "padding": [1, 7, 128, 4096, 10**9, "limit", None], "limit": [None, 400, 1000, 4095, 4096], "collapse_id": [None, "a"],
            "carrier": ["apns", "rebuilt", "fcm", "text", "expo", "oneSignal"], "expires_after": [1, 60, 30 * DAY, timedelta(days=30)],
            "exposed": [(), ["badge"], ["x-\u00e9", "thread-id"], ["sound", "sound"], ["content-available"], ["n"] * 33],
            "campaign": [None, "é" * 127, "é" * 128], "retract": [(), ["A" * 22], [b64(bytes([one] * 16)) for one in range(17)]],
            "quiet": [False, True], "badge_add": [None, -999, 999, 1000, 0], "self_test": [False, True],
            "offload": [None, blob.at(cdn[:99]), blob.at(cdn)], "oversize": [None, lambda _: cdn[:90]],
            "attachments": [(), [seal_attachment(b"").at(cdn[:60], type="a/b", id="a" * 64)] * 2,
                            [seal_attachment(b"x").at(cdn[:60 + one], type="a/b", id=str(one)) for one in range(9)],
                            [seal_attachment(b"x").at("https://a:65535?%20", type="a" * 64 + "/b", is_avatar=True)]]}
        texts = ['{"aps":{"alert":"x"}}', ' {"aps":{"alert":{"loc-key":"\\u0041"},"b\\u0061dge":1.0,"sound":{}, "n":1e400} } \n ',
                 '{"aps":{"alert":"\U0001f600","sound":{"volume":1,"name":"\\ud83d\\ude00"},"content-available":1,"badge":0},"x":-0}',
                 '{"n":%s,"aps":{"alert":"x","thread-id":""}}' % ("[" * 63 + "]" * 63), '{"aps":{"alert":"x"},"n":"%s"}' % ("é" * 3000),
                 '{"aps":{"alert":"x"},"n":[%s]}' % ",".join("0" * 16_379)]
        sealed, phones = 0, list(self.phones.values())
        for _ in range(2000):
            given = {name: random.choice(values) for name, values in choices.items() if random.random() < 0.2}
            phone, text, signer = random.choice(phones), random.choice(texts), random.choice((SENDER, None))
            try:
                push = self.seal(phone, text, signer, **given)
            except SealError:
                continue
            sealed += 1
            opener = Opener(TOPIC, phone, senders=PINNED if signer else None, carriers=[push.carrier], clock=lambda: NOW)
            opened, blob_ = opener.open(push.json), push.offloaded
            self.assertLessEqual(len(push.json), given.get("limit") or 4096)
            self.assertEqual(text.rstrip(" "), opened.json if blob_ is None else opened.open_offload(blob_.data))
            if "offload" in given and given["offload"] is not None:
                self.assertEqual(opened.open_offload(blob.data), PLAIN_TEXT)
        self.assertGreater(sealed, 500)

    # Keys

    def test_a_backend_seals_to_a_device_with_the_shared_key_of_all(self) -> None:
        master = Recipient.from_jwk(self.phones["shared"].registration_record())
        push = Sealer(TOPIC, signer=SENDER, clock=lambda: NOW).seal(
            PLAIN, to=master.for_device("phone-1"), placeholder=PLACEHOLDER)
        self.assertEqual(self.open(push, self.phones["device"]).payload, PLAIN)
        self.refused(OpenError, "undecryptable", self.open, push, self.phones["shared"])
        self.refused(KeyRecordError, "invalidDeviceID", master.for_device, "a b")
        self.refused(KeyRecordError, "wrongKind", Recipient.from_jwk(self.phones["p256"].registration_record()).for_device, "a")

    def test_records_of_the_wrong_kind_are_refused(self) -> None:
        phone = self.phones["p256"]
        for read, record in ((Recipient.from_jwk, phone.private_jwk()), (Recipient.from_jwk, SENDER.public_jwk()),
                             (RecipientKey.from_jwk, phone.registration_record()), (RecipientKey.from_jwk, SENDER.private_jwk()),
                             (SenderKey.from_jwk, SENDER.public_jwk()), (SenderKey.from_jwk, phone.private_jwk()),
                             (SenderKey.from_jwk, PublisherKey.generate().private_jwk()), (pinned, phone.registration_record())):
            self.refused(KeyRecordError, "wrongKind", read, record)
        for record in (None, 1, "x", {}, {"keys": []}, b"\xff", {"kty": object()}):
            self.refused(KeyRecordError, "malformed", Recipient.from_jwk, record)
        for key in (SenderKey.from_jwk(json.dumps(SENDER.private_jwk())), SenderKey.from_jwk(SENDER.private_jwk())):
            self.assertEqual(key, SENDER)

    def test_a_shared_key_without_a_device_is_refused_unless_bare_is_given(self) -> None:
        record = self.phones["shared"].registration_record()
        sealer = Sealer(TOPIC, clock=lambda: NOW)
        for to in (Recipient.from_jwk(record), Recipient.from_keyset(Keyset.from_json(record))):
            self.refused(SealError, "deviceMissing", sealer.seal, PLAIN, to=to, placeholder=PLACEHOLDER)
            sealer.seal(PLAIN, to=to, placeholder=PLACEHOLDER, bare=True)
            sealer.seal(PLAIN, to=to.for_device("phone-1"), placeholder=PLACEHOLDER)

    def test_a_flag_that_is_no_boolean_is_refused(self) -> None:
        attachment = seal_attachment(b"x").at("https://cdn.example.com/a", type="image/png", is_avatar="no")  # type: ignore[arg-type]
        for value in (1, 0, "", "false", None, []):
            for name in ("quiet", "self_test", "bare"):
                self.refused(SealError, "invalidOption", self.seal, self.phones["device"], **{name: value})
            with self.assertRaises(TypeError):
                RecipientKey.generate(1, psk=value)
        self.refused(SealError, "invalidOption", self.seal, self.phones["device"], attachments=[attachment])
        for options in ({"exposed": "badge"}, {"retract": "A" * 22}, {"minimum_suite": 0}, {"minimum_suite": True},
                        {"minimum_suite": "3"}):
            self.refused(SealError, "invalidOption", self.seal, self.phones["device"], **options)

    def test_a_suite_or_a_permission_of_another_type_is_refused(self) -> None:
        for suite in (True, 1.0, "1", None, 5):
            with self.assertRaises(KeyRecordError) as refusal:
                RecipientKey.generate(suite)  # type: ignore[arg-type]
            self.assertEqual(refusal.exception.code, "unsupportedKey")
        sender = pinned(SENDER.public_jwk())
        for value in (1, 0, "false", None):
            with self.assertRaisesRegex(TypeError, "allows_lower_suite"):
                Recipient.from_keyset(sender, allows_lower_suite=value)  # type: ignore[arg-type]
            for options in ({"is_proven": value}, {"is_proven": True, "allows_lower_suite": value}):
                with self.assertRaisesRegex(TypeError, "is_proven"):
                    RegistrationChange.storing(None, over=[], **options)  # type: ignore[arg-type]

    def test_a_private_member_that_belongs_to_another_kind_of_key_is_refused(self) -> None:
        for name, member in (("p256", "priv"), ("x25519", "priv")):
            record = {**self.phones[name].registration_record(), member: b64(bytes(32))}
            with self.assertRaises(KeyRecordError) as refusal:
                Registration.from_json(json.dumps(record), requiring=())
            self.assertEqual(refusal.exception.code, "malformed")

    def test_what_a_backend_requires_of_a_record_is_named_and_a_misspelt_requirement_is_a_type_error(self) -> None:
        text = json.dumps(self.phones["p256 psk"].registration_record())
        self.assertEqual(Registration.from_json(text, requiring=("psk", "asymmetric")).kid, self.phones["p256 psk"].kid)
        for requiring in ("psk", ["PSK"], ["psk", ""]):
            with self.assertRaises(TypeError):
                Registration.from_json(text, requiring=requiring)  # type: ignore[arg-type]
        self.assertNotIn(self.phones["p256 psk"].private_jwk()["psk"], repr(Registration.from_json(text, requiring=())))

    def test_a_record_or_another_key_in_the_place_of_a_recipient_or_a_signer_is_a_type_error(self) -> None:
        phone = self.phones["p256"]
        for to in (phone.registration_record(), phone, SENDER, None):
            with self.assertRaises(TypeError):
                Sealer(TOPIC).seal(PLAIN, to=to, placeholder=PLACEHOLDER)  # type: ignore[arg-type]
        for signer in (SENDER.private_jwk(), PublisherKey.generate(), phone):
            with self.assertRaises(TypeError):
                Sealer(TOPIC, signer=signer)  # type: ignore[arg-type]

    def test_a_text_in_the_place_of_a_placeholder_is_a_type_error(self) -> None:
        recipient = Recipient.from_jwk(self.phones["p256"].registration_record())
        with self.assertRaisesRegex(TypeError, "isn't a Placeholder"):
            Sealer(TOPIC).seal(PLAIN, to=recipient, placeholder="New message")  # type: ignore[arg-type]

    def test_senders_are_pinned_by_the_json_or_the_object_of_a_jwk_and_a_set_with_times_is_refused(self) -> None:
        jwk = SENDER.public_jwk()
        for record in (jwk, json.dumps(jwk), json.dumps(jwk).encode(), {"keys": [jwk]}):
            self.assertEqual(pinned(record), PINNED)
        published = {"keys": [jwk], "pushcrypt": {"seq": 1, "keys": {SENDER.kid: {
            "activatesAt": "2027-01-01T00:00:00Z", "expiresAt": "2028-01-01T00:00:00Z"}}}}
        error = self.refused(KeyRecordError, "malformed", pinned, published)
        self.assertIn("Keyset.from_json", error.reason)
        with self.assertRaises(TypeError):
            pinned()

    def published(self, **times: dict[str, Any]) -> dict[str, Any]:
        """A set of public keys with their times and seq 7."""
        keys = {name: self.phones[name] for name in times}
        return {"keys": [{name: value for name, value in key.registration_record().items() if name != "psk"}
                         for key in keys.values()],
                "pushcrypt": {"seq": 7, "keys": {key.kid: times[name] for name, key in keys.items()}}}

    def test_the_key_of_a_published_set_is_chosen_by_time(self) -> None:
        new = {"activatesAt": "2027-01-20T00:00:00Z"}
        old = {"activatesAt": "2027-01-01T00:00:00Z", "retiresAt": new["activatesAt"]}
        keyset = Keyset.from_json(self.published(p256=old, x25519=new))
        for at, name in ((NOW, "p256"), (NOW + 10 * DAY, "x25519")):
            self.assertEqual(Recipient.from_keyset(keyset, at=at).kid, self.phones[name].kid)
        self.refused(KeyRecordError, "noKeySeals", Recipient.from_keyset, keyset, at=NOW - 365 * DAY)
        self.refused(KeyRecordError, "malformed", Recipient.from_jwk, self.published(p256=old, x25519=new))
        revoked = Keyset.from_json(self.published(p256={**new, "revokedAt": "2027-01-21T00:00:00Z"}))
        self.refused(KeyRecordError, "noKeySeals", Recipient.from_keyset, revoked, at=NOW + 10 * DAY)

    def test_the_only_key_of_a_set_neither_signs_nor_seals_before_its_time_or_after_its_destruction(self) -> None:
        phone, publisher, begins = self.phones["x25519"], PublisherKey.generate(), "2027-01-01T00:00:00Z"
        for read, record in ((Recipient.from_jwk, phone.registration_record()), (SenderKey.from_jwk, SENDER.private_jwk()),
                             (PublisherKey.from_jwk, publisher.private_jwk())):
            def text(**times: str) -> str:
                return json.dumps({"keys": [record], "pushcrypt": {"seq": 1, "keys": {record["kid"]: times}}})

            self.assertEqual(read(text(activatesAt=begins), at=NOW).kid, record["kid"])
            self.assertEqual(read(record, at=NOW).kid, record["kid"])
            for times in ({}, {"activatesAt": "2027-02-01T00:00:00Z"}, {"activatesAt": begins, "destroyedAt": begins}):
                self.refused(KeyRecordError, "noKeySeals", read, text(**times), at=NOW)
            self.refused(KeyRecordError, "noKeySeals", read, text(activatesAt="9999-01-01T00:00:00Z"))

    def test_a_destroyed_key_neither_opens_nor_verifies(self) -> None:
        phone, moment = self.phones["x25519"], "2027-01-01T00:00:00Z"
        for read, record in ((RecipientKey.from_jwk, phone.private_jwk()), (pinned, SENDER.public_jwk())):
            keyset = {"keys": [record], "pushcrypt": {"seq": 1, "keys": {record["kid"]: {"activatesAt": moment, "destroyedAt": moment}}}}
            self.refused(KeyRecordError, "keyExpired", read, keyset)

    def test_a_text_of_keys_has_at_most_4_MiB(self) -> None:
        text = json.dumps(self.phones["x25519"].registration_record())
        longest = text + " " * (4 * 2**20 - len(text))
        for read in (Keyset.from_json, Recipient.from_jwk):
            read(longest)
            for longer in (longest + " ", longest.encode() + b" ", {"x": longest}):
                self.refused(KeyRecordError, "tooLarge", read, longer)

    def test_an_old_published_set_is_refused_by_its_seq(self) -> None:
        text = json.dumps(self.published(p256={"activatesAt": "2027-01-01T00:00:00Z"}))
        self.assertEqual(Keyset.from_json(text, minimum_sequence=7).sequence, 7)
        self.refused(KeyRecordError, "rolledBack", Keyset.from_json, text, minimum_sequence=8)

    def test_a_published_key_that_needs_a_psk_is_refused_without_it(self) -> None:
        keyset = Keyset.from_json(self.published(**{"p256 psk": {"activatesAt": "2027-01-01T00:00:00Z", "psk": True}}))
        self.refused(KeyRecordError, "pskMissing", Recipient.from_keyset, keyset, at=NOW)

    def test_an_exposed_number_is_in_the_range_of_a_double_and_stays_as_it_is(self) -> None:
        for number, is_double in (("0.5", True), ("1e-99999999999", True), ("-1E-400", True), ("1e308", True), ("-0", True),
                                  ("1e309", False), ("-1e99999999999", False)):
            payload = '{"aps":{"alert":"x","relevance-score":%s}}' % number
            options: dict[str, Any] = {"exposed": ["relevance-score"], "carrier": "oneSignal"}
            if is_double:
                push = self.seal(self.phones["p256"], payload, **options)
                self.assertIn(b'"relevance-score":' + number.encode() + b"}", push.json)
                self.assertEqual(push.request["ios_relevance_score"], float(number))
            else:
                self.refused(SealError, "notExposable", self.seal, self.phones["p256"], payload, **options)

    # Opening

    def test_an_opener_uses_only_the_key_of_the_kid(self) -> None:
        phone, other = self.phones["p256"], self.phones["p256 psk"]
        push = self.seal(phone)
        self.assertEqual(self.open(push, other, phone).payload, PLAIN)
        renamed = replace(push, json=push.json.replace(phone.kid.encode(), other.kid.encode()))
        self.refused(OpenError, "undecryptable", self.open, renamed, phone, other)
        self.refused(OpenError, "unknownKey", self.open, push, other)
        self.refused(KeyRecordError, "duplicateKey", self.open, push, phone, phone)

    def test_every_failed_decryption_looks_alike(self) -> None:
        found = set()
        for phone in self.phones.values():
            push = self.seal(phone)
            text = json.loads(push.json)["pushcrypt"]["sealed"]
            sealed = unb64(text)
            for changed in (sealed[:-1], bytes(3) + sealed[3:], sealed[:-1] + bytes([sealed[-1] ^ 1]), sealed[:70], sealed[:1]):
                broken = replace(push, json=push.json.replace(text.encode(), b64(changed).encode()))
                found.add(str(self.refused(OpenError, "undecryptable", self.open, broken, phone)))
            unsigned = self.seal(phone, signer=None)
            found.add(str(self.refused(OpenError, "undecryptable", self.open, unsigned, phone)))
        self.assertEqual(len(found), 1)

    def test_a_changed_push_opens_unchanged_or_raises_an_open_error(self) -> None:
        random, phone = Random(9), self.phones["x25519 psk"]
        push = self.seal(phone, PAYLOAD)
        for _ in range(2000):
            at, text = random.randrange(len(push.json)), random.choice((b"", b"0", b'"', b"\\u", b"\xff", b"[[", b"9" * 400, b"1e999"))
            changed = replace(push, json=push.json[:at] + text + push.json[at + random.randrange(3):])
            try:
                self.assertEqual(self.open(changed, phone).payload, PAYLOAD)
            except OpenError:
                continue

    def test_a_changed_record_is_read_unchanged_or_raises_a_key_record_error(self) -> None:
        random = Random(10)
        for record in (self.phones["p256 psk"].private_jwk(), self.phones["device"].private_jwk()):
            text = json.dumps({"keys": [record], "pushcrypt": {"seq": 1, "keys": {record["kid"]: {
                "activatesAt": "2027-01-01T00:00:00Z"}}}}).encode()
            for _ in range(1000):
                at, more = random.randrange(len(text)), random.choice((b"", b"0", b'"', b"\\u", b"\xff", b"[", b"9" * 400))
                try:
                    read = Keyset.from_json(text[:at] + more + text[at + random.randrange(3):])
                    self.assertEqual(read.entries[0].key.public, Keyset.from_json(text).entries[0].key.public)
                except KeyRecordError:
                    continue

    # Secrets

    def test_no_repr_and_no_error_shows_a_secret(self) -> None:
        phone, blob = self.phones["p256 psk"], seal_attachment(SECRET.encode())
        record, attachment = phone.private_jwk(), blob.at("https://cdn.example.com/a", type="image/png")
        push = self.seal(phone, attachments=[attachment])
        opened = self.open(push, phone)
        keyset = Keyset.from_json(record)
        shown = [phone, SENDER, Recipient.from_jwk(phone.registration_record()), blob, attachment, opened, opened.attachments,
                 keyset, keyset.entries, Sealer(TOPIC, signer=SENDER), Opener(TOPIC, phone, senders=PINNED), push]
        for text in map(repr, shown):
            for secret in (record["d"], record["psk"], SENDER.private_jwk()["d"], SECRET, repr(blob.key)[2:-1]):
                self.assertNotIn(secret, text)
        for change in ({"d": record["psk"]}, {"psk": record["d"] + "="}, {"d": None}, {"kid": "A" * 11}, {"alg": record["d"]},
                       {"kty": record["d"]}):
            with self.assertRaises(KeyRecordError) as caught:
                RecipientKey.from_jwk({**record, **change})
            for secret in (record["d"], record["psk"]):
                self.assertNotIn(secret, str(caught.exception))
            self.assertIsNone(caught.exception.__cause__)

    def test_no_exception_behind_an_error_has_the_text(self) -> None:
        text, lone, phone = SECRET.encode(), SECRET + "\ud800", self.phones["p256"]
        readers: list[tuple[Any, type[PushCryptError]]] = [
            (Keyset.from_json, KeyRecordError), (Recipient.from_jwk, KeyRecordError), (Pins.from_json, KeyRecordError),
            (lambda broken: Registration.from_json(broken, requiring=()), KeyRecordError), (Receipt.from_body, ReceiptError),
            (lambda broken: self.seal(phone, broken), SealError), (seal_offload, SealError)]
        broken = (b'{"k":"' + text + b'",}', b'{"k":"' + text + b'\xff"}', b'{"k":"' + text + b'"}' + b"[", b"[" * 9_999 + text, lone)
        calls = [(read, one, error) for read, error in readers for one in broken]
        calls += [(read, {"k": lone}, error) for read, error in readers if read is Keyset.from_json or error is SealError]
        calls += [(Receipt.from_body, b"id=" + text + b"%ff", ReceiptError),
                  (lambda name: self.seal(phone, campaign=name), lone, SealError),
                  (lambda body: self.seal(phone, placeholder=Placeholder(body=body)), lone, SealError)]
        for call, one, kind in calls:
            with self.assertRaises(kind) as caught:
                call(one)
            error: BaseException | None = caught.exception
            while error is not None:
                self.assertNotIn(SECRET, repr(vars(error)) + repr(getattr(error, "object", "")) + repr(error.args))
                error = error.__cause__ or error.__context__

    def test_secrets_are_compared_in_constant_time(self) -> None:
        class Secret(bytes):
            __hash__ = bytes.__hash__

            def __eq__(self, _: object) -> bool:
                raise AssertionError("a secret was compared with ==")

            __ne__ = __eq__

        for phone in (self.phones["p256 psk"], self.phones["shared"]):
            stored = Registration.from_json(json.dumps(phone.registration_record()), requiring=("psk",))
            key = stored.recipient._key
            secret = replace(key, secret=key.secret and Secret(key.secret), psk=key.psk and Secret(key.psk))
            upload = Registration(Secret(stored.record), Recipient(secret))
            for row, is_written in ((stored, False), (replace(stored, record=stored.record + b" "), True)):
                change = RegistrationChange.storing(
                    StoredRegistration(upload, "a", "t"), over=[StoredRegistration(row, "a", "t")], is_proven=False)
                self.assertEqual(change.is_written, is_written)
            member = "secret" if key.psk is None else "psk"
            other = Registration(stored.record, Recipient(replace(key, **{member: Secret(bytes(32))})))
            self.refused(KeyRecordError, "conflict", RegistrationChange.storing, StoredRegistration(upload, "a", "t"),
                         over=[StoredRegistration(other, "a", "t")], is_proven=True)
        file, payload = seal_attachment(b"file"), seal_offload(PLAIN)
        for one in (file, payload, file.at("https://cdn.example.com/a", type="image/png"), payload.at("https://cdn.example.com/a")):
            self.assertEqual(replace(one, key=Secret(one.key)), one)
            self.assertEqual(hash(replace(one, key=Secret(one.key))), hash(one))
            self.assertNotEqual(replace(one, key=Secret(bytes(32))), one)
            self.assertNotEqual(replace(one, size=one.size + 1), one)
        self.assertNotEqual(file, payload)

    def test_a_key_cannot_be_changed(self) -> None:
        with self.assertRaises(AttributeError):
            SENDER._key = self.phones["p256"]._key

    def test_the_public_names_offer_no_chosen_randomness(self) -> None:
        for name in pushcrypt.__all__:
            self.assertTrue(hasattr(pushcrypt, name))
            self.assertNotIn("test_door", getattr(pushcrypt, name).__module__)


if __name__ == "__main__":
    unittest.main()
