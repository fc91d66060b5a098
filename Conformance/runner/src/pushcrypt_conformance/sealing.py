"""The levels sender and sender-full: pushes that must be sealed, opened and measured."""
from __future__ import annotations

import functools
import json
from typing import Any, Callable, Iterator, Sequence

from pushcrypt import _keys, blobs
from pushcrypt._json import b64, unb64
from pushcrypt.keysets import time_text

from . import rules
from .cases import Case, Failed, Level, Request, Session, expect, shown, text_of
from .material import AT, DEVICE, Vectors
from .measure import INNER, WINDOW, Measured, Mode, capacity_of, measure
from .opening import PURPOSES, plaintext_of

_RECIPIENTS = ("p256", "p256 psk", "x25519", "x25519 psk", "xwing", "xwing psk", "shared", "device")


def modes(vectors: Vectors) -> list[Mode]:
    """The level sender has a key of suite 1, with and without psk, and signs."""
    found = []
    for name in _RECIPIENTS:
        for signer in (vectors.keys["sender"], None):
            level: Level = "sender" if name in ("p256", "p256 psk") and signer is not None else "sender-full"
            label = f"{name}, {'unsigned' if signer is None else 'signed'}"
            found.append(Mode(label, level, vectors.keys[name], vectors.record(name), signer))
    master = vectors.keys["shared"]
    found.append(Mode("shared for a device, signed", "sender-full", _keys.device_key(master, DEVICE), vectors.record("shared"),
                      vectors.keys["sender"], DEVICE))
    return found


def mode_named(vectors: Vectors, name: str) -> Mode:
    return next(mode for mode in modes(vectors) if mode.name == name)


def cases(vectors: Vectors) -> Iterator[Case]:
    every = modes(vectors)
    small = [mode for mode in every if mode.level == "sender"]
    yield from _payloads(every)
    yield from _padding(every)
    yield from _limits(every)
    yield from _fresh(every)
    for mode in small:
        yield from _exposed(mode)
        yield from _placeholders(mode)
        yield from _times(mode)
        yield from _records(mode)
        yield from _topics(mode)
    yield from _sealed_carriers(every)
    yield from _instructions(every)
    yield from _campaigns(vectors)
    yield from _chosen_keys(vectors)
    yield from _sealed_blobs()


def sealed(session: Session, mode: Mode, request: Request) -> Measured:
    return measure(session, mode, request, session.ask(request))


def _seals(mode: Mode, request: Request, session: Session) -> None:
    sealed(session, mode, request)


def _seals_or_refuses(mode: Mode, request: Request, session: Session) -> None:
    answer = session.ask(request)
    if "failure" not in answer:
        measure(session, mode, request, answer)


def _seals_all(mode: Mode, requests: Sequence[Request], session: Session) -> None:
    for request, answer in zip(requests, session.ask_all(requests)):
        session.asked = [request]
        measure(session, mode, request, answer)


def case(group: str, name: str, mode: Mode, rule: str, run: Callable[[Session], None], *, level: Level | None = None,
         flags: tuple[str, ...] = ()) -> Case:
    return Case(f"{group}/{mode.name}: {name}", level or mode.level, rule, run, mode.key.suite, (*mode.flags, *(flags or ("accepted",))))


# --- Payloads ----------------------------------------------------------------------------------------------------------------


def _levels(count: int) -> str:
    return "[" * count + "]" * count


#: Inner payloads, which must come out byte for byte.
PAYLOADS: tuple[tuple[str, str], ...] = (
    ("a text", INNER),
    ("title, subtitle and body", '{"aps":{"alert":{"title":"Zoë","subtitle":"s","body":"Grüße"}}}'),
    ("white space everywhere", ' {\t"aps" :\n{ "alert"\r\n: "x" } , "y" : [ 1 , 2 ] \n} \n'),
    ("white space before the end", '{"aps":{"alert":"x"}\n \t}'),
    ("a line break at the end", INNER + "\n"),
    ("members before and behind aps", '{"a":1,"aps":{"alert":"x"},"z":{"aps":{}}}'),
    ("aps as the last member", '{"a":"}","aps":{"alert":"x"}}'),
    ("escapes", '{"aps":{"alert":"\\u0041\\/\\"\\\\\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"}}'),
    ("a name with escapes", '{"\\u0061ps":{"alert":"x"}}'),
    ("emoji", '{"aps":{"alert":"👩‍👩‍👧‍👦🏳️‍🌈"}}'),
    ("characters of every length", '{"aps":{"alert":"aéह😀"}}'),
    ("line separators", '{"aps":{"alert":"a\u2028b\u2029c"}}'),
    ("a decomposed letter", '{"aps":{"alert":"e\u0301"},"\u00e9":1,"e\u0301":2}'),
    ("direction marks", '{"aps":{"alert":"\u202ex\u202c"}}'),
    ("DEL and NUL", '{"aps":{"alert":"x\x7f\\u0000"}}'),
    ("numbers as they are written", '{"aps":{"alert":"x"},"n":[1.50e0,-0,0.10,1E+2,9007199254740993,1e400,1234567890123456789012345]}'),
    ("literals", '{"aps":{"alert":"x","y":null},"a":[true,false,null,[],{},""]}'),
    ("names that look like others", '{"aps":{"alert":"x"},"Aps":1,"APS":2,"pushCrypt":3,"__proto__":{"a":1},"constructor":1,"":0}'),
    ("pushcrypt inside aps", '{"aps":{"alert":"x","pushcrypt":{"id":1}},"x":{"pushcrypt":1}}'),
    ("64 levels", '{"aps":{"alert":"x"},"y":' + _levels(63) + "}"),
    ("names in another order than sorted", '{"z":1,"b":2,"aps":{"z":1,"alert":"x","a":2},"a":3,"10":4,"9":5}'),
    ("a long name", '{"aps":{"alert":"x"},"' + "n" * 300 + '":1}'),
    ("a loc-key with arguments", '{"aps":{"alert":{"loc-key":"K","loc-args":["a","b"]}}}'),
    ("content-state null and an event of its own", '{"aps":{"alert":"x","content-state":null,"event":"tap","attributes-type":null}}'),
    ("a text of one visible character among others", '{"aps":{"alert":"\u200b \u3164x"}}'),
)
_SOME = ("title, subtitle and body", "white space everywhere", "numbers as they are written", "emoji")


def _payloads(every: Sequence[Mode]) -> Iterator[Case]:
    for mode in every:
        for name, payload in PAYLOADS:
            if mode.level == "sender" or name in _SOME:
                rule = rules.VISIBLE if "visible" in name else rules.STRICT if name == "64 levels" else rules.MESSAGE
                yield case("sealed payloads", name, mode, rule, functools.partial(_seals, mode, mode.request(payload)))


def _body(text: str) -> str:
    return '{"aps":{"alert":"' + text + '"}}'


def _padding(every: Sequence[Mode]) -> Iterator[Case]:
    for mode in every:
        multiples: tuple[Any, ...] = (1, 2, 3, 16, 64, 100, 128, 256, 500, 512, 1_024, 4_096, "max", "none")
        for pad in multiples if mode.level == "sender" else (1, 128, 500, "max", "none"):
            # The lengths reach both sides of a multiple, whatever the program's header takes.
            lengths = range(1, 130) if pad == 128 and mode.level == "sender" else range(1, 520, 37)
            requests = [mode.request(_body("x" * length), pad=pad) for length in lengths]
            yield case("padding", f"pad {pad}", mode, rules.PADDING, functools.partial(_seals_all, mode, requests))
        yield case("padding", "128 without the option", mode, rules.PADDING, functools.partial(_seals, mode, mode.request(_body("x" * 50))))


#: A text of what an alert is made to fill a push: the name, and the bytes that a program may count wrongly.
FILLINGS = (("ASCII", "x"), ("é", "é"), ("é as an escape", "\\u00e9"), ("emoji", "😀"), ("ZWJ sequences", "👩‍👩‍👧‍👦"))


def _limits(every: Sequence[Mode]) -> Iterator[Case]:
    for mode in every:
        options: list[dict[str, Any]] = [{}, {"pad": "none"}, {"pad": "max"}, {"limit": 4_095}, {"limit": 2_001}, {"expose": ["category"]},
                                         {"placeholder": {"title": "é😀\u2028"}, "pad": "max"}]
        for name, unit in FILLINGS if mode.level == "sender" else FILLINGS[:2]:
            for option in options if mode.level == "sender" else options[:1]:
                told = "".join(f", {key} {_told(value)}" for key, value in option.items())
                for what, more in (("the limit to the byte", 0), ("a byte less", -1), ("a byte more", 1)):
                    run = functools.partial(_reaches_the_limit, mode, unit, option, more)
                    flag = "refused" if more > 0 else "accepted"
                    yield case("limits", f"{name}{told}, {what}", mode, rules.PADDING, run, flags=(flag,))


def _told(option: Any) -> str:
    return "of 2 to 4 bytes a character" if isinstance(option, dict) else option[0] if isinstance(option, list) else str(option)


def _reaches_the_limit(mode: Mode, unit: str, option: dict[str, Any], more: int, session: Session) -> None:
    """`more`: the bytes by which the message is longer than the longest one."""
    category = ',"category":"c"' if "expose" in option else ""

    def payload(text: str) -> str:
        return '{"aps":{"alert":"' + text + '"' + category + "}}"

    empty = mode.request(payload("x"), **{**option, "pad": "none"})
    made = sealed(session, mode, empty)
    room = capacity_of(made.frame, mode, empty) - made.unpadded + 1 + more
    count, rest = divmod(room, len(unit.encode("utf-8")))
    asked = mode.request(payload(unit * count + "x" * rest), **option)
    if more > 0:
        session.refused(asked)
        return
    full = sealed(session, mode, asked)
    expect("bytes of the message without padding", made.unpadded - 1 + room, full.unpadded)


def _fresh(every: Sequence[Mode]) -> Iterator[Case]:
    for mode in every:
        if mode.name in ("p256 psk, signed", "p256, signed", "x25519 psk, signed", "xwing psk, signed", "shared, signed"):
            yield case("freshness", "a fresh encapsulation, id and padding in each of 1,000 pushes", mode, rules.SUITES,
                       functools.partial(_seals_all, mode, [mode.request()] * 1_000))


# --- The outer payload -------------------------------------------------------------------------------------------------------


#: The inner `aps` beside the alert, and the names to expose.
EXPOSED: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("no sound", "", ()), ("a sound", '"sound":"chime.caf"', ()),
    ("an object of sound", '"sound":{"critical":1,"name":"a","volume":1}', ()),
    ("a sound that is empty", '"sound":""', ()), ("a sound that is null", '"sound":null', ()),
    ("a sound that is {}", '"sound":{}', ()),
    ("a sound that is default", '"sound":"default"', ()), ("content-available 1", '"content-available":1', ()),
    ("content-available true", '"content-available":true', ()), ("content-available 1.0", '"content-available":1.0', ()),
    ("content-available 0", '"content-available":0', ()), ("content-available as a string", '"content-available":"1"', ()),
    ("nothing else is visible", '"badge":3,"category":"c","thread-id":"t","interruption-level":"critical","x":1', ()),
    ("a badge of 0", '"badge":0', ("badge",)), ("the largest badge", '"badge":9007199254740991', ("badge",)),
    ("a name of the sound", '"sound":"chime.caf"', ("sound",)), ("an empty name of the sound", '"sound":""', ("sound",)),
    ("an object of sound, exposed", '"sound":{"critical":1,"name":"a","volume":0.5}', ("sound",)),
    ("a category", '"category":"c"', ("category",)),
    ("a thread", '"thread-id":"ü"', ("thread-id",)),
    ("a level", '"interruption-level":"time-sensitive"', ("interruption-level",)),
    ("a score", '"relevance-score":0.75', ("relevance-score",)), ("an own boolean", '"x":false', ("x",)),
    ("an own number", '"x_1-Y":-1.5e3', ("x_1-Y",)),
    ("an own string", '"x":"\\u00e9\\"\\\\"', ("x",)),
    ("several", '"badge":1,"category":"c","sound":"s","thread-id":"t","content-available":1', ("thread-id", "badge", "sound", "category")),
    ("32 names", ",".join(f'"m{number}":{number}' for number in range(32)), tuple(f"m{number}" for number in range(32))),
)


def _exposed(mode: Mode) -> Iterator[Case]:
    for name, members, names in EXPOSED:
        payload = '{"aps":{"alert":"x"' + ("," + members if members else "") + "}}"
        asked = mode.request(payload, expose=list(names) or None)
        yield case("exposed members", name, mode, rules.EXPOSED, functools.partial(_seals, mode, asked))
    twice = mode.request('{"aps":{"alert":"x","badge":1}}', expose=["badge", "badge"])
    run = functools.partial(_seals_or_refuses, mode, twice)
    yield case("exposed members", "a name twice is one member or refused", mode, rules.STRICT, run)


PLACEHOLDERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("a title", {"title": "New"}), ("a subtitle", {"subtitle": "New"}), ("a body", {"body": "New"}),
    ("title, subtitle and body", {"title": "a", "subtitle": "b", "body": "c"}), ("a loc-key", {"loc-key": "K"}),
    ("a title-loc-key", {"title-loc-key": "K"}),
    ("keys with arguments", {"loc-key": "K", "loc-args": ["a", "ü"], "title-loc-key": "T",
                                                                         "title-loc-args": ["b"]}),
    ("a subtitle-loc-key beside a title", {"title": "a", "subtitle-loc-key": "S", "subtitle-loc-args": ["c"]}),
    ("a launch-image", {"title": "a", "launch-image": "i.png"}), ("quotes and escapes", {"title": '"\\/\b\f\n\r\t\x01\x7f'}),
    ("emoji", {"body": "👩‍👩‍👧‍👦 ✉️"}), ("line separators", {"body": "a\u2028b\u2029c"}), ("markup", {"title": "<b>&amp;'</b>"}),
)


def _placeholders(mode: Mode) -> Iterator[Case]:
    for name, placeholder in PLACEHOLDERS:
        yield case("placeholders", name, mode, rules.OUTER, functools.partial(_seals, mode, mode.request(placeholder=placeholder)))


def _times(mode: Mode) -> Iterator[Case]:
    for name, at, expires in (
        ("30 days without the option", AT, None), ("expires after 1 second", AT, 1), ("expires after an hour", AT, 3_600),
        ("expires after 30 days", AT, WINDOW), ("in 1970", 0, 60), ("behind 32 bits", 2**31 + 5, 60),
        ("behind 33 bits", 2**33 + 7, WINDOW),
        ("the last second", 2**53 - 1 - 60, 60),
    ):
        yield case("times", name, mode, rules.MESSAGE, functools.partial(_seals, mode, mode.request(at=at, expires=expires)))


def _records(mode: Mode) -> Iterator[Case]:
    record = json.loads(mode.record)
    for name, text in (
        ("in another order", json.dumps(dict(reversed(list(record.items()))))),
        ("without white space", json.dumps(record, separators=(",", ":"))),
        ("with line breaks", json.dumps(record, indent=2)),
        ("with members that nobody knows", json.dumps({**record, "use": "enc", "more": [{"d": 1}]})),
        ("with escapes", mode.record.replace('"P-256"', '"\\u0050-256"')), ("as a set of one", json.dumps({"keys": [record]})),
    ):
        yield case("records", name, mode, rules.RECORDS, functools.partial(_seals, mode, mode.request(to=text)))


def _topics(mode: Mode) -> Iterator[Case]:
    for name, topic in (("of one character", "a"), ("of 155 characters", "a" * 155),
    ("with capitals, digits, . and -", "Com.Example-1.App")):
        yield case("topics", name, mode, rules.INFO, functools.partial(_seals, mode, mode.request(topic=topic)))


# --- sender-full -------------------------------------------------------------------------------------------------------------


def _sealed_carriers(every: Sequence[Mode]) -> Iterator[Case]:
    for mode in every:
        if mode.name not in ("p256 psk, signed", "x25519, unsigned", "xwing psk, signed", "device, signed"):
            continue
        for carrier in ("apns", "rebuilt", "fcm", "text", "expo", "oneSignal"):
            make = functools.partial(case, "sealed carriers", mode=mode, rule=rules.CARRIERS, level="sender-full")
            body = {"carrier": carrier, "placeholder": {"body": "New message"}}  # OneSignal's service demands a body.
            for name, options in (("its place", body), ("a limit of its own", {**body, "limit": 4_096, "pad": "max"}),
                                  ("quotes in the placeholder", {**body, "placeholder": {"title": 'a"\\', "body": "é"}})):
                yield make(f"{carrier}: {name}", run=functools.partial(_seals, mode, mode.request(**options)))
            for what, more in (("the limit to the byte", 0), ("a byte more", 1)):
                yield make(f"{carrier}: {what}", run=functools.partial(_reaches_the_limit, mode, "x", {**body, "pad": "none"}, more),
                           flags=("refused",) if more else ())


def ids(count: int) -> list[str]:
    return [b64(number.to_bytes(16, "big")) for number in range(1, count + 1)]


REFERENCE = {"url": "https://cdn.example.com/a?b=%2f", "key": b64(bytes(range(32))), "size": 5, "sha256": b64(bytes(range(32, 64)))}
ATTACHMENT = {**REFERENCE, "type": "image/png"}


def _instructions(every: Sequence[Mode]) -> Iterator[Case]:
    table: tuple[tuple[str, dict[str, Any]], ...] = (
        ("one id", {"retract": ids(1)}), ("16 ids", {"retract": ids(16)}), ("quiet", {"quiet": True}),
        ("quiet that retracts", {"quiet": True, "retract": ids(1)}), ("the badge by -999", {"badgeAdd": -999}),
        ("the badge by 0", {"badgeAdd": 0}),
        ("the badge by 999", {"badgeAdd": 999}),
        ("all but quiet", {"retract": ids(2), "badgeAdd": 1, "attachments": [{**ATTACHMENT, "use": "avatar"}]}),
        ("an avatar", {"attachments": [{**ATTACHMENT, "use": "avatar"}]}), ("not quiet", {"quiet": False}))
    anyone: tuple[tuple[str, dict[str, Any]], ...] = (
        ("an attachment", {"attachments": [ATTACHMENT]}),
        ("eight attachments", {"attachments": [{**ATTACHMENT, "id": f"a{n}"} for n in range(8)]}),
        ("an offloaded payload", {"offload": REFERENCE}), ("a self-test", {"selfTest": True}),
        ("no attachments", {"attachments": []}))
    for mode in every:
        if mode.name not in ("p256, signed", "p256 psk, unsigned", "p256, unsigned", "x25519 psk, signed", "xwing, signed",
                             "device, unsigned"):
            continue
        for name, options in anyone + (() if mode.name == "p256, unsigned" else table):
            payload = '{"aps":{"alert":"x","sound":"s"}}'
            rule = rules.INSTRUCTIONS if (name, options) in table else rules.REFERENCES
            run = functools.partial(_seals, mode, mode.request(payload, **options))
            yield case("sealed instructions", name, mode, rule, run, level="sender-full")


def _campaigns(vectors: Vectors) -> Iterator[Case]:
    for number, entry in enumerate(vectors.load("keysets-v1")["campaigns"]):
        mode = mode_named(vectors, f"{entry['key']}, signed")
        yield Case(f"keysets-v1/campaigns: {entry['key']}, {number}", "sender-full", rules.CAMPAIGNS,
                   functools.partial(_has_the_id, mode, mode.request(campaign=entry["campaign"]), entry["id"]), mode.key.suite,
                   (*mode.flags, "accepted"))


def _has_the_id(mode: Mode, request: Request, expected: str, session: Session) -> None:
    for _ in range(2):
        expect("the message's id", expected, sealed(session, mode, request).opened.id)


def published(keys: Sequence[tuple[_keys.Key, dict[str, Any]]], *, private: bool = False, seq: int = 1) -> str:
    """A set of keys with their times, in Unix seconds."""
    times = {key.kid: {name: time_text(value) if type(value) is int else value for name, value in lives.items()} for key, lives in keys}
    return json.dumps({"keys": [key.record(private=private) for key, _ in keys], "pushcrypt": {"seq": seq, "keys": times}})


def _chosen_keys(vectors: Vectors) -> Iterator[Case]:
    """Sets from which the sender chooses a key by time, to seal to and to sign with."""
    old, new = vectors.keys["p256"], vectors.keys["other p256"]
    for name, lives, chosen in (
        ("the only key", ((old, {"activatesAt": 0}),), old),
        ("the key before it retires", ((old, {"activatesAt": 0, "retiresAt": AT + 1}), (new, {"activatesAt": AT + 1})), old),
        ("the key that activates now", ((old, {"activatesAt": 0, "retiresAt": AT}), (new, {"activatesAt": AT})), new),
        ("the later of two that seal", ((old, {"activatesAt": 5}), (new, {"activatesAt": 6})), new),
        ("the later createdAt of two", ((old, {"activatesAt": 6, "createdAt": 2}), (new, {"activatesAt": 6, "createdAt": 1})), old),
        ("the greater kid of two", ((old, {"activatesAt": 6}), (new, {"activatesAt": 6})), max(old, new, key=lambda key: key.kid)),
        ("the older one, as the newer is revoked", ((old, {"activatesAt": 0}), (new, {"activatesAt": 6, "revokedAt": AT - 1})), old),
        ("the newer one, before it is revoked", ((old, {"activatesAt": 0}), (new, {"activatesAt": 6, "revokedAt": AT + 1})), new),
        ("the older one, as the newer is destroyed", ((old, {"activatesAt": 0}), (new, {"activatesAt": 6, "destroyedAt": AT + 9})), old),
    ):
        mode = Mode(name, "sender-full", chosen, published(lives), vectors.keys["sender"])
        yield case("chosen keys", "sealed to", mode, rules.LIFECYCLE, functools.partial(_seals, mode, mode.request()))
    first, second = vectors.keys["sender"], vectors.keys["other sender"]
    for name, signing, signer in (
        ("the sender before it retires", ((first, {"activatesAt": 0, "retiresAt": AT + 1}), (second, {"activatesAt": AT + 1})), first),
        ("the sender that activates now", ((first, {"activatesAt": 0, "retiresAt": AT}), (second, {"activatesAt": AT})), second),
        ("the older sender, as the newer is revoked", ((first, {"activatesAt": 0}), (second, {"activatesAt": 6, "revokedAt": AT})), first),
    ):
        mode = Mode(name, "sender-full", vectors.keys["p256 psk"], vectors.record("p256 psk"), signer)
        request = mode.request(signWith=published(signing, private=True))
        yield case("chosen keys", "signed with", mode, rules.LIFECYCLE, functools.partial(_seals, mode, request))


# --- Blobs -------------------------------------------------------------------------------------------------------------------


def _sealed_blobs() -> Iterator[Case]:
    for size in (0, 1, 65_535, 65_536, 65_537, 131_072, 200_000):
        yield Case(f"sealed blobs/an attachment of {size:,} bytes", "sender-full", rules.BLOBS,
                   functools.partial(_seals_blob, plaintext_of(size), "attachment"), None, ("accepted",))
    for name, payload in (("a short payload", INNER), ("a payload of 4,096 bytes", _body("x" * (4_096 - len(INNER) + 1))),
                          ("a payload of 4,097 bytes", _body("x" * (4_097 - len(INNER) + 1))),
                          ("a payload of 262,144 bytes", _body("x" * (262_144 - len(INNER) + 1)))):
        yield Case(f"sealed blobs/{name}", "sender-full", rules.OFFLOAD, functools.partial(_seals_blob, payload.encode(), "payload"), None,
                   ("accepted",))
    yield Case("sealed blobs/a fresh key in each of 100 blobs", "sender-full", rules.BLOBS, _fresh_blobs, None, ("accepted",))
    for name, text in (
        ("a payload of 262,145 bytes", _body("x" * (262_145 - len(INNER) + 1))),
        ("a payload of 16,385 values", '{"aps":{"alert":"x"},"y":[0' + ",0" * 16_380 + "]}"),
        ("a payload with a pushcrypt member", '{"aps":{"alert":"x"},"pushcrypt":1}'), ("a payload without a text", _body(" ")),
        ("a payload with a name twice", '{"aps":{"alert":"x"},"a":1,"a":1}'), ("a payload that is no JSON", "{"),
        ("the payload of a Live Activity", '{"aps":{"alert":"x","event":"update","content-state":{}}}'),
    ):
        asked = {"op": "blob", "purpose": "payload", "plaintext": b64(text.encode())}
        yield Case(f"sealed blobs/refused: {name}", "sender-full", rules.OFFLOAD, functools.partial(_refuses, asked), None, ("refused",))


def _refuses(asked: Request, session: Session) -> None:
    session.refused(asked)


def _seals_blob(plaintext: bytes, purpose: str, session: Session) -> None:
    _opened_blob(session.accepted({"op": "blob", "purpose": purpose, "plaintext": b64(plaintext) if plaintext else ""}), plaintext, purpose)


def _opened_blob(answer: dict[str, Any], plaintext: bytes, purpose: str) -> bytes:
    """The key of the blob, which was opened."""
    reference, blob = answer.get("reference"), text_of(answer, "blob")
    padded = blobs.pad_payload(plaintext) if purpose == "payload" else plaintext
    try:
        read = blobs.Offload.from_members({"url": "", **(reference if isinstance(reference, dict) else {})})
        opened = blobs.open_blob(read, PURPOSES[purpose], unb64(blob))
    except Exception as error:
        raise Failed("a blob that opens with its reference", f"{error}; the reference is {shown(reference)}") from None
    if opened != padded:
        raise Failed(f"the plaintext of {len(padded):,} bytes", f"another one, of {len(opened):,} bytes")
    return read.key


def _fresh_blobs(session: Session) -> None:
    asked = {"op": "blob", "purpose": "attachment", "plaintext": b64(b"x")}
    answers = session.ask_all([asked] * 100)
    keys = {_opened_blob(answer, b"x", "attachment") for answer in answers}
    if len(keys) < len(answers):
        raise Failed("another key for each blob", f"{len(keys)} keys for {len(answers)} blobs")


