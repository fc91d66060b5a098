"""Day keys: records with a device set at the levels sender, sender-full and keys."""
from __future__ import annotations

import dataclasses
import functools
import json
from typing import Any, Iterator, Sequence

from pushcrypt import Recipient
from pushcrypt._keys import Key, load_key

from .cases import Case, Level, Request, Session, expect, of_vector
from .keeping import asks, is_answered
from .material import AT, DAY, HOST, TOPIC, Vectors
from .measure import Mode, measure

_RECORDS = {1: "p256 psk", 2: "x25519 psk", 3: "xwing psk"}
_SENDER, _BACKEND = "protocol 14, the sender", "protocol 14, the backend"


def cases(vectors: Vectors) -> Iterator[Case]:
    file = vectors.load("device-sets-v1")
    keys = {kid: load_key(record) for kid, record in file["keys"].items()}
    for entry in file["vectors"]:
        yield from _of_record(vectors, entry, keys)
        yield _of_upload(entry)
    for entry in file["campaigns"]:
        requests = [_request(vectors, entry, keys, *one, campaign=entry["campaign"]) for one in entry["at"]]
        run = functools.partial(_seals_all, requests, entry["id"])
        yield dataclasses.replace(_case(entry, "campaigns: ", run), level="sender-full")
    for entry in file["changes"]:
        yield _of_change(entry)
    for suite in _RECORDS:
        today = next(entry for entry in file["vectors"] if entry["suite"] == suite)
        yield from _of_flight(vectors, today, keys)
        yield _of_challenge(vectors, today)


def _level(suite: int) -> Level:
    return "sender" if suite == 1 else "sender-full"


def _case(entry: dict[str, Any], prefix: str, run: Any) -> Case:
    return of_vector(f"device-sets-v1/{prefix}{entry['name']}", _level(entry["suite"]), entry, run)


def _request(vectors: Vectors, entry: dict[str, Any], keys: dict[str, Key], at: int, kid: str | None, **options: Any) -> tuple[Mode, Request]:
    """The key that opens the push of the time, and the request. `kid` is None where the set has no key."""
    record = vectors.keys[_RECORDS[entry["suite"]]]
    key = record if kid is None else record.as_day_key(keys[kid])
    mode = Mode(entry["name"], _level(entry["suite"]), key, entry["text"], vectors.keys["sender"],
                lifetime=Recipient.from_jwk(entry["text"]).longest_lifetime)
    return mode, mode.request(at=at, **options)


def _of_record(vectors: Vectors, entry: dict[str, Any], keys: dict[str, Key]) -> Iterator[Case]:
    if entry["failureOfUpload"] is None:
        requests = [_request(vectors, entry, keys, *one) for one in entry["at"]]
        yield _case(entry, "sealed to: ", functools.partial(_seals_all, requests, None))
        return
    # A sender may refuse a record with a flawed key on other days, too.
    times = entry["failsAt"] if entry["failure"] is None else [AT, AT + 40 * DAY]
    if times:
        mode = Mode(entry["name"], _level(entry["suite"]), vectors.keys["p256 psk"], entry["text"], vectors.keys["sender"])
        yield _case(entry, "sealed to: ", functools.partial(_refuses, [mode.request(at=at) for at in times]))


def _seals_all(requests: Sequence[tuple[Mode, Request]], identifier: str | None, session: Session) -> None:
    for (mode, request), answer in zip(requests, session.ask_all([request for _, request in requests])):
        session.asked = [request]
        opened = measure(session, mode, request, answer).opened
        record = json.loads(mode.record)
        expect("usesLastResortKey", mode.key.kid == record["kid"] and "deviceSet" in record, answer.get("usesLastResortKey", False))
        if identifier is not None:
            expect("the message's id", identifier, opened.id)


def _refuses(requests: Sequence[Request], session: Session) -> None:
    for request in requests:
        session.refused(request)


def _of_flight(vectors: Vectors, entry: dict[str, Any], keys: dict[str, Key]) -> Iterator[Case]:
    """`exp`, and a policy that demands day keys, on a day with a key and on one without."""
    plain = {**entry, "text": vectors.record(_RECORDS[entry["suite"]])}
    level, suite, flight = _level(entry["suite"]), entry["suite"], entry["flight"]

    def case(name: str, refused: bool, *requests: tuple[Mode, Request]) -> Case:
        run: Any = functools.partial(_refuses, [one for _, one in requests]) if refused else functools.partial(_seals_all, requests, None)
        return Case(f"day keys/{_RECORDS[suite]}: {name}", level, _SENDER, run, suite, ("psk", "signed", "refused" if refused else "accepted"))

    for day, (at, kid) in (("a day with a key", entry["at"][1]), ("a day without a key", entry["at"][3])):
        request = functools.partial(_request, vectors, entry, keys, at, kid)
        yield case(f"exp before the end of the flight, on {day}", False, request(expires=1), request(expires=flight - 1), request(expires=flight))
        yield case(f"exp after the end of the flight, on {day}", True, request(expires=flight + 1), request(expires=30 * DAY))
        yield case(f"a policy that demands day keys, on {day}", kid is None, request(requiresDayKey=True))
    at = entry["at"][1][0]
    yield case("a policy that demands day keys, and a record without a set", False,
               _request(vectors, plain, keys, at, None, requiresDayKey=True), _request(vectors, plain, keys, at, None, expires=30 * DAY))


# --- The level keys ----------------------------------------------------------------------------------------------------------


def _of_upload(entry: dict[str, Any]) -> Case:
    asked = {"op": "record", "record": entry["text"], "requiring": []}
    is_refused = entry["failureOfUpload"] is not None
    expected = {} if is_refused else {"kid": json.loads(entry["text"])["kid"]}
    return of_vector(f"device-sets-v1/upload: {entry['name']}", "keys", entry, functools.partial(asks, asked, expected, is_refused))


def _of_challenge(vectors: Vectors, entry: dict[str, Any]) -> Case:
    """It is sealed to the record's key, on a day that has another."""
    asked = {"op": "challenge", "host": HOST, "topic": TOPIC, "at": AT, "requiring": ["psk", "asymmetric"], "record": entry["text"]}
    run = functools.partial(is_answered, vectors.keys[_RECORDS[entry["suite"]]], None, asked)
    return Case(f"day keys/challenge: {entry['name']}", "keys", _BACKEND, run, entry["suite"], ("psk", "unsigned", "accepted"))


def _of_change(entry: dict[str, Any]) -> Case:
    upload, stored = ({"record": entry[name], "account": "alice", "deviceToken": "t1"} for name in ("upload", "stored"))
    kids = [json.loads(entry[name])["kid"] for name in ("upload", "stored")]
    expected = {"write": entry["isWritten"], "remove": kids[1:] if kids[0] != kids[1] else []}
    asked = {"op": "change", "upload": upload, "stored": [stored], "proven": False}
    run = functools.partial(asks, asked, expected, entry["failure"] is not None)
    return of_vector(f"device-sets-v1/change: {entry['name']}", "keys", entry, run)
