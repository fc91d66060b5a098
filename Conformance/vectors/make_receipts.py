"""Writes receipts-v1.json with the Python package: receipts (protocol section 12), accepted and refused.

Run with an interpreter that has the package of Senders/python: python make_receipts.py > receipts-v1.json
Nothing in the file is random, so every run makes the same file.
"""
from __future__ import annotations

import hashlib
import json
from typing import Any, Optional
from urllib.parse import urlencode

import annotate
from annotate import RECEIPTS, STRICT
from make_pushcrypt_v1 import AT
from pushcrypt import PushCryptError, Receipt
from pushcrypt._json import b64

NAME = b64(hashlib.sha256(b"pushcrypt/1 receipt\x00" + bytes(range(16))).digest())
RANDOM = "AAECAwQFBgcICQoLDA0ODw"
OPENED: dict[str, Any] = {"id": NAME, "push": "7", "outcome": "opened", "time": AT}
FAILED: dict[str, Any] = {"id": f"{NAME}-timedOut", "push": "7", "outcome": "timedOut", "time": AT, "kid": "AAAAAAAAAAA",
                          "skid": "BBBBBBBBBBA", "suppressed": True, "test": True}
UNOPENED: dict[str, Any] = {"id": RANDOM, "outcome": "unknownKey", "time": AT, "kid": "AAAAAAAAAAA"}


class Vectors:
    """Collects bodies, each checked against the package."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def add(self, name: str, body: str, receipt: Optional[dict[str, Any]] = None, rule: str = RECEIPTS) -> None:
        """Without `receipt` the body is refused."""
        failure = None
        try:
            read = Receipt.from_body(body)
            assert receipt == {"id": read.id, "name": read.name, "push": read.push_id, "outcome": read.failure or "opened",
                               "time": read.time, "kid": read.kid, "skid": read.skid, "suppressed": read.is_suppressed,
                               "test": read.is_self_test}, name
        except PushCryptError as refusal:
            failure = refusal.code
            assert receipt is None, (name, refusal)
        self.found.append({"name": name, "rule": rule, "failure": failure, "body": body, "receipt": receipt})


def form(members: dict[str, Any]) -> str:
    return urlencode({name: "true" if value is True else value for name, value in members.items()})


def add_accepted(vectors: Vectors) -> None:
    def whole(members: dict[str, Any], own: Optional[str]) -> dict[str, Any]:
        return {"push": None, "kid": None, "skid": None, "suppressed": False, "test": False, **members, "name": own}

    for name, members, own in (
        ("opened", OPENED, NAME), ("that failed", FAILED, NAME), ("that could not be opened", UNOPENED, None),
        ("with a class of the app's own", {**FAILED, "id": f"{NAME}-my.class_1", "outcome": "my.class_1"}, NAME),
        ("with a push of 256 bytes", {**OPENED, "push": "é" * 128}, NAME), ("with the push a=1&b=20", {**OPENED, "push": "a=1&b=20"}, NAME),
    ):
        for what, body in (
            ("JSON", json.dumps(members)), ("JSON in another order", json.dumps(dict(reversed(list(members.items()))))),
            ("JSON with more members", json.dumps({**members, "x": [1]})), ("a form", form(members)),
            ("a form with more fields", form({**members, "x": "é &="})),
        ):
            vectors.add(f"one {name}, as {what}", body, whole(members, own))
    vectors.add("JSON of 4,096 bytes", json.dumps(OPENED).ljust(4_096), whole(OPENED, NAME))


def add_refused_json(vectors: Vectors) -> None:
    opened = json.dumps(OPENED)
    for name, text in (("an empty body", ""), ("no JSON", "{"), ("an array", f"[{opened}]"), ("bytes behind it", opened + "x"),
                       ("a name twice", opened[:-1] + ', "time": 1}')):
        vectors.add(f"refused: {name}", text, rule=STRICT)
    vectors.add("refused: 4,097 bytes", opened.ljust(4_097))
    changes: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
        ("an id that is short", OPENED, {"id": NAME[:-1]}), ("an id that is long", OPENED, {"id": NAME + "A"}),
        ("a random id of an opened push", OPENED, {"id": RANDOM}), ("an id with the class opened", OPENED, {"id": NAME + "-opened"}),
        ("push a number", OPENED, {"push": 7}), ("push null", OPENED, {"push": None}), ("push of 257 bytes", OPENED, {"push": "x" * 257}),
        ("push of 129 letters of 2 bytes", OPENED, {"push": "é" * 129}), ("another outcome than the id's", OPENED, {"outcome": "timedOut"}),
        ("outcome null", OPENED, {"outcome": None}), ("outcome empty", OPENED, {"outcome": ""}),
        ("time a string", OPENED, {"time": str(AT)}), ("time negative", OPENED, {"time": -1}), ("time a fraction", OPENED, {"time": 1.5}),
        ("time true", OPENED, {"time": True}), ("time 2^53", OPENED, {"time": 2**53}),
        ("kid of an opened push", OPENED, {"kid": "AAAAAAAAAAA"}), ("suppressed false", OPENED, {"suppressed": False}),
        ("test 1", OPENED, {"test": 1}), ("test a string", OPENED, {"test": "true"}), ("an id without the class", FAILED, {"id": NAME}),
        ("an id with an underscore", FAILED, {"id": NAME + "_timedOut"}),
        ("an outcome with a space", FAILED, {"outcome": "timed out", "id": NAME + "-timed out"}),
        ("a kid with trailing bits", FAILED, {"kid": "AAAAAAAAAAB"}), ("an empty skid", FAILED, {"skid": ""}),
        ("skid a number", FAILED, {"skid": 1}), ("push of a random id", UNOPENED, {"push": "7"}),
        ("a random id of 21 characters", UNOPENED, {"id": RANDOM[:-1]}),
        ("a random id with trailing bits", UNOPENED, {"id": RANDOM[:-1] + "x"}),
    )
    for name, members, change in changes:
        vectors.add(f"refused: {name}", json.dumps({**members, **change}))
    for missing in ("id", "push", "outcome", "time"):
        vectors.add(f"refused: {missing} missing", json.dumps({name: value for name, value in OPENED.items() if name != missing}))


def add_refused_forms(vectors: Vectors) -> None:
    text = form(OPENED)
    for name, body in (
        ("an ampersand", "&"), ("an equals sign", "="), ("an ampersand at the end", text + "&"), ("an ampersand at the start", "&" + text),
        ("time twice", text + "&time=1"), ("a field without a value", text + "&x"), ("a field with two values", text + "&x=1=2"),
        ("an equals sign in a value", text + "&x=1=20"), ("an equals sign in push", text.replace("push=7", "push=7=20")),
        ("an equals sign at the end of a value", text + "&x=1="),
        ("a field without a name", text + "&=1"), ("an escape cut short", text + "&x=%"),
        ("an escape that isn't hexadecimal", text + "&x=%4g"), ("an escape that isn't UTF-8", text + "&x=%FF"),
        ("an own field twice", text + "&x=1&x=2"), ("test 1 in a form", text + "&test=1"),
        ("time with a zero before it", text.replace(str(AT), f"0{AT}")), ("time with an exponent", text.replace(str(AT), "1e9")),
        ("time with a plus", text.replace(str(AT), "%2B1")),
    ):
        vectors.add(f"refused: a form: {name}", body)


def main() -> None:
    vectors = Vectors()
    for add in (add_accepted, add_refused_json, add_refused_forms):
        add(vectors)
    annotate.printed("receipts-v1", {"vectors": vectors.found})


if __name__ == "__main__":
    main()
