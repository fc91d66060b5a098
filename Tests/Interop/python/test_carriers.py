"""Tests of carriers in the Python package: python -m unittest test_carriers"""
from __future__ import annotations

import json
import unittest
from typing import Any, get_args

from pushcrypt import Carrier, Opener, Placeholder, Push, Recipient, RecipientKey, SealError, Sealer, _keys
from pushcrypt._carriers import RESERVED, place
from pushcrypt.errors import OpenError

NOW = 1_800_000_000
CARRIERS: tuple[Carrier, ...] = get_args(Carrier)
KEY = _keys.generate("x25519", False)
TEXT = Placeholder("New", "Open")
INNER = '{"aps":{"alert":"x","badge":3,"sound":"chime.caf","interruption-level":"time-sensitive"},"n":1.50}'


def seal(carrier: Carrier, placeholder: Placeholder = TEXT, payload: str = INNER, **options: Any) -> Push:
    sealer = Sealer("com.example.app", clock=lambda: NOW)
    return sealer.seal(payload, to=Recipient(KEY), placeholder=placeholder, carrier=carrier, **options)


def open_(payload: bytes, *carriers: Carrier) -> str:
    opener = Opener("com.example.app", RecipientKey(KEY), senders=None, carriers=carriers, clock=lambda: NOW)
    return opener.open(payload).json


class CarrierTests(unittest.TestCase):
    def test_only_an_app_that_names_the_place_opens_a_push(self) -> None:
        for carrier in CARRIERS:
            push = seal(carrier)
            for other in CARRIERS:
                with self.subTest(carrier=carrier, other=other):
                    if (place(carrier), carrier == "text") == (place(other), other == "text"):
                        self.assertEqual(open_(push.json, other), INNER)
                    else:
                        with self.assertRaises(OpenError) as caught:
                            open_(push.json, other)
                        self.assertEqual(caught.exception.code, "malformed" if place(carrier) == place(other) else "notSealed")
                    self.assertEqual(open_(push.json, carrier, other), INNER)

    def test_two_envelopes_at_named_places_are_malformed(self) -> None:
        payload = seal("apns").payload
        payload["body"] = {"pushcrypt": payload["pushcrypt"]}
        text = json.dumps(payload).encode()
        with self.assertRaises(OpenError) as caught:
            open_(text, "apns", "expo")
        self.assertEqual(caught.exception.code, "malformed")
        self.assertEqual(open_(text, "expo"), INNER)

    def test_the_text_of_an_envelope_is_strict_json(self) -> None:
        text = seal("text").payload["pushcrypt"]
        for changed in (text + "x", text.replace('"v":1', '"v":1,"v":1'), "[]", "", '"x"'):
            with self.assertRaises(OpenError) as caught:
                open_(json.dumps({**seal("text").payload, "pushcrypt": changed}).encode(), "text")
            self.assertEqual(caught.exception.code, "malformed")

    def test_the_bytes_that_a_carrier_adds_are_left_free(self) -> None:
        for carrier in CARRIERS:
            limit = 4_096 - RESERVED[carrier]
            self.assertIn(len(seal(carrier, padding="limit").json), range(limit - 3, limit + 1))
            self.assertIn(len(seal(carrier, padding="limit", limit=4_096).json), range(4_093, 4_097))

    def test_an_app_names_carriers_that_there_are(self) -> None:
        for carriers in ("expo", (), ("firebase",), ("onesignal", "apns")):
            with self.assertRaises(ValueError):
                Opener("com.example.app", RecipientKey(KEY), senders=None, carriers=carriers)  # type: ignore[arg-type]

    def test_the_parts_are_those_of_the_payload(self) -> None:
        for carrier in CARRIERS:
            push = seal(carrier)
            self.assertEqual(json.loads(push.json), push.payload)
            self.assertEqual((push.aps["mutable-content"], sorted(push.envelope)), (1, ["kid", "sealed", "v"]))

    def test_what_a_service_has_no_field_for_is_refused(self) -> None:
        keys, payload = Placeholder(loc_key="B"), '{"aps":{"alert":"x","filter-criteria":"a","sound":{"name":"a"}}}'
        refused: list[tuple[str, Any]] = [
            (code, lambda c=carrier, o=options: seal(c, **o)) for carrier in ("expo", "oneSignal") for code, options in (
                ("invalidPlaceholder", {"placeholder": keys}),
                ("notExposable", {"payload": payload, "exposed": ["filter-criteria"]}),
                ("notExposable", {"payload": payload, "exposed": ["sound"]}))]
        refused += [
            ("invalidPlaceholder", lambda: seal("oneSignal", Placeholder("New"))),
            ("invalidOption", lambda: seal("expo", collapse_id="order")), ("invalidOption", lambda: seal("apns", collapse_id="é")),
            ("invalidOption", lambda: seal("apns", collapse_id="a" * 65)), ("invalidOption", lambda: seal("Expo"))]  # type: ignore[arg-type]
        for code, call in refused:
            with self.assertRaises(SealError) as caught:
                call()
            self.assertEqual(caught.exception.code, code)
