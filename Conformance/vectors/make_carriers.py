"""Writes carriers-v1.json with the Python package: one push, with its envelope at each place.

Run with an interpreter that has the package of Senders/python: python make_carriers.py > carriers-v1.json
"""
from __future__ import annotations

import json
from typing import Any, Optional, Sequence

import annotate
from make_envelopes import Mode, PushCryptError, message
from make_pushcrypt_v1 import AT, TOPIC
from pushcrypt import Opener, RecipientKey

MODE = Mode("p256", False)
WHOLE = json.loads(MODE.payload(MODE.sealed(message())))
INNER = '{"aps":{"alert":"x"}}'


def text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


ENVELOPE = text(WHOLE["pushcrypt"])
PLACES = {
    "apns": f'"pushcrypt":{ENVELOPE}', "text": f'"pushcrypt":{text(ENVELOPE)}', "expo": f'"body":{{"pushcrypt":{ENVELOPE}}}',
    "oneSignal": f'"custom":{{"i":"1","a":{{"pushcrypt":{ENVELOPE}}}}}'}
ALL = list(PLACES)
TEXTS = {
    "with white space around it": (f" {ENVELOPE}\n", None), "with another character behind it": (ENVELOPE + "x", "malformed"),
    "with a name twice": (ENVELOPE.replace('"v":1', '"v":1,"v":1'), "malformed"), "of an array": ("[]", "malformed"),
    "that is empty": ("", "malformed"), "of a string": (text(ENVELOPE), "malformed"),
    "of version 2": (ENVELOPE.replace('"v":1', '"v":2'), "unsupportedVersion")}
OBJECTS = {
    "expo": ('"body":%s', ("null", "[]", '""', "{}"), "notSealed"), "expo's envelope": (
        '"body":{"pushcrypt":%s}', ("null", "[]", text(ENVELOPE), "{}"), "malformed"),
    "oneSignal": ('"custom":%s', ("null", '{"a":null}', '{"a":[]}', '{"A":{"pushcrypt":{}}}'), "notSealed"),
    "oneSignal's envelope": ('"custom":{"a":{"pushcrypt":%s}}', ("null", text(ENVELOPE)), "malformed")}


class Vectors:
    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def add(self, name: str, carriers: Sequence[str], members: str, failure: Optional[str]) -> None:
        payload = f'{{"aps":{text(WHOLE["aps"])},{members}}}'
        opener = Opener(TOPIC, RecipientKey(MODE.key), senders=None, carriers=carriers, clock=lambda: AT)  # type: ignore[arg-type]
        try:
            assert opener.open(payload).json == INNER and failure is None, name
        except PushCryptError as refusal:
            assert refusal.code == failure, (name, refusal)
        self.found.append({"name": name, "carriers": list(carriers), "failure": failure, "payload": payload})


def main() -> None:
    vectors = Vectors()
    for place, members in PLACES.items():
        for carrier in ALL:
            beside = {place, carrier} == {"apns", "text"}
            failure = None if place == carrier else "malformed" if beside else "notSealed"
            vectors.add(f"at the place of {place}, for an app of {carrier}", [carrier], members, failure)
        vectors.add(f"at the place of {place}, for an app of all carriers", ALL, members, None)
        for other in ("rebuilt", "fcm"):
            failure = {"apns": None, "text": "malformed"}.get(place, "notSealed")
            vectors.add(f"at the place of {place}, for an app of {other}", [other], members, failure)
    for first, second in (("apns", "expo"), ("text", "oneSignal"), ("expo", "oneSignal")):
        both = f"{PLACES[first]},{PLACES[second]}"
        vectors.add(f"at two places, for an app of {first} and {second}", [first, second], both, "malformed")
        for carrier in (first, second):
            vectors.add(f"at the places of {first} and {second}, for an app of {carrier}", [carrier], both, None)
    for name, (content, failure) in TEXTS.items():
        vectors.add(f"a text {name}", ["text"], f'"pushcrypt":{text(content)}', failure)
    for name, (members, values, failure) in OBJECTS.items():
        carrier = name.split("'")[0]
        for value in values:
            told = "the object as a string" if value == text(ENVELOPE) else value
            vectors.add(f"{name} is {told}", [carrier], members % value, failure)
    content = {"topic": TOPIC, "at": AT, "key": MODE.key.record(), "inner": INNER, "vectors": vectors.found}
    annotate.printed("carriers-v1", content)


if __name__ == "__main__":
    main()
