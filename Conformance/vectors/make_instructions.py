"""Writes instructions-v1.json with the Python package: messages that retract others, are quiet, add to the badge or have
an avatar, in every mode, and messages that break a rule of these members.

Run with an interpreter that has the package of Senders/python: python make_instructions.py > instructions-v1.json
Salts, ephemeral keys and message ids come from labels, so every run makes the same file.
"""
from __future__ import annotations

import json
from typing import Any, Optional

import annotate
from make_envelopes import RECIPIENTS, SENDER, Mode, PushCryptError, b64, material, published, signature, support
from make_pushcrypt_v1 import AT, DAY, TOPIC
from pushcrypt import OpenedPush

OWN = b64(material("id", 16))
IDS = [b64(material(f"retracted {index}", 16)) for index in range(17)]
REFERENCE = {"url": "https://cdn.example.com/a", "key": b64(material("key")), "size": 5,
             "sha256": b64(material("digest")), "type": "image/png"}
AVATAR = {**REFERENCE, "url": "https://cdn.example.com/b", "use": "avatar"}
OFFLOAD = {name: REFERENCE[name] for name in ("url", "key", "size", "sha256")}


class Vectors:
    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def add(self, mode: Mode, name: str, failure: Optional[str], members: str, aps: str = '"alert":"x"') -> None:
        """`members` is the JSON behind `exp`."""
        header = f'{{"id":"{OWN}","iat":{AT},"exp":{AT + DAY}{"," if members else ""}{members}}}'
        text = f'{{"aps":{{{aps}}},"pushcrypt":{header}}}'.encode()
        signed = signature(SENDER, mode.key, mode.info, text) if mode.signed else b""
        payload = mode.payload(mode.sealed(signed + text))
        keyset, senders = json.dumps(mode.key.record()), published([SENDER]) if mode.signed else None
        entry = {"name": f"{mode.name}: {name}", "failure": failure, "keyset": keyset, "senders": senders,
                 "topic": TOPIC, "at": AT, "payload": payload}
        try:
            opened = support.open_with_sets(payload.encode(), keyset.encode(), senders and senders.encode(), TOPIC, AT)
            assert failure is None, entry["name"]
            entry["opened"] = effects(opened)
        except PushCryptError as refusal:
            assert refusal.code == failure, (entry["name"], refusal)
        assert all(other["name"] != entry["name"] for other in self.found), entry["name"]
        self.found.append(entry)


def effects(opened: OpenedPush) -> dict[str, Any]:
    avatars = [attachment.url for attachment in opened.attachments if attachment.is_avatar]
    return {"retract": list(opened.retract), "quiet": opened.quiet, "badgeAdd": opened.badge_add,
            "avatar": avatars[0] if avatars else None,
            "attachments": [attachment.url for attachment in opened.attachments if not attachment.is_avatar],
            "proof": opened.proof}


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def member(name: str, value: Any) -> str:
    return f'"{name}":{compact(value)}'


ACCEPTED = [
    ("no instruction", ""),
    ("one id", member("retract", IDS[:1])), ("16 ids", member("retract", IDS[:16])),
    ("quiet", member("quiet", True)), ("quiet that retracts", member("retract", IDS[:2]) + "," + member("quiet", True)),
    ("an avatar", member("attachments", [AVATAR])),
    ("an avatar and an attachment", member("attachments", [AVATAR, REFERENCE])),
    ("an attachment of unknown use", member("attachments", [{**REFERENCE, "use": "banner"}, REFERENCE])),
    ("only an attachment of unknown use", member("attachments", [{**REFERENCE, "use": "banner"}])),
    ("an attachment of unknown use without a URL", member("attachments", [{"use": "banner"}, REFERENCE])),
    ("two attachments of unknown use with one id",
     member("attachments", [{**REFERENCE, "use": "banner", "id": "a"}] * 2 + [{**REFERENCE, "id": "a"}])),
    ("a use that is the empty string", member("attachments", [{**REFERENCE, "use": ""}])),
    ("a use that starts with a capital", member("attachments", [{**REFERENCE, "use": "Avatar"}])),
    ("everything but quiet", ",".join([member("attachments", [AVATAR]), member("offload", OFFLOAD), member("test", True),
                                       member("retract", IDS[:2]), member("badge", {"add": 3})])),
    ("the badge's increment and an offloaded payload", member("badge", {"add": 1}) + "," + member("offload", OFFLOAD)),
] + [(f"the badge's increment is {text}", '"badge":{"add":%s}' % text) for text in ("-999", "-1", "0", "1", "999")]

WRONG = (("null", "null"), ("false", "false"), ("a number", "1"), ("a string", '"x"'), ("an array", "[]"), ("an object", "{}"))
#: Messages that are malformed, except in the base profile, which ignores the members.
REFUSED = (
    [(f"retract is {what}", f'"retract":{value}') for what, value in WRONG + (("true", "true"),)]
    + [(f"quiet is {what}", f'"quiet":{value}') for what, value in WRONG]
    + [(f"badge is {what}", f'"badge":{value}') for what, value in WRONG + (("true", "true"),)]
    + [(f"use is {what}", member("attachments", [REFERENCE])[:-2] + f',"use":{value}}}]')
       for what, value in WRONG + (("true", "true"),) if what != "a string"]
    + [(f"the badge's increment is {what}", '"badge":{"add":%s}' % text) for what, text in (
        ("1,000", "1000"), ("-1,000", "-1000"), ("2^64", "18446744073709551616"), ("-0", "-0"), ("1.0", "1.0"), ("1e2", "1e2"),
        ("a string", '"1"'), ("null", "null"), ("true", "true"), ("an array", "[1]"))]
    + [
        ("badge with set", '"badge":{"set":1}'), ("badge with add and set", '"badge":{"add":1,"set":1}'),
        ("17 ids", member("retract", IDS)), ("an id twice", member("retract", [IDS[0], IDS[1], IDS[0]])),
        ("its own id", member("retract", [IDS[0], OWN])),
        ("an id of 15 bytes", member("retract", [b64(bytes(15))])), ("an id of 17 bytes", member("retract", [b64(bytes(17))])),
        ("an id with trailing bits", member("retract", ["A" * 21 + "B"])), ("an id with padding", member("retract", [IDS[0] + "=="])),
        ("an empty id", member("retract", [""])), ("an id that is a number", member("retract", [IDS[0], 1])),
        ("an id that is null", member("retract", [None])),
        ("quiet with an attachment", member("quiet", True) + "," + member("attachments", [REFERENCE])),
        ("quiet with an avatar", member("quiet", True) + "," + member("attachments", [AVATAR])),
        ("quiet with an attachment of unknown use",
         member("quiet", True) + "," + member("attachments", [{**REFERENCE, "use": "banner"}])),
        ("quiet with an offloaded payload", member("quiet", True) + "," + member("offload", OFFLOAD)),
        ("two avatars", member("attachments", [AVATAR, {**AVATAR, "url": "https://cdn.example.com/c"}])),
        ("an avatar without a URL", member("attachments", [{n: v for n, v in AVATAR.items() if n != "url"}])),
        ("an avatar with the id of an attachment", member("attachments", [{**AVATAR, "id": "a"}, {**REFERENCE, "id": "a"}])),
    ]
)
#: Messages that are malformed in every profile.
ALWAYS_REFUSED = [
    ("nine attachments, one of unknown use", member("attachments", [{**REFERENCE, "use": "banner"}] + [REFERENCE] * 8)),
    ("an attachment that is no object", member("attachments", ["avatar"])),
    ("retract twice", member("retract", IDS[:1]) + "," + member("retract", IDS[:1])),
]


def main() -> None:
    vectors = Vectors()
    modes = [Mode(name, signed) for name in RECIPIENTS for signed in (False, True)]
    for mode in modes:
        is_base = mode.recipient in ("p256", "x25519") and not mode.signed
        for name, members in ACCEPTED:
            vectors.add(mode, name, None, members)
        # Every rule in the base profile, which ignores it, and in one mode of each kind of proof.
        if is_base or mode.name in ("p256, signed", "x25519 psk, unsigned", "shared, unsigned"):
            for name, members in REFUSED:
                vectors.add(mode, name, None if is_base else "malformed", members)
            for name, members in ALWAYS_REFUSED:
                vectors.add(mode, name, "malformed", members)
            for value in ("3", "0", "null"):
                vectors.add(mode, f"the badge's increment, and aps.badge is {value}", None if is_base else "malformed",
                            member("badge", {"add": 1}), aps=f'"alert":"x","badge":{value}')
            vectors.add(mode, "aps.badge alone", None, "", aps='"alert":"x","badge":3')
    annotate.printed("instructions-v1", {"vectors": vectors.found}, ensure_ascii=False)


if __name__ == "__main__":
    main()
