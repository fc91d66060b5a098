"""Tests of the channel that the Swift tests use: python -m unittest test_channel"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
from typing import Any

TOPIC, NOW = "com.example.app", 1_800_000_000
INNER = '{"aps":{"alert":{"title":"Zo\u00eb \\u00e9 \U0001f600"},"sound":"chime.caf"},"x":[1, {"y":null}]}'
PLACEHOLDER = {"loc-key": "NEW_MESSAGE"}


class ChannelTests(unittest.TestCase):
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
        self.assertEqual(wrong["error"], "undecryptable")
        self.assertEqual(small["error"], "tooLarge")
        self.assertGreater(small["needed"], small["available"])
        self.assertEqual((surrogate["error"], raw["error"]), ("malformed", "malformed"))

    def test_goes_on_after_nonsense(self) -> None:
        first, second, third, last = self.talk("nonsense", {"op": "none"}, [1], {"op": "version"})
        self.assertEqual([first, second, third], [{"error": "internalError"}] * 3)
        self.assertIn("Traceback", self.errors)
        self.assertEqual(set(last), {"cryptography", "pushcrypt"})


if __name__ == "__main__":
    unittest.main()
