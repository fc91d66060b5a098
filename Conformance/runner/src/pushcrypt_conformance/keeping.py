"""The level keys: what a backend does beside sealing. It reads keys and uploads, makes challenges, and reads receipts."""
from __future__ import annotations

import functools
import json
from typing import Any, Iterator

from pushcrypt import OpenError, Opener, RecipientKey, SenderKey, pinned, possession
from pushcrypt._json import b64
from pushcrypt._keys import Key

from .cases import Case, Failed, Request, Session, expect, of_vector, text_of
from .material import AT, HOST, TOPIC, Vectors
from .sealing import modes

_CHALLENGES, _REGISTRATIONS = "protocol 13, challenges", "protocol 3, registration records"


def cases(vectors: Vectors) -> Iterator[Case]:
    yield from _keysets(vectors)
    yield from _registrations(vectors)
    yield from _challenges(vectors)
    yield from _answers(vectors)
    yield from _receipts(vectors)


def asks(asked: Request, expected: dict[str, Any], is_refused: bool, session: Session) -> None:
    if is_refused:
        return session.refused(asked)
    answer = session.accepted(asked)
    for name, value in expected.items():
        expect(name, value, answer.get(name))


def _case(name: str, vector: dict[str, Any], asked: Request, expected: dict[str, Any]) -> Case:
    """Swift's names of these failures aren't part of the protocol, so any failure counts."""
    return of_vector(name, "keys", vector, functools.partial(asks, asked, expected, vector.get("failure") is not None))


def _made(name: str, rule: str, asked: Request, expected: dict[str, Any] | None, suite: int) -> Case:
    """A case that isn't a vector. Without `expected` it is refused."""
    run = functools.partial(asks, asked, expected or {}, expected is None)
    return Case(name, "keys", rule, run, suite, ("refused" if expected is None else "accepted",))


def _keysets(vectors: Vectors) -> Iterator[Case]:
    file = vectors.load("keysets-v1")
    for entry in file["vectors"]:
        asked = {"op": "keys", "as": entry["as"], "text": entry["text"]}
        yield _case(f"keysets-v1/{entry['name']}", entry, asked, {"kids": entry.get("kids")})
    for entry in file["states"]:
        asked = {"op": "keys", "as": "keyset", "text": entry["text"], "at": entry["at"]}
        yield _case(f"keysets-v1/states: {entry['name']}", entry, asked, {"primary": entry["primary"], "states": entry["states"]})


def _registrations(vectors: Vectors) -> Iterator[Case]:
    file = vectors.load("sender-refusals-v1")
    for entry in file["register"]:
        asked = {"op": "record", "record": entry["record"], "requiring": entry["requiring"]}
        expected = {"kid": json.loads(entry["record"])["kid"]} if entry["failure"] is None else {}
        yield _case(f"sender-refusals-v1/register: {entry['name']}", entry, asked, expected)
    for name in ("xwing", "xwing psk"):
        asked = {"op": "record", "record": vectors.record(name), "requiring": ["asymmetric"]}
        yield _made(f"sender-refusals-v1/register: {name}", _REGISTRATIONS, asked, {"kid": vectors.keys[name].kid}, 3)
    for entry in file["store"]:
        asked = {"op": "change", "upload": entry["upload"], "stored": entry["stored"], "proven": entry["isProven"],
                 "allowsLowerSuite": entry["allowsLowerSuite"]}
        expected = {"write": entry["isWritten"], "remove": entry["removed"]}
        yield _case(f"sender-refusals-v1/store: {entry['name']}", entry, asked, expected)
    row = {"record": vectors.record("p256 psk"), "account": "alice", "deviceToken": "t1", "environment": "production"}
    other = {**row, "environment": "sandbox"}
    for name, stored, is_written in (("the same environment", row, False), ("another environment", other, True)):
        asked = {"op": "change", "upload": row, "stored": [stored], "proven": False}
        yield _made(f"sender-refusals-v1/store: {name}", _REGISTRATIONS, asked, {"write": is_written, "remove": []}, 1)


# --- Challenges --------------------------------------------------------------------------------------------------------------


def _challenges(vectors: Vectors) -> Iterator[Case]:
    common = {"op": "challenge", "host": HOST, "topic": TOPIC, "at": AT, "requiring": []}
    for entry in vectors.load("sender-refusals-v1")["challenge"]:
        name, asked = f"sender-refusals-v1/challenge: {entry['name']}", {**common, "record": entry["record"], "host": entry["host"]}
        if entry["failure"] is not None:
            yield _case(name, entry, asked, {})
        else:
            yield of_vector(name, "keys", entry, functools.partial(is_answered, vectors.keys["p256 psk"], None, asked))
    for mode in modes(vectors):
        if mode.device is None:
            asked = {**common, "record": mode.record, **({} if mode.signer is None else {"signWith": json.dumps(mode.signer.record())})}
            yield Case(f"challenges/{mode.name}: is answered and confirmed", "keys", _CHALLENGES,
                       functools.partial(is_answered, mode.key, mode.signer, asked), mode.key.suite, (*mode.flags, "accepted"))
    asked = {**common, "record": vectors.record("p256 psk")}
    yield Case("challenges/100 of one record have other ids and nonces", "keys", _CHALLENGES, functools.partial(_are_fresh, asked), 1,
               ("psk", "unsigned", "accepted"))
    asked = {**common, "record": vectors.record("p256"), "requiring": ["psk"]}
    yield _made("challenges/a demand that the record doesn't meet", _REGISTRATIONS, asked, None, 1)


def is_answered(key: Key, signer: Key | None, asked: Request, session: Session) -> None:
    made = session.accepted(asked)
    challenge = text_of(made, "challenge")
    senders = None if signer is None else pinned(json.dumps(SenderKey(signer).public_jwk()))
    opener = Opener(TOPIC, RecipientKey(key), senders=senders, clock=lambda: AT)
    try:
        answer = possession.answer(challenge, record=asked["record"].encode(), host=asked["host"], opener=opener)
    except OpenError as error:
        raise Failed("a challenge that a device answers", f"{error}; the challenge is {challenge}") from None
    confirm = {"op": "confirm", "answer": answer, "pending": made.get("pending"), "at": AT + 600}
    got = session.accepted(confirm)
    expect("record", asked["record"], got.get("record"))
    expect("kid", key.kid, got.get("kid"))
    expect("suite", key.suite, got.get("suite"))
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
        yield _case(f"possession-v1/answers: {entry['name']}", entry, asked, {"record": made["record"], "kid": record["kid"]})


# --- Receipts ----------------------------------------------------------------------------------------------------------------


def _receipts(vectors: Vectors) -> Iterator[Case]:
    for entry in vectors.load("receipts-v1")["vectors"]:
        yield _case(f"receipts-v1/{entry['name']}", entry, {"op": "receipt", "body": entry["body"]}, {"receipt": entry["receipt"]})
