"""Tests against the files in Tests/Vectors: python -m unittest test_vectors"""
from __future__ import annotations

import json
import os
import unittest
from typing import Any

import keysets
import pushcrypt_reference
from strict_json import Refusal, b64

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Vectors")


def load(name: str) -> Any:
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return json.load(file)


class VectorTests(unittest.TestCase):
    def test_envelopes(self) -> None:
        vectors = load("envelopes-v1.json")
        sets = [text.encode() for text in vectors["sets"]]
        for entry in vectors["vectors"]:
            pinned = None if entry["senders"] is None else sets[entry["senders"]]
            arguments = (entry["payload"].encode(), sets[entry["keyset"]], pinned, entry["topic"], entry["at"])
            with self.subTest(entry["name"]):
                if entry["failure"] is None:
                    self.assertEqual(keysets.open_payload(*arguments).inner, vectors["inner"])
                else:
                    with self.assertRaises(Refusal) as caught:
                        keysets.open_payload(*arguments)
                    self.assertEqual(caught.exception.code, entry["failure"])

    def test_instructions(self) -> None:
        for entry in load("instructions-v1.json")["vectors"]:
            pinned = entry["senders"] and entry["senders"].encode()
            arguments = (entry["payload"].encode(), entry["keyset"].encode(), pinned, entry["topic"], entry["at"])
            with self.subTest(entry["name"]):
                if entry["failure"] is None:
                    extras = keysets.open_payload(*arguments).extras
                    opened = entry["opened"]
                    self.assertEqual(extras.get("retract", []), opened["retract"])
                    self.assertEqual(extras.get("quiet", False), opened["quiet"])
                    self.assertEqual(extras.get("badge", {}).get("add"), opened["badgeAdd"])
                    uses = {item["url"]: item.get("use") for item in extras.get("attachments", [])}
                    self.assertEqual([url for url, use in uses.items() if use is None], opened["attachments"])
                    self.assertEqual([url for url, use in uses.items() if use == "avatar"],
                                     [opened["avatar"]] if opened["avatar"] else [])
                else:
                    with self.assertRaises(Refusal) as caught:
                        keysets.open_payload(*arguments)
                    self.assertEqual(caught.exception.code, entry["failure"])

    def test_keysets(self) -> None:
        for entry in load("keysets-v1.json")["vectors"]:
            with self.subTest(entry["name"]):
                if entry["failure"] is None:
                    self.assertEqual(keysets.READERS[entry["as"]](entry["text"].encode()), entry["kids"])
                else:
                    with self.assertRaises(Refusal) as caught:
                        keysets.READERS[entry["as"]](entry["text"].encode())
                    self.assertEqual(caught.exception.code, entry["failure"])

    def test_states(self) -> None:
        for entry in load("keysets-v1.json")["states"]:
            with self.subTest(entry["name"]):
                keyset = keysets.read(entry["text"].encode())
                primary = keyset.primary(entry["at"])
                self.assertEqual(primary and primary.key.kid, entry["primary"])
                self.assertEqual(keyset.states(entry["at"]), entry["states"])

    def test_campaigns(self) -> None:
        keys = load("pushcrypt-v1.json")["keys"]
        for entry in load("keysets-v1.json")["campaigns"]:
            key = pushcrypt_reference.load_key(keys[entry["key"]])
            self.assertEqual(b64(pushcrypt_reference.campaign_id(entry["campaign"], key)), entry["id"])


if __name__ == "__main__":
    unittest.main()
