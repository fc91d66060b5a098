"""Tests against the files in Conformance/vectors: python -m unittest test_vectors"""
from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import unittest
from typing import Any, Callable, Optional

import support
from pushcrypt import (
    Keyset, NamedSender, Opener, Placeholder, PossessionError, Push, PushCryptError, Recipient, RecipientKey, Registration, RegistrationChange,
    Sealer, StoredRegistration, _device_set, _envelope, _hpke, _keys, _senders, possession, seal_offload,
)
from pushcrypt._json import b64, unb64
from pushcrypt._message import is_visible
from pushcrypt._points import dh_private
from pushcrypt.blobs import offloaded_payload
from pushcrypt.sealer import campaign_id
from pushcrypt.sender_sets import Pins, accept
from test_xwing import MISSING

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "Conformance", "vectors")


_OF_SUITE_3 = re.compile("xwing|AKP|pushcrypt-3")


def load(name: str) -> Any:
    """A file of vectors. With an older cryptography, whose skipped tests `test_xwing` names, it is without the cases of suite 3."""
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        content = json.load(file)
    if MISSING is None or not isinstance(content, dict):
        return content

    def runs(case: Any) -> bool:
        return not isinstance(case, dict) or not _OF_SUITE_3.search(json.dumps(case))

    return {name: list(filter(runs, value)) if isinstance(value, list) else value for name, value in content.items()}


class VectorTests(unittest.TestCase):
    def test_envelopes(self) -> None:
        vectors = load("envelopes-v1.json")
        sets = [text.encode() for text in vectors["sets"]]
        for entry in vectors["vectors"]:
            pinned = None if entry["senders"] is None else sets[entry["senders"]]
            arguments = (entry["payload"].encode(), sets[entry["keyset"]], pinned, entry["topic"], entry["at"])
            with self.subTest(entry["name"]):
                if entry["failure"] is None:
                    self.assertEqual(support.open_with_sets(*arguments).json, vectors["inner"])
                else:
                    with self.assertRaises(PushCryptError) as caught:
                        support.open_with_sets(*arguments)
                    self.assertEqual(caught.exception.code, entry["failure"])

    def test_carriers(self) -> None:
        file = load("carriers-v1.json")
        key = RecipientKey(_keys.load_key(file["key"]))
        for entry in file["vectors"]:
            opener = Opener(file["topic"], key, senders=None, carriers=entry["carriers"], clock=lambda: file["at"])
            with self.subTest(entry["name"]):
                if entry["failure"] is None:
                    self.assertEqual(opener.open(entry["payload"]).json, file["inner"])
                else:
                    with self.assertRaises(PushCryptError) as caught:
                        opener.open(entry["payload"])
                    self.assertEqual(caught.exception.code, entry["failure"])

    def test_instructions(self) -> None:
        for entry in load("instructions-v1.json")["vectors"]:
            pinned = entry["senders"] and entry["senders"].encode()
            arguments = (entry["payload"].encode(), entry["keyset"].encode(), pinned, entry["topic"], entry["at"])
            with self.subTest(entry["name"]):
                if entry["failure"] is None:
                    push, expected = support.open_with_sets(*arguments), entry["opened"]
                    self.assertEqual(list(push.retract), expected["retract"])
                    self.assertEqual(push.quiet, expected["quiet"])
                    self.assertEqual(push.badge_add, expected["badgeAdd"])
                    self.assertEqual(push.proof, expected["proof"])
                    urls = {is_avatar: [one.url for one in push.attachments if one.is_avatar == is_avatar]
                            for is_avatar in (False, True)}
                    self.assertEqual(urls[False], expected["attachments"])
                    self.assertEqual(urls[True], [expected["avatar"]] if expected["avatar"] else [])
                else:
                    with self.assertRaises(PushCryptError) as caught:
                        support.open_with_sets(*arguments)
                    self.assertEqual(caught.exception.code, entry["failure"])

    def test_an_alert_without_a_visible_character_is_refused_by_sealing_and_by_opening(self) -> None:
        vectors = load("alerts-v1.json")
        keyset, phone = vectors["keyset"].encode(), RecipientKey.from_jwk(vectors["keyset"])
        to, sealer = Recipient.from_jwk(phone.registration_record()), Sealer(vectors["topic"], clock=lambda: vectors["at"])

        def sealed(inner: str, placeholder: Placeholder) -> None:
            sealer.seal(inner, to=to, placeholder=placeholder)

        def opened(payload: str) -> None:
            support.open_with_sets(payload.encode(), keyset, None, vectors["topic"], vectors["at"])

        for entry in vectors["vectors"]:
            alert = json.loads(entry["alert"])
            texts = {"body": alert} if isinstance(alert, str) else {
                name.replace("-", "_"): text for name, text in alert.items()}
            inner = '{"aps":{"alert":%s}}' % entry["alert"]
            for code, call in (
                ("invalidPayload", lambda: sealed(inner, Placeholder("T"))), ("invalidPayload", lambda: seal_offload(inner)),
                ("invalidPlaceholder", lambda: sealed('{"aps":{"alert":"x"}}', Placeholder(**texts))),
                ("malformed", lambda: opened(entry["inner"])), ("malformed", lambda: opened(entry["outer"])),
                ("malformed", lambda: offloaded_payload(inner.encode())),
            ):
                with self.subTest(entry["name"], code=code):
                    if entry["isVisible"]:
                        call()
                    else:
                        with self.assertRaises(PushCryptError) as caught:
                            call()
                        self.assertEqual(caught.exception.code, code)

    def test_the_characters_that_show_nothing_are_those_of_the_list(self) -> None:
        listed = {plane << 16 | last for plane in range(17) for last in (0xFFFE, 0xFFFF)}
        for text in load("alerts-v1.json")["invisible"]:
            first, _, last = text.partition("-")
            listed |= set(range(int(first, 16), int(last or first, 16) + 1))
        self.assertEqual({code for code in range(0x110000) if not is_visible(chr(code))}, listed)

    def test_every_refusal_of_the_list_has_its_code_and_every_other_case_is_accepted(self) -> None:
        vectors = load("sender-refusals-v1.json")
        records = {name: json.loads(text) for name, text in vectors["records"].items()}
        runs: dict[str, Any] = {
            "seal": lambda case: support.seal_case(case, vectors["topic"], vectors["at"], records),
            "register": support.register_case, "store": support.store_case,
            "challenge": lambda case: support.challenge_case(case, vectors["topic"], vectors["at"])}
        for kind, run in runs.items():
            for entry in vectors[kind]:
                with self.subTest(entry["name"], kind=kind):
                    if entry["failure"] is None:
                        run(entry)
                    else:
                        with self.assertRaises(PushCryptError) as caught:
                            run(entry)
                        self.assertEqual(caught.exception.code, entry["failure"])

    def test_keysets(self) -> None:
        for entry in load("keysets-v1.json")["vectors"]:
            with self.subTest(entry["name"]):
                if entry["failure"] is None:
                    self.assertEqual(support.READERS[entry["as"]](entry["text"].encode()), entry["kids"])
                else:
                    with self.assertRaises(PushCryptError) as caught:
                        support.READERS[entry["as"]](entry["text"].encode())
                    self.assertEqual(caught.exception.code, entry["failure"])

    def code_of(self, call: Callable[[], Any]) -> Optional[str]:
        try:
            call()
        except PushCryptError as error:
            return error.code
        return None

    def seal(self, to: Recipient, at: int, **options: Any) -> Push:
        return Sealer("com.example.app", clock=lambda: at).seal({"aps": {"alert": "x"}}, to=to, placeholder=Placeholder("T"), **options)

    def test_the_records_of_device_sets_are_read_and_sealed_to_the_key_of_the_day_or_refused(self) -> None:
        vectors = load("device-sets-v1.json")
        mac, kids = vectors["mac"], set()
        self.assertEqual(b64(_device_set.mac(mac["set"].encode(), mac["kid"], unb64(mac["psk"]))), mac["mac"])
        self.assertEqual(b64(hmac.digest(unb64(mac["key"]), mac["set"].encode(), "sha256")), mac["mac"])
        for entry in vectors["vectors"]:
            with self.subTest(entry["name"]):
                self.assertEqual(self.code_of(lambda: Recipient.from_jwk(entry["text"])), entry["failure"])
                self.assertEqual(self.code_of(lambda: Registration.from_json(entry["text"], requiring=())), entry["failureOfUpload"])
                if entry["failure"] is not None:
                    continue
                to = Recipient.from_jwk(entry["text"])
                self.assertEqual(to.longest_lifetime, entry["flight"])
                for at, kid in entry["at"]:
                    push = self.seal(to, at)
                    self.assertEqual((push.envelope["kid"], push.uses_last_resort_key, push.expires_at),
                                     (kid or to.kid, kid is None, at + entry["flight"]))
                    kids.add(kid)
                for at in entry["failsAt"]:
                    self.assertEqual(self.code_of(lambda: self.seal(to, at)), entry["failureOfUpload"])
        self.assertLessEqual(kids - {None}, set(vectors["keys"]))

    def test_the_ids_of_campaigns_do_not_change_with_the_day(self) -> None:
        for entry in load("device-sets-v1.json")["campaigns"]:
            to = Recipient.from_jwk(entry["text"])
            for at, kid in entry["at"]:
                push = self.seal(to, at, campaign=entry["campaign"])
                self.assertEqual((push.id, push.envelope["kid"]), (entry["id"], kid or to.kid), entry["name"])

    def test_changes_of_device_sets(self) -> None:
        for entry in load("device-sets-v1.json")["changes"]:
            upload, stored = (StoredRegistration(Registration.from_json(entry[name], requiring=()), "alice", "t1") for name in ("upload", "stored"))
            with self.subTest(entry["name"]):
                try:
                    change = RegistrationChange.storing(upload, over=[stored], is_proven=False)
                    self.assertEqual((entry["failure"], entry["isWritten"]), (None, change.is_written))
                except PushCryptError as error:
                    self.assertEqual(error.code, entry["failure"])

    def test_states(self) -> None:
        for entry in load("keysets-v1.json")["states"]:
            with self.subTest(entry["name"]):
                keyset = Keyset.from_json(entry["text"].encode())
                primary = keyset.primary(entry["at"])
                self.assertEqual(primary and primary.key.kid, entry["primary"])
                self.assertEqual(keyset.states(entry["at"]), entry["states"])

    def test_pushcrypt_v1(self) -> None:
        vectors = load("pushcrypt-v1.json")
        keys = {name: _keys.load_key(record) for name, record in vectors["keys"].items()}

        def opened(entry: dict[str, Any]) -> Any:
            trust = [keys[name] for name in entry["trust"]] if entry["trust"] is not None else None
            topic = entry.get("topic", vectors["topic"])
            return support.open_payload(entry["payload"].encode(), [keys[entry["key"]]], topic, entry["at"], trust)

        for entry in vectors["opened"]:
            with self.subTest(entry["name"]):
                push = opened(entry)
                self.assertEqual((push.json, push.id, push.issued_at, push.expires_at),
                                 (vectors["inner"], entry["id"], entry["iat"], entry["exp"]))
        for entry in vectors["refused"]:
            with self.subTest(entry["name"]), self.assertRaises(PushCryptError) as caught:
                opened(entry)
            self.assertEqual(caught.exception.code, entry["failure"])
        known = vectors["contextInfo"]
        context = _envelope.context(keys[known["key"]], keys[known["signer"]].kid, vectors["topic"])
        self.assertEqual(context.hex(), known["hex"])

    def test_challenges(self) -> None:
        for entry in load("possession-v1.json")["challenges"]:
            senders = Keyset.from_json(entry["senders"]) if entry["senders"] is not None else None
            opener = Opener(entry["topic"], Keyset.from_json(entry["keyset"]), senders=senders, clock=lambda: entry["at"])
            with self.subTest(entry["name"]):
                try:
                    answer = possession.answer(
                        entry["challenge"], record=entry["record"].encode(), host=entry["host"], opener=opener)
                    self.assertEqual((entry["failure"], entry["answer"]), (None, answer))
                except PushCryptError as error:
                    self.assertEqual(error.code, entry["failure"])

    def test_answers(self) -> None:
        vectors = load("possession-v1.json")
        made = vectors["pending"]
        code = possession.code_of(unb64(made["nonce"]), made["host"], made["registration"], made["record"].encode())
        self.assertEqual(b64(hashlib.sha256(code).digest()), made["codeDigest"])
        pending = possession.Pending(made["registration"], Registration.from_json(made["record"], requiring=()), made["codeDigest"], made["challengedAt"])
        for entry in vectors["answers"]:
            with self.subTest(entry["name"]):
                try:
                    pending.confirm(entry["answer"], clock=lambda: entry["at"])
                    self.assertIsNone(entry["failure"])
                except PossessionError as error:
                    self.assertEqual(error.code, entry["failure"])

    def test_campaigns(self) -> None:
        keys = load("pushcrypt-v1.json")["keys"] | load("xwing-keys.json")["keys"]
        for entry in load("keysets-v1.json")["campaigns"]:
            key = _keys.load_key(keys[entry["key"]])
            self.assertEqual(b64(campaign_id(entry["campaign"], key)), entry["id"])

    def test_names_of_messages(self) -> None:
        for entry in load("senders-v1.json")["names"]:
            sender = _senders.of_set(unb64(entry["set"])) if "set" in entry else _senders.of_name(entry["name"])
            self.assertEqual(entry["sender"] or sender.hex(), sender.hex())
            for message_id, name in entry["messages"].items():
                self.assertEqual(_senders.message_name(sender, unb64(message_id)), name)

    def test_pushes_of_several_senders(self) -> None:
        vectors = load("senders-v1.json")

        def read(one: dict[str, str]) -> Any:
            if "keys" in one:
                return NamedSender(Keyset.from_json(one["keys"]), one["name"])
            return accept(unb64(one["document"]), Pins.from_json(one["pins"]), "com.example.app", None, 1_800_000_000)

        trust = {name: None if sets is None else [read(one) for one in sets] for name, sets in vectors["trust"].items()}
        opened = []
        for entry in vectors["pushes"]:
            opener = Opener(entry["topic"], Keyset.from_json(entry["keyset"]), senders=trust[entry["trust"]], clock=lambda: entry["at"])
            with self.subTest(entry["name"]):
                try:
                    push = opener.open(entry["payload"])
                    self.assertEqual((entry["failure"], entry["message"], entry["retract"], entry["proof"]),
                                     (None, push.name, list(push.retracted_names), push.proof))
                    opened.append(push)
                except PushCryptError as error:
                    self.assertEqual(error.code, entry["failure"])
                    opened.append(None)
        for entry in vectors["retractions"]:
            message, retraction = opened[entry["message"]], opened[entry["retraction"]]
            acts = message.name in retraction.retracted_names and message.proof & retraction.proof == message.proof
            self.assertEqual(acts, entry["acts"])

    def test_steps_of_one_push_of_each_suite(self) -> None:
        suites = []
        for entry in load("steps-v1.json")["pushes"]:
            value = {name: bytes.fromhex(text) for name, text in entry["values"].items()}
            with self.subTest(entry["name"]):
                key = RecipientKey.from_jwk(entry["key"])._key
                opened = support.open_with_sets(entry["payload"].encode(), json.dumps(entry["key"]).encode(),
                                                entry["senders"] and entry["senders"].encode(), entry["topic"], entry["at"])
                self.assertIn(opened.json[:-1].encode(), value["message"])
                self.assertEqual(_envelope.context(key, json.loads(entry["payload"])["pushcrypt"].get("skid"), entry["topic"]),
                                 value["info"])
                suites.append(key.suite)
                if key.suite == 4:
                    _, nonce = _envelope._suite_4(key, value["salt"], value["info"])
                    self.assertEqual(nonce, value["nonce"])
                    continue
                suite = _envelope.HPKE_SUITES[key.suite]
                secret = _hpke.decap(suite, value["enc"], key.private_object, key.public)
                self.assertEqual(secret, value["shared_secret"])
                self.assertEqual(_hpke.key_schedule(suite, secret, value["info"], value["psk"], value["psk_id"]),
                                 (value["key"], value["base_nonce"]))
        self.assertEqual(suites, [1, 2, 3, 4] if MISSING is None else [1, 2, 4])

    def test_edges_of_hpke(self) -> None:
        for vector in load("hpke-edges.json"):
            value = {name: bytes.fromhex(text) for name, text in vector.items() if isinstance(text, str) and name not in ("title", "section")}
            suite = _hpke.Suite("p256", 16, 1, 16, 65) if vector["kem_id"] == 16 else _hpke.X25519_AES128
            first = {name: bytes.fromhex(text) for name, text in vector["encryptions"][0].items()}
            with self.subTest(vector["title"]):
                plaintext = _hpke.open_(suite, dh_private(suite.kind, value["skRm"]), value["pkRm"], value["info"],
                                        value["enc"] + first["ct"], value.get("psk", b""), value.get("psk_id", b""), first["aad"])
                self.assertEqual(plaintext, first["pt"])
        with self.assertRaises(ValueError):
            _hpke.key_schedule(_hpke.X25519_AES128, bytes(32), b"", b"", b"id")  # an empty psk
        with self.assertRaises(ValueError):
            _hpke.key_schedule(_hpke.X25519_AES128, bytes(32), b"", bytes(32), b"")  # an empty psk_id


if __name__ == "__main__":
    unittest.main()
