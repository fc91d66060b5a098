"""The levels opener and opener-full: what a device does with a push, a challenge, a blob and a signed set."""
from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from typing import Any, Iterator

from pushcrypt import _envelope, blobs
from pushcrypt._json import b64, parse, unb64
from pushcrypt._keys import Key, load_key
from pushcrypt._times import seconds

from .cases import Case, Failed, Level, Request, Session, expect, of_vector, shown, text_of
from .material import AT, DAY, TOPIC, Vectors

URL = "https://cdn.example.com/a"


def cases(vectors: Vectors) -> Iterator[Case]:
    yield from _envelopes(vectors)
    yield from _pushcrypt_v1(vectors)
    yield from _steps(vectors)
    yield from _alerts(vectors)
    yield from _carriers(vectors)
    yield from _instructions(vectors)
    yield from _senders(vectors)
    yield from _challenges(vectors)
    yield from _blobs(vectors)
    yield from _headers(vectors)
    yield from _offloaded(vectors)
    yield from _pins_and_sets(vectors)


def request(payload: str, keys: str, senders: Any, at: int, topic: str = TOPIC, **more: Any) -> Request:
    """`keys` is a key or key set. `senders` is a key set, a list of senders, or None."""
    return {"op": "open", "keys": keys, "senders": senders, "topic": topic, "at": at, "payload": payload, **more}


def _level(suite: int | None) -> Level:
    return "opener" if suite == 1 else "opener-full"


def _opens(asked: Request, inner: str | None, failure: str | None, session: Session, **members: Any) -> None:
    """The push opens as `inner` and with the given members, or fails with the class."""
    if failure is not None:
        return session.refused(asked, failure)
    answer = session.accepted(asked)
    if inner is not None and text_of(answer, "payload") != inner:
        raise Failed(f"the payload byte for byte: {inner}", text_of(answer, "payload"))
    for name, value in members.items():
        given = answer.get(name, False if value is False else [] if value == [] else None)
        expect(name, value, given)


def _case(file: str, entry: dict[str, Any], asked: Request, inner: str | None, *, level: Level | None = None, part: str = "",
          **members: Any) -> Case:
    run = functools.partial(_opens, asked, inner, entry.get("failure"), **members)
    return of_vector(f"{file}/{entry['name']}{part}", level or _level(entry["suite"]), entry, run)


# --- Pushes ------------------------------------------------------------------------------------------------------------------


def _envelopes(vectors: Vectors) -> Iterator[Case]:
    file = vectors.load("envelopes-v1")
    for entry in file["vectors"]:
        senders = None if entry["senders"] is None else file["sets"][entry["senders"]]
        asked = request(entry["payload"], file["sets"][entry["keyset"]], senders, entry["at"], entry["topic"])
        yield _case("envelopes-v1", entry, asked, file["inner"])
        if ": message's" in entry["name"]:
            yield _in_suite_1(vectors, f"envelopes-v1/{entry['name']}", entry, entry["failure"], asked,
                              file["inner"] if entry["failure"] is None else None)


def _pushcrypt_v1(vectors: Vectors) -> Iterator[Case]:
    file = vectors.load("pushcrypt-v1")
    for entry in file["opened"] + file["refused"]:
        senders = None if entry["trust"] is None else json.dumps(vectors.keys[entry["trust"][0]].record(private=False))
        asked = request(entry["payload"], vectors.private(entry["key"]), senders, entry["at"], entry.get("topic", file["topic"]))
        failure = entry.get("failure")
        members = {} if failure else {"id": entry["id"], "expiresAt": entry["exp"]}
        yield _case("pushcrypt-v1", entry, asked, None if failure else file["inner"], **members)
        if entry["name"].startswith("inside: "):
            yield _in_suite_1(vectors, f"pushcrypt-v1/{entry['name']}", entry, failure, asked, None)


def _in_suite_1(vectors: Vectors, name: str, entry: dict[str, Any], failure: str | None, asked: Request, inner: str | None) -> Case:
    """The same message to a key of suite 1: the rules of messages are the same in every suite."""
    run = functools.partial(_opens_in_suite_1, vectors, asked, inner, failure)
    return dataclasses.replace(of_vector(f"{name} [p256 psk]", "opener", entry, run), suite=1, flags=("psk", *entry["flags"]))


def _opens_in_suite_1(vectors: Vectors, asked: Request, inner: str | None, failure: str | None, session: Session) -> None:
    payload = resealed(asked["payload"], load_key(json.loads(asked["keys"])), vectors.keys["p256 psk"], asked["topic"])
    _opens({**asked, "payload": payload, "keys": vectors.private("p256 psk")}, inner, failure, session)


def resealed(payload: str, old: Key, new: Key, topic: str) -> str:
    """The payload with its unsigned message sealed to another key."""
    member = parse(payload.encode())[0]["pushcrypt"]
    message = _envelope.open_(old, None, topic, unb64(member["sealed"]))
    sealed = b64(_envelope.seal(new, None, topic, message))
    return payload.replace(f'"{member["sealed"]}"', f'"{sealed}"').replace(f'"{member["kid"]}"', f'"{new.kid}"')


def _steps(vectors: Vectors) -> Iterator[Case]:
    for entry in vectors.load("steps-v1")["pushes"]:
        asked = request(entry["payload"], json.dumps(entry["key"]), entry["senders"], entry["at"], entry["topic"])
        message = bytes.fromhex(entry["values"]["message"]).decode()
        inner = message[:message.rindex(',"pushcrypt":')] + "}"
        yield _case("steps-v1", entry, asked, inner, level=_level(entry["suite"]))


def _alerts(vectors: Vectors) -> Iterator[Case]:
    file = vectors.load("alerts-v1")
    for entry in file["vectors"]:
        failure = None if entry["isVisible"] else "malformed"
        for part in ("inner", "outer"):
            asked = request(entry[part], file["keyset"], None, file["at"], file["topic"])
            name = f"alerts-v1/{part}: {entry['name']}"
            yield of_vector(name, "opener-full", entry, functools.partial(_opens, asked, None, failure))
            yield _in_suite_1(vectors, name, entry, failure, asked, None)


def _carriers(vectors: Vectors) -> Iterator[Case]:
    file = vectors.load("carriers-v1")
    for entry in file["vectors"]:
        asked = request(entry["payload"], json.dumps(file["key"]), None, file["at"], file["topic"], carriers=entry["carriers"])
        yield _case("carriers-v1", entry, asked, file["inner"], level="opener-full")


def _instructions(vectors: Vectors) -> Iterator[Case]:
    for entry in vectors.load("instructions-v1")["vectors"]:
        asked = request(entry["payload"], entry["keyset"], entry["senders"], entry["at"], entry["topic"])
        opened = entry.get("opened") or {}
        effects = {name: opened[name] for name in ("retract", "quiet", "badgeAdd") if name in opened}
        yield _case("instructions-v1", entry, asked, None, level="opener-full", **effects)
        if entry["failure"] is None:
            details = {name: opened[name] for name in ("attachments", "avatar", "proof")}
            yield _case("instructions-v1", entry, {**asked, "details": True}, None, level="opener-full",
                        part=" [details]", **details)


def _senders(vectors: Vectors) -> Iterator[Case]:
    file = vectors.load("senders-v1")
    for entry in file["pushes"]:
        asked = request(entry["payload"], entry["keyset"], file["trust"][entry["trust"]], entry["at"], entry["topic"])
        for details in (False, True) if entry["failure"] is None else (False,):
            members = {"message": entry["message"], "retractedMessages": entry["retract"], "proof": entry["proof"]} if details else {}
            run = functools.partial(_opens, {**asked, **({"details": True} if details else {})}, None, entry["failure"], **members)
            yield of_vector(f"senders-v1/{entry['name']}{' [details]' if details else ''}", "opener-full", entry, run)


# --- Challenges --------------------------------------------------------------------------------------------------------------


def _challenges(vectors: Vectors) -> Iterator[Case]:
    for entry in vectors.load("possession-v1")["challenges"]:
        asked = {"op": "answer", "challenge": entry["challenge"], "keys": entry["keyset"], "senders": entry["senders"],
                 "topic": entry["topic"], "at": entry["at"], "host": entry["host"], "record": entry["record"]}
        run = functools.partial(_answers, asked, entry["answer"], entry["failure"])
        yield of_vector(f"possession-v1/{entry['name']}", "opener-full", entry, run)


def _answers(asked: Request, expected: str | None, failure: str | None, session: Session) -> None:
    if expected is None:
        return session.refused(asked, failure)
    answer = text_of(session.accepted(asked), "answer")
    try:
        got: Any = parse(answer.encode())[0]
    except Exception:
        got = None
    if got != json.loads(expected):
        raise Failed(expected, answer)


# --- Blobs -------------------------------------------------------------------------------------------------------------------


PURPOSES = {"attachment": blobs.ATTACHMENT, "payload": blobs.PAYLOAD}


def plaintext_of(count: int) -> bytes:
    """The plaintext of a vector: byte i of n bytes is 167 i + 13 (i >> 8) + n, modulo 256."""
    return bytes((i * 167 + (i >> 8) * 13 + count) & 255 for i in range(count))


def _blobs(vectors: Vectors) -> Iterator[Case]:
    file = vectors.load("blobs-v1")
    for entry in file["blobs"]:
        yield of_vector(f"blobs-v1/{entry['name']}", "opener-full", entry, functools.partial(_opens_blob, entry))
    for entry in file["refused"]:
        yield of_vector(f"blobs-v1/refused: {entry['name']}", "opener-full", entry, functools.partial(_refuses_blob, entry))


def _blob_request(entry: dict[str, Any], blob: str) -> Request:
    reference = {name: entry[name] for name in ("key", "size", "sha256")}
    return {"op": "blob", "purpose": entry["purpose"], "reference": reference, "blob": blob}


def _opens_blob(entry: dict[str, Any], session: Session) -> None:
    plaintext = plaintext_of(entry["size"])
    blob = blobs.seal_blob(unb64(entry["key"]), PURPOSES[entry["purpose"]], plaintext)
    answer = session.accepted(_blob_request(entry, b64(blob)))
    if text_of(answer, "plaintext") != (b64(plaintext) if plaintext else ""):
        raise Failed(f"the plaintext of {len(plaintext)} bytes", f"{len(text_of(answer, 'plaintext'))} characters of another one")


def _refuses_blob(entry: dict[str, Any], session: Session) -> None:
    session.refused(_blob_request(entry, entry["blob"]))


def _headers(vectors: Vectors) -> Iterator[Case]:
    """The member `pushcrypt` of a message, which is sealed to a key with a psk."""
    file = vectors.load("blobs-v1")
    for entry in file["headers"]:
        failure = None if entry["valid"] else "malformed"
        run = functools.partial(_opens_header, vectors, entry["header"], failure)
        yield of_vector(f"blobs-v1/header: {entry['name']}", "opener-full", entry, run)


def _opens_header(vectors: Vectors, header: str, failure: str | None, session: Session) -> None:
    payload = sealed_message(vectors, f'{{"aps":{{"alert":"x"}},"pushcrypt":{header}}}')
    _opens(request(payload, vectors.private("p256 psk"), None, AT), '{"aps":{"alert":"x"}}', failure, session)


def sealed_message(vectors: Vectors, message: str) -> str:
    key = vectors.keys["p256 psk"]
    sealed = b64(_envelope.seal(key, None, TOPIC, message.encode("utf-8", "surrogatepass")))
    return f'{{"aps":{{"alert":"New message","mutable-content":1}},"pushcrypt":{{"v":1,"kid":"{key.kid}","sealed":"{sealed}"}}}}'


def _offloaded(vectors: Vectors) -> Iterator[Case]:
    for entry in vectors.load("blobs-v1")["payloads"]:
        failure = None if entry["valid"] else "malformed"
        run = functools.partial(_opens_offloaded, vectors, entry, "", failure)
        yield of_vector(f"blobs-v1/payload: {entry['name']}", "opener-full", entry, run)
    for name, payload, extras, failure in (
        ("a payload with a pushcrypt member", '{"aps":{"alert":"x"},"pushcrypt":{}}', "", "malformed"),
        ("a payload without a text", '{"aps":{"alert":" "}}', "", "malformed"),
        ("a payload with a name twice", '{"aps":{"alert":"x"},"a":1,"a":1}', "", "malformed"),
        ("a badge, and the message has an increment", '{"aps":{"alert":"x","badge":1}}', ',"badge":{"add":1}', "malformed"),
        ("no badge, and the message has an increment", '{"aps":{"alert":"x"}}', ',"badge":{"add":1}', None),
    ):
        entry = {"start": payload, "repeated": "", "count": 0, "end": ""}
        run = functools.partial(_opens_offloaded, vectors, entry, extras, failure)
        yield Case(f"blobs-v1/payload: {name}", "opener-full", "protocol 6, offloaded payloads", run, 1,
                   ("psk", "accepted" if failure is None else "refused"))


def _opens_offloaded(vectors: Vectors, entry: dict[str, Any], extras: str, failure: str | None, session: Session) -> None:
    text = entry["start"] + entry["repeated"] * entry["count"] + entry["end"]
    key, plaintext = hashlib.sha256(text.encode()).digest(), text.encode()
    blob = blobs.seal_blob(key, blobs.PAYLOAD, plaintext)
    reference = json.dumps(blobs.Offload(URL, key, len(plaintext), hashlib.sha256(blob).digest()).members())
    header = f'{{"id":"AAECAwQFBgcICQoLDA0ODw","iat":{AT},"exp":{AT + DAY},"offload":{reference}{extras}}}'
    payload = sealed_message(vectors, f'{{"aps":{{"alert":"short"}},"pushcrypt":{header}}}')
    asked = request(payload, vectors.private("p256 psk"), None, AT, blob=b64(blob))
    _opens(asked, text.rstrip(" "), failure, session)


# --- Signed sets -------------------------------------------------------------------------------------------------------------


def _pins_and_sets(vectors: Vectors) -> Iterator[Case]:
    file = vectors.load("sender-sets-v1")
    for entry in file["pins"]:
        yield of_vector(f"sender-sets-v1/pins: {entry['name']}", "opener-full", entry, functools.partial(_reads_pins, entry))
    for entry in file["cases"]:
        run = functools.partial(_accepts_set, file["sets"][entry["pins"]], entry)
        yield of_vector(f"sender-sets-v1/{entry['name']}", "opener-full", entry, run)


def _reads_pins(entry: dict[str, Any], session: Session) -> None:
    """The protocol names no failures of pins."""
    asked = {"op": "set", "pins": entry["text"]}
    if entry["failure"] is None:
        session.accepted(asked)
    else:
        session.refused(asked)


#: The failures that section 10 names. "The failure of a set that can't be read" has no name.
_NAMED = ("otherSet", "otherTopic", "otherEpoch", "rolledBack", "conflict", "expired", "tooLarge", "notSigned", "wrongKind")


def _accepts_set(pins: str, entry: dict[str, Any], session: Session) -> None:
    document = b64(unb64(entry["document"]) + b" " * entry.get("padding", 0))
    asked = {"op": "set", "pins": pins, "topic": entry["topic"], "at": seconds(entry["now"], "now"), "document": document,
             "stored": entry["stored"]}
    if entry["failure"] is not None:
        return session.refused(asked, entry["failure"] if entry["failure"] in _NAMED else None)
    state = session.accepted(asked).get("state")
    if not isinstance(state, dict):
        raise Failed(f"the state {shown(entry['state'])}", shown(state))
    revoked = state.get("revoked")
    got = {**state, "revoked": sorted(revoked) if isinstance(revoked, list) and all(isinstance(one, str) for one in revoked) else revoked}
    expect("state", {**entry["state"], "revoked": sorted(entry["state"]["revoked"])}, got)
