"""Writes senders-v1.json with the Python package: the sender of a message, its name M, and pushes of several senders.

Run with an interpreter that has the package of Senders/python: python make_senders.py > senders-v1.json
Salts, ephemeral keys and ids come from labels, so every run makes the same file.
"""
from __future__ import annotations

import json
from typing import Any, Optional, Union

import annotate
from make_envelopes import KEYS, OTHER, SENDER, b64, encrypt, material, outer, published, signature, unb64
from make_pushcrypt_v1 import AT, DAY, TOPIC
from make_sender_sets import NEXT, OTHER_SET, PUBLISHER, SET, payload, pins, signed
from pushcrypt import Keyset, NamedSender, OpenedPush, Opener, PushCryptError, _envelope, _senders
from pushcrypt._keys import Key
from pushcrypt.sender_sets import Pins, accept

ALWAYS = {"activatesAt": "2026-01-01T00:00:00Z"}
#: A key of the protocol with each kind of proof: with a psk, and without.
TO = {"psk": KEYS["p256 psk"], "base": KEYS["x25519"]}
IDS = [b64(material(f"sender {index}", 16)) for index in range(3)]


def unsigned_set(name: str, *keys: Key) -> dict[str, str]:
    return {"keys": published(list(keys)), "name": name}


def signed_set(identifier: bytes, *keys: Key, publisher: Key = PUBLISHER) -> dict[str, str]:
    document = signed(payload({key: ALWAYS for key in keys}, set=b64(identifier), topics=[TOPIC]), publisher)
    return {"document": b64(document), "pins": json.dumps(pins(publisher, set=b64(identifier)))}


def read(one: dict[str, str]) -> Any:
    if "keys" in one:
        return NamedSender(Keyset.from_json(one["keys"]), one["name"])
    return accept(unb64(one["document"]), Pins.from_json(one["pins"]), TOPIC, None, AT)


#: What an app pins.
TRUST: dict[str, Optional[list[dict[str, str]]]] = {
    "none": None,
    "two unsigned sets": [unsigned_set("", SENDER), unsigned_set("other", OTHER)],
    "two signed sets": [signed_set(SET, SENDER), signed_set(OTHER_SET, OTHER)],
    "two sets of two publishers": [signed_set(SET, SENDER), signed_set(OTHER_SET, OTHER, publisher=NEXT)],
    "a signed and an unsigned set": [signed_set(SET, SENDER), unsigned_set("", OTHER)],
    "one signed set": [signed_set(SET, SENDER, OTHER)],
    "one unsigned set": [unsigned_set("", SENDER, OTHER)],
    "two sets with one key in both": [signed_set(SET, SENDER), signed_set(OTHER_SET, SENDER, OTHER)],
    "two unsigned sets with one key in both": [unsigned_set("a", SENDER, OTHER), unsigned_set("b", OTHER)],
    "a set twice": [unsigned_set("", SENDER)] * 2,
}


def push(to: Key, signer: Optional[Key], number: int, retracted: tuple[int, ...] = ()) -> str:
    """A message with the id of a number, which takes back those of other numbers."""
    extras = ',"retract":' + json.dumps([IDS[other] for other in retracted]) if retracted else ""
    text = f'{{"aps":{{"alert":"x"}},"pushcrypt":{{"id":"{IDS[number]}","iat":{AT},"exp":{AT + DAY}{extras}}}}}'.encode()
    skid = signer.kid if signer is not None else None
    info = _envelope.context(to, skid, TOPIC)
    plaintext = (signature(signer, to, info, text) if signer is not None else b"") + text
    return outer(to.kid, encrypt(to, info, plaintext, f"sender {number} {retracted} {skid}"), skid)


class Vectors:
    def __init__(self) -> None:
        self.pushes: list[dict[str, Any]] = []
        self.retractions: list[dict[str, Any]] = []

    def add(self, trust: str, to: str, signer: Optional[Key], number: int, retracted: tuple[int, ...] = ()) -> Union[OpenedPush, str]:
        """The opened push, or the class of the failure."""
        senders = TRUST[trust]
        text = push(TO[to], signer, number, retracted)
        opener = Opener(TOPIC, Keyset.from_json(json.dumps(TO[to].record())), clock=lambda: AT,
                        senders=None if senders is None else [read(one) for one in senders])
        by = {None: "unsigned", SENDER: "by the sender", OTHER: "by the other sender"}[signer]
        name = f"{trust}, {to}, {by}, message {number}" + (f" that retracts {list(retracted)}" if retracted else "")
        entry: dict[str, Any] = {"name": name, "trust": trust, "keyset": json.dumps(TO[to].record()), "topic": TOPIC, "at": AT,
                                 "payload": text, "failure": None}
        result: Union[OpenedPush, str]
        try:
            result = opener.open(text)
            entry.update(message=result.name, retract=list(result.retracted_names), proof=result.proof)
        except PushCryptError as refusal:
            result = entry["failure"] = refusal.code
        if all(other["name"] != name for other in self.pushes):
            self.pushes.append(entry)
        return result

    def add_retraction(self, trust: str, to: str, first: Optional[Key], second: Optional[Key], acts: bool) -> None:
        """Whether the second push, which names the first, takes it back."""
        message, retraction = self.add(trust, to, first, 0), self.add(trust, to, second, 1, (0, 2))
        assert isinstance(message, OpenedPush) and isinstance(retraction, OpenedPush)
        found = message.name in retraction.retracted_names and message.proof & retraction.proof == message.proof
        assert found == acts, (trust, to)
        names = [entry["name"] for entry in self.pushes]
        indexes = [names.index(next(name for name in names if name.startswith(f"{trust}, {to}, {by}, message {part}")))
                   for by, part in ((label(first), "0"), (label(second), "1"))]
        self.retractions.append({"message": indexes[0], "retraction": indexes[1], "acts": acts})


def label(signer: Optional[Key]) -> str:
    return {None: "unsigned", SENDER: "by the sender", OTHER: "by the other sender"}[signer]


def names() -> list[dict[str, Any]]:
    """M of ids and senders."""
    found = []
    for name in ("", "other", "Z\u00fcrich", "\0", "n" * 65_535):
        found.append({"name": name, "sender": _senders.of_name(name).hex() if len(name) < 99 else None})
    for identifier in (SET, OTHER_SET, bytes(16)):
        found.append({"set": b64(identifier), "sender": _senders.of_set(identifier).hex()})
    for entry in found:
        sender = _senders.of_set(unb64(entry["set"])) if "set" in entry else _senders.of_name(entry["name"])
        entry["messages"] = {one: _senders.message_name(sender, unb64(one)) for one in (IDS[0], b64(bytes(16)))}
    return found


def main() -> None:
    vectors = Vectors()
    for trust in ("two unsigned sets", "two signed sets", "two sets of two publishers", "a signed and an unsigned set"):
        for to in TO:
            vectors.add_retraction(trust, to, SENDER, SENDER, True)
            vectors.add_retraction(trust, to, SENDER, OTHER, False)
            vectors.add_retraction(trust, to, OTHER, SENDER, False)
            assert vectors.add(trust, to, None, 0) == "undecryptable"
    for trust in ("one signed set", "one unsigned set"):
        vectors.add_retraction(trust, "psk", SENDER, OTHER, True)
        vectors.add_retraction(trust, "base", SENDER, OTHER, True)
    vectors.add_retraction("none", "psk", None, None, True)
    assert vectors.add("none", "psk", SENDER, 0) == "unknownKey"
    for trust, signer, failure in (("two sets with one key in both", SENDER, "unknownKey"), ("two sets with one key in both", OTHER, None),
                                   ("two unsigned sets with one key in both", SENDER, None),
                                   ("two unsigned sets with one key in both", OTHER, "unknownKey"), ("a set twice", SENDER, "unknownKey")):
        opened = vectors.add(trust, "psk", signer, 0)
        assert opened == failure if failure else isinstance(opened, OpenedPush), trust
    content = {"names": names(), "trust": TRUST, "pushes": vectors.pushes, "retractions": vectors.retractions}
    annotate.printed("senders-v1", content)


if __name__ == "__main__":
    main()
