"""The level keys: what a backend does beside sealing. It reads keys and uploads, makes challenges, and reads receipts."""
from __future__ import annotations

import functools
import hashlib
import json
from typing import Any, Iterator
from urllib.parse import urlencode

from pushcrypt import OpenError, Opener, RecipientKey, SenderKey, pinned, possession
from pushcrypt._json import b64

from . import rules
from .cases import Case, Failed, Request, Session, expect, text_of
from .material import AT, HOST, TOPIC, Vectors, flags_of, suite_of
from .rules import rule_of


def cases(vectors: Vectors) -> Iterator[Case]:
    yield from _keysets(vectors)
    yield from _registrations(vectors)
    yield from _challenges(vectors)
    yield from _answers(vectors)
    yield from _receipts()


def _asks(asked: Request, expected: dict[str, Any], is_refused: bool, session: Session) -> None:
    if is_refused:
        return session.refused(asked)
    answer = session.accepted(asked)
    for name, value in expected.items():
        expect(name, value, answer.get(name))


def _case(name: str, rule: str, asked: Request, failure: str | None, expected: dict[str, Any], suite: int | None = None) -> Case:
    """Swift's names of these failures aren't part of the protocol, so any failure counts."""
    return Case(name, "keys", rule, functools.partial(_asks, asked, expected, failure is not None), suite, flags_of(name, failure))


def _keysets(vectors: Vectors) -> Iterator[Case]:
    file = vectors.load("keysets-v1")
    for entry in file["vectors"]:
        name = entry["name"] + ("" if entry["as"] == "keyset" else f", as {entry['as']}")
        asked = {"op": "keys", "as": entry["as"], "text": entry["text"]}
        yield _case(f"keysets-v1/{name}", rule_of("keysets-v1 vectors", entry["name"], entry["failure"]), asked, entry["failure"],
                    {"kids": entry.get("kids")}, suite_of(entry["name"]))
    for entry in file["states"]:
        asked = {"op": "keys", "as": "keyset", "text": entry["text"], "at": entry["at"]}
        yield _case(f"keysets-v1/states: {entry['name']}", rule_of("keysets-v1 states", entry["name"]), asked, None,
                    {"primary": entry["primary"], "states": entry["states"]})


def _registrations(vectors: Vectors) -> Iterator[Case]:
    file = vectors.load("sender-refusals-v1")
    for entry in file["register"]:
        asked = {"op": "record", "record": entry["record"], "requiring": entry["requiring"]}
        expected = {"kid": json.loads(entry["record"])["kid"]} if entry["failure"] is None else {}
        rule = rule_of("sender-refusals-v1 register", entry["name"], entry["failure"])
        yield _case(f"sender-refusals-v1/register: {entry['name']}", rule, asked, entry["failure"], expected, suite_of(entry["name"]))
    for name in ("xwing", "xwing psk"):
        asked = {"op": "record", "record": vectors.record(name), "requiring": ["asymmetric"]}
        yield _case(f"sender-refusals-v1/register: {name}", rules.REGISTRATIONS, asked, None, {"kid": vectors.keys[name].kid}, 3)
    for entry in file["store"]:
        asked = {"op": "change", "upload": entry["upload"], "stored": entry["stored"], "proven": entry["isProven"],
                 "allowsLowerSuite": entry["allowsLowerSuite"]}
        expected = {"write": entry["isWritten"], "remove": entry["removed"]}
        rule = rule_of("sender-refusals-v1 store", entry["name"], entry["failure"])
        yield _case(f"sender-refusals-v1/store: {entry['name']}", rule, asked, entry["failure"], expected)
    row = {"record": vectors.record("p256 psk"), "account": "alice", "deviceToken": "t1", "environment": "production"}
    for name, stored, is_written in (("the same environment", row, False),
    ("another environment", {**row, "environment": "sandbox"}, True)):
        asked = {"op": "change", "upload": row, "stored": [stored], "proven": False}
        yield _case(f"sender-refusals-v1/store: {name}", rules.REGISTRATIONS, asked, None, {"write": is_written, "remove": []}, 1)


# --- Challenges --------------------------------------------------------------------------------------------------------------


def _challenges(vectors: Vectors) -> Iterator[Case]:
    for entry in vectors.load("sender-refusals-v1")["challenge"]:
        asked = {"op": "challenge", "record": entry["record"], "host": entry["host"], "topic": TOPIC, "at": AT, "requiring": []}
        rule = rule_of("sender-refusals-v1 challenge", entry["name"], entry["failure"])
        if entry["failure"] is not None:
            yield _case(f"sender-refusals-v1/challenge: {entry['name']}", rule, asked, entry["failure"], {}, 1)
        else:
            yield Case(f"sender-refusals-v1/challenge: {entry['name']}", "keys", rule,
                       functools.partial(_is_answered, vectors, "p256 psk", None, asked), 1, ("accepted",))
    for name in ("p256", "p256 psk", "x25519", "x25519 psk", "xwing", "xwing psk", "shared", "device"):
        for signer in (None, vectors.keys["sender"]):
            asked = {"op": "challenge", "record": vectors.record(name), "host": HOST, "topic": TOPIC, "at": AT, "requiring": [],
                     **({} if signer is None else {"signWith": json.dumps(signer.record())})}
            label = f"{name}, {'unsigned' if signer is None else 'signed'}"
            yield Case(f"challenges/{label}: is answered and confirmed", "keys", rules.CHALLENGES,
                       functools.partial(_is_answered, vectors, name, signer, asked), suite_of(name), flags_of(label))
    asked = {"op": "challenge", "record": vectors.record("p256 psk"), "host": HOST, "topic": TOPIC, "at": AT, "requiring": []}
    yield Case("challenges/100 of one record have other ids and nonces", "keys", rules.CHALLENGES, functools.partial(_are_fresh, asked), 1,
               ("accepted",))
    yield _case("challenges/a demand that the record doesn't meet", rules.REGISTRATIONS,
                {**asked, "record": vectors.record("p256"), "requiring": ["psk"]}, "pskMissing", {}, 1)


def _is_answered(vectors: Vectors, name: str, signer: Any, asked: Request, session: Session) -> None:
    made = session.accepted(asked)
    challenge = text_of(made, "challenge")
    senders = None if signer is None else pinned(json.dumps(SenderKey(signer).public_jwk()))
    opener = Opener(TOPIC, RecipientKey(vectors.keys[name]), senders=senders, clock=lambda: AT)
    try:
        answer = possession.answer(challenge, record=asked["record"].encode(), host=asked["host"], opener=opener)
    except OpenError as error:
        raise Failed("a challenge that a device answers", f"{error}; the challenge is {challenge}") from None
    confirm = {"op": "confirm", "answer": answer, "pending": made.get("pending"), "at": AT + 600}
    got = session.accepted(confirm)
    expect("record", asked["record"], got.get("record"))
    expect("kid", vectors.keys[name].kid, got.get("kid"))
    expect("suite", vectors.keys[name].suite, got.get("suite"))
    session.refused({**confirm, "at": AT + 601})
    other = json.loads(answer)
    other["answer"] = b64(bytes(32))
    session.refused({**confirm, "answer": json.dumps(other)})


def _are_fresh(asked: Request, session: Session) -> None:
    answers = session.ask_all([asked] * 100)
    challenges = [json.loads(text_of(answer, "challenge")) for answer in answers]
    for name in ("registration", "sealed"):
        if len({challenge[name] for challenge in challenges}) < len(challenges):
            raise Failed(f"another {name} in each challenge", "one twice")
    if len({(answer.get("pending") or {}).get("codeDigest") for answer in answers}) < len(answers):
        raise Failed("another nonce in each challenge", "one twice")


def _answers(vectors: Vectors) -> Iterator[Case]:
    file = vectors.load("possession-v1")
    made = file["pending"]
    record = json.loads(made["record"])
    pending = {"version": 1, "id": made["registration"], "codeDigest": made["codeDigest"], "challengedAt": made["challengedAt"],
               "registration": {"version": 1, "kid": record["kid"], "hasPSK": "psk" in record, "record": made["record"]}}
    for entry in file["answers"]:
        asked = {"op": "confirm", "answer": entry["answer"], "pending": pending, "at": entry["at"]}
        yield _case(f"possession-v1/answers: {entry['name']}", rule_of("possession-v1 answers", entry["name"], entry["failure"]), asked,
                    entry["failure"], {"record": made["record"], "kid": record["kid"]}, 1)


# --- Receipts ----------------------------------------------------------------------------------------------------------------


NAME = b64(hashlib.sha256(b"pushcrypt/1 receipt\x00" + bytes(range(16))).digest())
RANDOM = "AAECAwQFBgcICQoLDA0ODw"
_OPENED: dict[str, Any] = {"id": NAME, "push": "7", "outcome": "opened", "time": AT}
_FAILED: dict[str, Any] = {"id": f"{NAME}-timedOut", "push": "7", "outcome": "timedOut", "time": AT, "kid": "AAAAAAAAAAA",
                           "skid": "BBBBBBBBBBA", "suppressed": True, "test": True}
_UNOPENED: dict[str, Any] = {"id": RANDOM, "outcome": "unknownKey", "time": AT, "kid": "AAAAAAAAAAA"}


def _form(members: dict[str, Any]) -> str:
    return urlencode({name: "true" if value is True else value for name, value in members.items()})


def _receipts() -> Iterator[Case]:
    for name, members, own in (("opened", _OPENED, NAME), ("that failed", _FAILED, NAME),
    ("that could not be opened", _UNOPENED, None),
                               ("with a class of the app's own", {**_FAILED, "id": f"{NAME}-my.class_1", "outcome": "my.class_1"}, NAME),
                               ("with a push of 256 bytes", {**_OPENED, "push": "é" * 128}, NAME)):
        whole = {"push": None, "kid": None, "skid": None, "suppressed": False, "test": False, **members, "name": own}
        for what, body in (("JSON", json.dumps(members)),
        ("JSON in another order", json.dumps(dict(reversed(list(members.items()))))),
                           ("JSON with more members", json.dumps({**members, "x": [1]})), ("a form", _form(members)),
                           ("a form with more fields", _form({**members, "x": "é &="}))):
            yield _case(f"receipts/one {name}, as {what}", rules.RECEIPTS, {"op": "receipt", "body": body}, None, {"receipt": whole})
    yield _case("receipts/JSON of 4,096 bytes", rules.RECEIPTS, {"op": "receipt", "body": json.dumps(_OPENED).ljust(4_096)}, None, {})
    for name, rule, body in _wrong_receipts():
        yield _case(f"receipts/refused: {name}", rule, {"op": "receipt", "body": body}, "malformed", {})


def _wrong_receipts() -> Iterator[tuple[str, str, str]]:
    opened = json.dumps(_OPENED)
    for name, text in (("an empty body", ""), ("no JSON", "{"), ("an array", f"[{opened}]"), ("bytes behind it", opened + "x"),
                       ("a name twice", opened[:-1] + ', "time": 1}'), ("4,097 bytes", opened.ljust(4_097))):
        yield name, rules.STRICT if "4,097" not in name else rules.RECEIPTS, text
    changes: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
        ("an id that is short", _OPENED, {"id": NAME[:-1]}), ("an id that is long", _OPENED, {"id": NAME + "A"}),
        ("a random id of an opened push", _OPENED, {"id": RANDOM}),
        ("an id with the class opened", _OPENED, {"id": NAME + "-opened"}),
        ("push a number", _OPENED, {"push": 7}), ("push null", _OPENED, {"push": None}),
        ("push of 257 bytes", _OPENED, {"push": "x" * 257}),
        ("push of 129 letters of 2 bytes", _OPENED, {"push": "é" * 129}),
        ("another outcome than the id's", _OPENED, {"outcome": "timedOut"}),
        ("outcome null", _OPENED, {"outcome": None}), ("outcome empty", _OPENED, {"outcome": ""}),
        ("time a string", _OPENED, {"time": str(AT)}),
        ("time negative", _OPENED, {"time": -1}), ("time a fraction", _OPENED, {"time": 1.5}),
        ("time true", _OPENED, {"time": True}),
        ("time 2^53", _OPENED, {"time": 2**53}), ("kid of an opened push", _OPENED, {"kid": "AAAAAAAAAAA"}),
        ("suppressed false", _OPENED, {"suppressed": False}),
        ("test 1", _OPENED, {"test": 1}), ("test a string", _OPENED, {"test": "true"}),
        ("an id without the class", _FAILED, {"id": NAME}),
        ("an id with an underscore", _FAILED, {"id": NAME + "_timedOut"}),
        ("an outcome with a space", _FAILED, {"outcome": "timed out", "id": NAME + "-timed out"}),
        ("a kid with trailing bits", _FAILED, {"kid": "AAAAAAAAAAB"}), ("an empty skid", _FAILED, {"skid": ""}),
        ("skid a number", _FAILED, {"skid": 1}),
        ("push of a random id", _UNOPENED, {"push": "7"}), ("a random id of 21 characters", _UNOPENED, {"id": RANDOM[:-1]}),
        ("a random id with trailing bits", _UNOPENED, {"id": RANDOM[:-1] + "x"}))
    for name, members, change in changes:
        yield name, rules.RECEIPTS, json.dumps({**members, **change})
    for missing in ("id", "push", "outcome", "time"):
        yield f"{missing} missing", rules.RECEIPTS, json.dumps({name: value for name, value in _OPENED.items() if name != missing})
    form = _form(_OPENED)
    for name, text in (("an ampersand", "&"), ("an equals sign", "="), ("an ampersand at the end", form + "&"),
    ("an ampersand at the start", "&" + form),
                       ("time twice", form + "&time=1"), ("a field without a value", form + "&x"),
                       ("a field with two values", form + "&x=1=2"),
                       ("a field without a name", form + "&=1"), ("an escape cut short", form + "&x=%"),
                       ("an escape that isn't hexadecimal", form + "&x=%4g"),
                       ("an escape that isn't UTF-8", form + "&x=%FF"), ("an own field twice", form + "&x=1&x=2"),
                       ("test 1 in a form", form + "&test=1"),
                       ("time with a zero before it", form.replace(str(AT), f"0{AT}")),
                       ("time with an exponent", form.replace(str(AT), "1e9")),
                       ("time with a plus", form.replace(str(AT), "%2B1"))):
        yield f"a form: {name}", rules.RECEIPTS, text


