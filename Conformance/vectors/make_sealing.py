"""Writes sealing-v1.json: pushes that a sender seals, and pushes, records, options and signers that it refuses.

Run with an interpreter that has the package of Senders/python: python make_sealing.py > sealing-v1.json
Nothing in the file is random, so every run makes the same file. programs/python.py answers each request as the file says.
"""
from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any, Iterator, NamedTuple, Optional

import annotate
from annotate import (
    BASE64URL, CARRIERS, DEVICE_KEYS, EXPOSED, IMPORTER, INFO, INSTRUCTIONS, INTEGERS, LIFECYCLE, MESSAGE, OUTER, PADDING, RANK, RECORDS,
    REFERENCES, SETS, STRICT, VISIBLE)
from make_envelopes import KEYS, b64
from make_pushcrypt_v1 import AT, DAY, DEVICE, TOPIC
from pushcrypt._keys import Key
from pushcrypt._times import time_text

WINDOW = 30 * DAY
INNER = '{"aps":{"alert":"x"}}'
SENDER, OTHER_SENDER = KEYS["sender"], KEYS["other sender"]
PROGRAM = runpy.run_path(str(Path(__file__).resolve().parent.parent / "programs" / "python.py"), run_name="python")
REFERENCE = {"url": "https://cdn.example.com/a?b=%2f", "key": b64(bytes(range(32))), "size": 5, "sha256": b64(bytes(range(32, 64)))}
ATTACHMENT = {**REFERENCE, "type": "image/png"}


def levels(count: int) -> str:
    return "[" * count + "]" * count


def ids(count: int) -> list[str]:
    return [b64(number.to_bytes(16, "big")) for number in range(1, count + 1)]


class Mode(NamedTuple):
    """A recipient by the name of its key, signed or not."""

    key: str
    signer: Optional[str] = "sender"

    @property
    def name(self) -> str:
        return f"{self.key}, {'signed' if self.signer else 'unsigned'}"

    @property
    def record(self) -> str:
        return json.dumps(KEYS[self.key].record(private=False))


class Vectors:
    """Collects requests, each checked against the package."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def add(self, level: str, group: str, mode: Mode, name: str, rule: str, is_refused: bool = False, key: Optional[str] = None,
            signer: Optional[str] = None, **options: Any) -> None:
        """An option that is None is left out. `key` and `signer` are the keys that the sender has to choose from a set."""
        request = {"topic": TOPIC, "at": AT, "payload": INNER, "to": mode.record, "placeholder": {"title": "New message"},
                   "signWith": json.dumps(KEYS[mode.signer].record()) if mode.signer else None, "bare": mode.key == "shared" or None,
                   **options}
        request = {member: value for member, value in request.items() if value is not None}
        answer = json.loads(json.dumps(PROGRAM["answered"]({"op": "seal", **request})))
        assert ("failure" in answer) == is_refused, (group, name, answer)
        self.found.append({"name": f"{group}/{mode.name}: {name}", "rule": rule, "level": level, "failure": answer.get("failure"),
                           "key": key or mode.key, "signer": signer or mode.signer, "request": request})


#: The level sender: suite 1, signed.
SMALL = (Mode("p256"), Mode("p256 psk"))
EVERY = tuple(Mode(key, signer) for key in ("p256", "p256 psk", "x25519", "x25519 psk", "xwing", "xwing psk", "shared", "device")
              for signer in ("sender", None))

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
    ("64 levels", '{"aps":{"alert":"x"},"y":' + levels(63) + "}"),
    ("names in another order than sorted", '{"z":1,"b":2,"aps":{"z":1,"alert":"x","a":2},"a":3,"10":4,"9":5}'),
    ("a long name", '{"aps":{"alert":"x"},"' + "n" * 300 + '":1}'),
    ("a loc-key with arguments", '{"aps":{"alert":{"loc-key":"K","loc-args":["a","b"]}}}'),
    ("content-state null and an event of its own", '{"aps":{"alert":"x","content-state":null,"event":"tap","attributes-type":null}}'),
    ("a text of one visible character among others", '{"aps":{"alert":"\u200b \u3164x"}}'),
)
#: Those that are sealed in every mode.
SOME = ("title, subtitle and body", "white space everywhere", "numbers as they are written", "emoji")

#: The inner `aps` beside the alert, and the names to expose.
EXPOSURES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("no sound", "", ()), ("a sound", '"sound":"chime.caf"', ()),
    ("an object of sound", '"sound":{"critical":1,"name":"a","volume":1}', ()),
    ("a sound that is empty", '"sound":""', ()), ("a sound that is null", '"sound":null', ()), ("a sound that is {}", '"sound":{}', ()),
    ("a sound that is false", '"sound":false', ()), ("a sound that is 0", '"sound":0', ()), ("a sound that is []", '"sound":[]', ()),
    ("a name 32 times is copied once", '"badge":1', ("badge",) * 32),
    ("a sound that is default", '"sound":"default"', ()), ("content-available 1", '"content-available":1', ()),
    ("content-available true", '"content-available":true', ()), ("content-available 1.0", '"content-available":1.0', ()),
    ("content-available 0", '"content-available":0', ()), ("content-available as a string", '"content-available":"1"', ()),
    ("nothing else is visible", '"badge":3,"category":"c","thread-id":"t","interruption-level":"critical","x":1', ()),
    ("a badge of 0", '"badge":0', ("badge",)), ("the largest badge", '"badge":9007199254740991', ("badge",)),
    ("a name of the sound", '"sound":"chime.caf"', ("sound",)), ("an empty name of the sound", '"sound":""', ("sound",)),
    ("an object of sound, exposed", '"sound":{"critical":1,"name":"a","volume":0.5}', ("sound",)),
    ("a category", '"category":"c"', ("category",)), ("a thread", '"thread-id":"ü"', ("thread-id",)),
    ("a level", '"interruption-level":"time-sensitive"', ("interruption-level",)),
    ("a score", '"relevance-score":0.75', ("relevance-score",)), ("an own boolean", '"x":false', ("x",)),
    ("an own number", '"x_1-Y":-1.5e3', ("x_1-Y",)), ("an own string", '"x":"\\u00e9\\"\\\\"', ("x",)),
    ("several", '"badge":1,"category":"c","sound":"s","thread-id":"t","content-available":1', ("thread-id", "badge", "sound", "category")),
    ("a number as it is written", '"x":-0,"y":1.50E+0', ("x", "y")), ("a name twice is copied once", '"badge":1', ("badge", "badge")),
    ("an object with escapes and white space", '"sound":{ "name" :"\\u0041\\/" ,"volume":1.0}', ("sound",)),
    ("32 names", ",".join(f'"m{number}":{number}' for number in range(32)), tuple(f"m{number}" for number in range(32))),
)

PLACEHOLDERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("a title", {"title": "New"}), ("a subtitle", {"subtitle": "New"}), ("a body", {"body": "New"}),
    ("title, subtitle and body", {"title": "a", "subtitle": "b", "body": "c"}), ("a loc-key", {"loc-key": "K"}),
    ("a title-loc-key", {"title-loc-key": "K"}),
    ("keys with arguments", {"loc-key": "K", "loc-args": ["a", "ü"], "title-loc-key": "T", "title-loc-args": ["b"]}),
    ("a subtitle-loc-key beside a title", {"title": "a", "subtitle-loc-key": "S", "subtitle-loc-args": ["c"]}),
    ("a launch-image", {"title": "a", "launch-image": "i.png"}), ("quotes and escapes", {"title": '"\\/\b\f\n\r\t\x01\x7f'}),
    ("emoji", {"body": "👩‍👩‍👧‍👦 ✉️"}), ("line separators", {"body": "a\u2028b\u2029c"}), ("markup", {"title": "<b>&amp;'</b>"}),
)

TIMES: tuple[tuple[str, int, Optional[int]], ...] = (
    ("30 days without the option", AT, None), ("expires after 1 second", AT, 1), ("expires after an hour", AT, 3_600),
    ("expires after 30 days", AT, WINDOW), ("in 1970", 0, 60), ("behind 32 bits", 2**31 + 5, 60), ("behind 33 bits", 2**33 + 7, WINDOW),
    ("the last second", 2**53 - 1 - 60, 60),
)

#: An exposed member, and a value of another type than it has.
REFUSED_VALUES = (
    ("badge", "1.0"), ("badge", "1e0"), ("badge", "9007199254740992"), ("badge", "null"), ("category", "null"),
    ("thread-id", "1"), ("filter-criteria", "{}"), ("target-content-id", "true"), ("content-available", "1.0"), ("content-available", "0"),
    ("content-available", '"1"'), ("interruption-level", '"Active"'), ("interruption-level", '""'), ("relevance-score", '"1"'),
    ("relevance-score", "true"), ("relevance-score", "-1e400"), ("sound", "1"), ("sound", "null"), ("sound", "[]"),
    ("sound", '{"critical":1.0}'), ("sound", '{"critical":2}'), ("sound", '{"name":1}'), ("sound", '{"volume":-0.1}'),
    ("sound", '{"volume":"1"}'), ("sound", '{"name":"a","x":1}'), ("x", "[]"), ("x", "1e400"),
)
REFUSED_PAYLOADS = (
    ("a Live Activity with content-state", '{"aps":{"alert":"x","content-state":{"a":1}}}', MESSAGE),
    ("a Live Activity with an empty content-state", '{"aps":{"alert":"x","content-state":{}}}', MESSAGE),
    ("a Live Activity with attributes", '{"aps":{"alert":"x","attributes":{}}}', MESSAGE),
    ("a Live Activity with attributes-type", '{"aps":{"alert":"x","attributes-type":"A"}}', MESSAGE),
    ("a Live Activity with attributes-type false", '{"aps":{"alert":"x","attributes-type":false}}', MESSAGE),
    ("a Live Activity that starts", '{"aps":{"alert":"x","event":"start"}}', MESSAGE),
    ("a Live Activity that is updated", '{"aps":{"alert":"x","event":"update"}}', MESSAGE),
    ("a Live Activity that ends", '{"aps":{"alert":"x","event":"end"}}', MESSAGE),
    ("a pushcrypt member", '{"aps":{"alert":"x"},"pushcrypt":{}}', MESSAGE),
    ("a pushcrypt member, escaped", '{"aps":{"alert":"x"},"\\u0070ushcrypt":1}', MESSAGE),
    ("a name twice, escaped", '{"aps":{"alert":"x"},"\\u0061ps":{"alert":"y"}}', STRICT),
    ("a name twice, deep inside", '{"aps":{"alert":"x"},"y":[[{"a":{"b":1,"c":2,"b":1}}]]}', STRICT),
    ("a name twice that is empty", '{"aps":{"alert":"x"},"":1,"":1}', STRICT),
    ("a lone low surrogate", '{"aps":{"alert":"x"},"y":"\\ude00"}', STRICT),
    ("two high surrogates", '{"aps":{"alert":"x"},"y":"\\ud83d\\ud83d"}', STRICT),
    ("a lone surrogate in a name", '{"aps":{"alert":"x"},"\\ud800":1}', STRICT),
    ("65 levels of objects", '{"aps":{"alert":"x"},"y":' + '{"a":' * 63 + "{}" + "}" * 64, STRICT),
    ("a comma behind the last member", '{"aps":{"alert":"x"},}', STRICT),
    ("a comma behind the last element", '{"aps":{"alert":"x"},"y":[1,]}', STRICT),
    ("a comment", '{"aps":{"alert":"x"}}/**/', STRICT), ("two values", INNER + INNER, STRICT),
    ("a control character in a string", '{"aps":{"alert":"x\x01"}}', STRICT),
    ("single quotes", "{'aps':{'alert':'x'}}", STRICT), ("a name without quotes", '{aps:{"alert":"x"}}', STRICT),
    ("NaN", '{"aps":{"alert":"x"},"y":NaN}', STRICT), ("Infinity", '{"aps":{"alert":"x"},"y":-Infinity}', STRICT),
    ("a zero before a number", '{"aps":{"alert":"x"},"y":01}', STRICT), ("a plus before a number", '{"aps":{"alert":"x"},"y":+1}', STRICT),
    ("a number without digits", '{"aps":{"alert":"x"},"y":1.}', STRICT), ("True", '{"aps":{"alert":"x"},"y":True}', STRICT),
    ("an unknown escape", '{"aps":{"alert":"\\x41"}}', STRICT),
    ("a no-break space around it", "\u00a0" + INNER, STRICT), ("a form feed around it", INNER + "\f", STRICT),
    ("a string", '"x"', MESSAGE), ("null", "null", MESSAGE), ("aps in capitals", '{"APS":{"alert":"x"}}', MESSAGE),
    ("aps that is null", '{"aps":null}', MESSAGE), ("an alert that is an array", '{"aps":{"alert":["x"]}}', VISIBLE),
    ("an alert that is true", '{"aps":{"alert":true}}', VISIBLE),
    ("an alert with a title that is a number", '{"aps":{"alert":{"title":1}}}', VISIBLE),
    ("an alert in capitals", '{"aps":{"Alert":"x"}}', VISIBLE),
    ("an alert with only a launch-image", '{"aps":{"alert":{"launch-image":"x"}}}', VISIBLE),
    ("an alert with only a subtitle's key", '{"aps":{"alert":{"subtitle-loc-key":"x"}}}', VISIBLE),
    ("16,385 values", '{"aps":{"alert":"x"},"y":[0' + ",0" * 16_380 + "]}", MESSAGE),
    ("a byte order mark", "\ufeff" + INNER, STRICT), ("a text that ends in a string", INNER[:-4], STRICT),
)
WITH_33_NAMES = json.dumps({"aps": {"alert": "x", **{f"m{number}": number for number in range(33)}}})
REFUSED_OPTIONS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("a lifetime of -1 seconds", {"expires": -1}, MESSAGE), ("a limit of -1", {"limit": -1}, PADDING),
    ("33 exposed names", {"payload": WITH_33_NAMES, "expose": [f"m{number}" for number in range(33)]}, EXPOSED),
    ("a limit that is less than the frame", {"limit": 100}, PADDING), ("pad 0", {"pad": 0}, PADDING), ("pad -1", {"pad": -1}, PADDING),
    ("the last second passes 2^53", {"at": 2**53 - 60, "expires": 61}, INTEGERS),
    ("a placeholder without members", {"placeholder": {}}, VISIBLE),
    ("a placeholder of arguments", {"placeholder": {"loc-args": ["x"]}}, VISIBLE),
    ("a placeholder with only a launch-image", {"placeholder": {"launch-image": "x"}}, VISIBLE),
    ("an empty topic", {"topic": ""}, INFO), ("a topic of 156 characters", {"topic": "a" * 156}, INFO),
    ("a topic with a space", {"topic": "com.example app"}, INFO), ("a topic with an underscore", {"topic": "com_example"}, INFO),
    ("a topic with é", {"topic": "com.éxample"}, INFO), ("a topic with a line break", {"topic": "com.example\n"}, INFO),
    ("a topic with a slash", {"topic": "com/example"}, INFO),
)


def add_small(vectors: Vectors, mode: Mode) -> None:
    """What both senders have."""
    def seals(group: str, name: str, rule: str, **options: Any) -> None:
        vectors.add("sender", group, mode, name, rule, **options)

    def refuses(group: str, name: str, rule: str, **options: Any) -> None:
        vectors.add("sender", f"refused {group}", mode, name, rule, True, **options)

    for name, members, names in EXPOSURES:
        seals("exposed members", name, EXPOSED, payload='{"aps":{"alert":"x"%s}}' % (members and "," + members), expose=list(names) or None)
    for name, placeholder in PLACEHOLDERS:
        seals("placeholders", name, OUTER, placeholder=placeholder)
    for name, at, expires in TIMES:
        seals("times", name, MESSAGE, at=at, expires=expires)
    for name, topic in (("of one character", "a"), ("of 155 characters", "a" * 155),
                        ("with capitals, digits, . and -", "Com.Example-1.App")):
        seals("topics", name, INFO, topic=topic)
    record = json.loads(mode.record)
    for name, text in (
        ("in another order", json.dumps(dict(reversed(list(record.items()))))),
        ("without white space", json.dumps(record, separators=(",", ":"))), ("with line breaks", json.dumps(record, indent=2)),
        ("with members that nobody knows", json.dumps({**record, "use": "enc", "more": [{"d": 1}]})),
        ("with escapes", mode.record.replace('"P-256"', '"\\u0050-256"')), ("as a set of one", json.dumps({"keys": [record]})),
    ):
        seals("records", name, RECORDS, to=text)
    for name, payload, rule in REFUSED_PAYLOADS:
        refuses("payloads", name, rule, payload=payload)
    for name, value in REFUSED_VALUES:
        refuses("exposed members", f"{name}: {value}", EXPOSED, payload='{"aps":{"alert":"x","%s":%s}}' % (name, value), expose=[name])
    for name, options, rule in REFUSED_OPTIONS:
        refuses("options", name, rule, **options)
    for name, text, rule in (
        ("a private record", json.dumps(KEYS[mode.key].record()), IMPORTER),
        ("a record with d null", json.dumps({**record, "d": None}), IMPORTER),
        ("a record with priv", json.dumps({**record, "priv": record["x"]}), IMPORTER),
        ("two keys without times", json.dumps({"keys": [record, record]}), SETS),
        ("a key that is another's", json.dumps({**record, "x": record["y"], "y": record["x"]}), IMPORTER),
        ("the crv in lower case", json.dumps({**record, "crv": "p-256"}), RECORDS),
        ("an ECDH key", json.dumps({**record, "alg": "ECDH-ES"}), RECORDS), ("a record in a string", json.dumps(mode.record), RECORDS),
        ("a psk of 16 bytes", json.dumps({**record, "psk": "A" * 22}), RECORDS),
        ("a psk that is empty", json.dumps({**record, "psk": ""}), RECORDS), ("a record with bytes behind it", mode.record + "x", STRICT),
        ("a kid twice", mode.record[:-1] + f', "kid": "{record["kid"]}"}}', STRICT),
        ("a record with a byte order mark", "\ufeff" + mode.record, STRICT),
        ("a sender's key", json.dumps(SENDER.record(private=False)), IMPORTER), ("an empty record", "", STRICT),
    ):
        refuses("records", name, rule, to=text)
    signer = SENDER.record()
    seals("records", "a signer as a set of one", RECORDS, signWith=json.dumps({"keys": [signer]}))
    for name, members in (("a publisher's key", {"role": "publisher"}), ("a role that is unknown", {"role": "sender"}),
                          ("a role that is null", {"role": None}), ("another's public key", {"x": OTHER_SENDER.record()["x"]})):
        refuses("signers", name, IMPORTER, signWith=json.dumps({**signer, **members}))
    refuses("signers", "a key of a recipient", IMPORTER, signWith=json.dumps(KEYS["p256"].record()))


def add_instructions(vectors: Vectors) -> None:
    avatar = {**ATTACHMENT, "use": "avatar"}
    for name, options, rule in (
        ("an attachment", {"attachments": [ATTACHMENT]}, REFERENCES),
        ("eight attachments", {"attachments": [{**ATTACHMENT, "id": f"a{n}"} for n in range(8)]}, REFERENCES),
        ("an offloaded payload", {"offload": REFERENCE}, REFERENCES), ("a self-test", {"selfTest": True}, REFERENCES),
        ("no attachments", {"attachments": []}, REFERENCES), ("one id", {"retract": ids(1)}, INSTRUCTIONS),
        ("16 ids", {"retract": ids(16)}, INSTRUCTIONS), ("quiet", {"quiet": True}, INSTRUCTIONS),
        ("quiet that retracts", {"quiet": True, "retract": ids(1)}, INSTRUCTIONS), ("the badge by -999", {"badgeAdd": -999}, INSTRUCTIONS),
        ("the badge by 0", {"badgeAdd": 0}, INSTRUCTIONS), ("the badge by 999", {"badgeAdd": 999}, INSTRUCTIONS),
        ("all but quiet", {"retract": ids(2), "badgeAdd": 1, "attachments": [avatar]}, INSTRUCTIONS),
        ("an avatar", {"attachments": [avatar]}, INSTRUCTIONS), ("not quiet", {"quiet": False}, INSTRUCTIONS),
    ):
        for mode in (Mode("p256"), Mode("p256 psk", None), Mode("p256", None), Mode("x25519 psk"), Mode("xwing"), Mode("device", None)):
            if mode.name != "p256, unsigned" or rule == REFERENCES:
                payload = '{"aps":{"alert":"x","sound":"s"}}'
                vectors.add("sender-full", "sealed instructions", mode, name, rule, payload=payload, **options)


def add_carriers(vectors: Vectors) -> None:
    for mode in (Mode("p256 psk"), Mode("x25519", None), Mode("xwing psk"), Mode("device")):
        for carrier in ("apns", "rebuilt", "fcm", "text", "expo", "oneSignal"):
            body = {"carrier": carrier, "placeholder": {"body": "New message"}}  # OneSignal's service demands a body.
            for name, options in (("its place", body), ("a limit of its own", {**body, "limit": 4_096, "pad": "max"}),
                                  ("quotes in the placeholder", {**body, "placeholder": {"title": 'a"\\', "body": "é"}})):
                vectors.add("sender-full", "sealed carriers", mode, f"{carrier}: {name}", CARRIERS, **options)
    add_fields(vectors, Mode("p256 psk"))


def add_fields(vectors: Vectors, mode: Mode) -> None:
    """The services of Expo and OneSignal have fields for some texts and some exposed members."""
    values = {"badge": "1", "category": '"c"', "content-available": "1", "interruption-level": '"active"', "relevance-score": "0.5",
              "sound": '"s"', "target-content-id": '"a"', "thread-id": '"t"', "x": "1"}
    without = {"expo": ("relevance-score", "target-content-id", "thread-id", "x"), "oneSignal": ("x",)}
    for carrier, names in without.items():
        for name, value in values.items():
            vectors.add("sender-full", "fields of services", mode, f"{carrier}: exposes {name}", CARRIERS, name in names, carrier=carrier,
                        placeholder={"body": "x"}, payload='{"aps":{"alert":"x","%s":%s}}' % (name, value), expose=[name])
        for name, placeholder, is_refused in (
            ("a title alone", {"title": "x"}, carrier == "oneSignal"),
            ("title, subtitle and body", {"title": "a", "subtitle": "b", "body": "c"}, False),
            ("a loc-key", {"loc-key": "K"}, True), ("a title-loc-key", {"title-loc-key": "K", "body": "x"}, True),
            ("a subtitle's key", {"subtitle-loc-key": "K", "body": "x"}, True),
            ("a launch-image", {"launch-image": "i", "body": "x"}, True),
        ):
            vectors.add("sender-full", "fields of services", mode, f"{carrier}: a placeholder with {name}", CARRIERS, is_refused,
                        carrier=carrier, placeholder=placeholder)
        vectors.add("sender-full", "fields of services", mode, f"{carrier}: exposes an object of sound", CARRIERS, True, carrier=carrier,
                    placeholder={"body": "x"}, payload='{"aps":{"alert":"x","sound":{"name":"a"}}}', expose=["sound"])


# --- Sets --------------------------------------------------------------------------------------------------------------------


Times = dict[str, Any]


def published(*keys: tuple[Key, Times], private: bool = False) -> str:
    """A set of keys with their times, in Unix seconds."""
    times = {key.kid: {name: time_text(value) if type(value) is int else value for name, value in lives.items()} for key, lives in keys}
    return json.dumps({"keys": [key.record(private=private) for key, _ in keys], "pushcrypt": {"seq": 1, "keys": times}})


OLD, NEW, ALWAYS = KEYS["p256"], KEYS["other p256"], {"activatesAt": 0}
NAMES = {OLD.kid: "p256", NEW.kid: "other p256"}


def add_chosen(vectors: Vectors) -> None:
    """Sets from which the sender chooses a key by time, to seal to and to sign with."""
    greater = max(OLD, NEW, key=lambda key: key.kid)
    table: tuple[tuple[str, tuple[tuple[Key, Times], ...], Key], ...] = (
        ("the only key", ((OLD, ALWAYS),), OLD),
        ("the key before it retires", ((OLD, {**ALWAYS, "retiresAt": AT + 1}), (NEW, {"activatesAt": AT + 1})), OLD),
        ("the key that activates now", ((OLD, {**ALWAYS, "retiresAt": AT}), (NEW, {"activatesAt": AT})), NEW),
        ("the later of two that seal", ((OLD, {"activatesAt": 5}), (NEW, {"activatesAt": 6})), NEW),
        ("the later createdAt of two", ((OLD, {"activatesAt": 6, "createdAt": 2}), (NEW, {"activatesAt": 6, "createdAt": 1})), OLD),
        ("the one with a createdAt", ((OLD, {"activatesAt": 6}), (NEW, {"activatesAt": 6, "createdAt": 1})), NEW),
        ("the other one with a createdAt", ((OLD, {"activatesAt": 6, "createdAt": 1}), (NEW, {"activatesAt": 6})), OLD),
        ("the one that hasn't expired", ((OLD, ALWAYS), (NEW, {"activatesAt": 6, "expiresAt": AT})), OLD),
        ("the greater kid of two", ((OLD, {"activatesAt": 6}), (NEW, {"activatesAt": 6})), greater),
        ("the older one, as the newer is revoked", ((OLD, ALWAYS), (NEW, {"activatesAt": 6, "revokedAt": AT - 1})), OLD),
        ("the newer one, before it is revoked", ((OLD, ALWAYS), (NEW, {"activatesAt": 6, "revokedAt": AT + 1})), NEW),
        ("the older one, as the newer is destroyed", ((OLD, ALWAYS), (NEW, {"activatesAt": 6, "destroyedAt": AT + 9})), OLD),
    )
    for name, keys, chosen in table:
        vectors.add("sender-full", "chosen keys", Mode("p256"), f"sealed to {name}", LIFECYCLE, key=NAMES[chosen.kid], to=published(*keys))
    for name, signers, signer in (
        ("the sender before it retires", ((SENDER, {**ALWAYS, "retiresAt": AT + 1}), (OTHER_SENDER, {"activatesAt": AT + 1})), "sender"),
        ("the sender that activates now", ((SENDER, {**ALWAYS, "retiresAt": AT}), (OTHER_SENDER, {"activatesAt": AT})), "other sender"),
        ("the older sender, as the newer is revoked", ((SENDER, ALWAYS), (OTHER_SENDER, {"activatesAt": 6, "revokedAt": AT})), "sender"),
    ):
        vectors.add("sender-full", "chosen keys", Mode("p256 psk"), f"signed with {name}", LIFECYCLE, signer=signer,
                    signWith=published(*signers, private=True))


def add_full(vectors: Vectors) -> None:
    """Options, sets and signers that only the level sender-full has."""
    def refuses(name: str, rule: str, mode: Mode = Mode("p256 psk"), **options: Any) -> None:
        vectors.add("sender-full", "refused by sender-full", mode, name, rule, True, **options)

    shared = Mode("shared")
    refuses("a bare shared key", DEVICE_KEYS, shared, bare=None)
    refuses("a bare shared key, and bare is false", DEVICE_KEYS, shared, bare=False)
    for name, device in (("an empty device id", ""), ("a device id of 65 characters", "a" * 65), ("a device id with a dot", "a.b")):
        refuses(name, DEVICE_KEYS, shared, bare=None, device=device)
    avatar = {**ATTACHMENT, "use": "avatar"}
    for name, options, rule in (
        ("a carrier that is unknown", {"carrier": "fax"}, CARRIERS), ("an empty id to retract", {"retract": [""]}, INSTRUCTIONS),
        ("an id to retract with trailing bits", {"retract": ["A" * 21 + "B"]}, BASE64URL),
        ("the badge by 1,000", {"badgeAdd": 1_000}, INSTRUCTIONS), ("the badge by -1,000", {"badgeAdd": -1_000}, INSTRUCTIONS),
        ("quiet with an attachment", {"quiet": True, "attachments": [ATTACHMENT]}, INSTRUCTIONS),
        ("quiet with an offloaded payload", {"quiet": True, "offload": REFERENCE}, INSTRUCTIONS),
        ("nine attachments", {"attachments": [ATTACHMENT] * 9}, REFERENCES), ("two avatars", {"attachments": [avatar] * 2}, REFERENCES),
        ("two attachments of one id", {"attachments": [{**ATTACHMENT, "id": "a"}] * 2}, REFERENCES),
        ("a minimum suite of 0", {"minimumSuite": 0}, RANK), ("a minimum suite of 5", {"minimumSuite": 5}, RANK),
        ("a lower suite than the minimum", {"minimumSuite": 3}, RANK),
    ):
        refuses(name, rule, **options)
    refuses("a badge with an increment, null", INSTRUCTIONS, payload='{"aps":{"alert":"x","badge":null}}', badgeAdd=1)
    for name, options in (("an id to retract", {"retract": ids(1)}), ("quiet", {"quiet": True}), ("the badge by 0", {"badgeAdd": 0})):
        refuses(f"{name}, without proof", INSTRUCTIONS, Mode("p256", None), **options)
    for name, to, rule in refused_sets():
        refuses(name, rule, to=to)
    for name, times in (("revoked", {**ALWAYS, "revokedAt": AT}), ("retired", {**ALWAYS, "retiresAt": AT}),
                        ("not active yet", {"activatesAt": AT + 1})):
        refuses(f"a signer that is {name}", LIFECYCLE, signWith=published((SENDER, times), private=True))
    refuses("a signer of a public set", SETS, signWith=published((SENDER, ALWAYS)))
    refuses("a signer of a set of recipients", SETS, signWith=published((OLD, ALWAYS), private=True))


def refused_sets() -> Iterator[tuple[str, str, str]]:
    text, both = published((OLD, ALWAYS)), published((OLD, ALWAYS), (NEW, ALWAYS))
    yield "a set whose key is revoked", published((OLD, {**ALWAYS, "revokedAt": AT})), LIFECYCLE
    yield "a set whose key has retired", published((OLD, {**ALWAYS, "retiresAt": AT})), LIFECYCLE
    yield "a set whose key has expired", published((OLD, {**ALWAYS, "expiresAt": AT})), LIFECYCLE
    yield "a set whose key is destroyed", published((OLD, {**ALWAYS, "destroyedAt": AT + DAY})), LIFECYCLE
    yield "a set whose key activates in a second", published((OLD, {"activatesAt": AT + 1})), LIFECYCLE
    yield "a set whose key has no activatesAt", published((OLD, {})), SETS
    yield "a set that demands a psk", published((OLD, {**ALWAYS, "psk": True})), SETS
    yield "a set with a private key", published((OLD, ALWAYS), private=True), IMPORTER
    yield "a set whose newest key ranks lower", published((KEYS["xwing"], ALWAYS), (OLD, {"activatesAt": 5})), RANK
    yield "a set of senders", published((SENDER, ALWAYS)), SETS
    yield "a set with a key twice", published((OLD, ALWAYS), (OLD, ALWAYS)), SETS
    yield "a set without seq", text.replace('"seq": 1, ', ""), SETS
    yield "a set with seq -1", text.replace('"seq": 1', '"seq": -1'), SETS
    yield "a set with seq twice", text.replace('"seq": 1', '"seq": 1, "seq": 1'), STRICT
    yield "a set without the times of a key", both.replace(f', "{NEW.kid}": {{"activatesAt": "1970-01-01T00:00:00Z"}}', ""), SETS
    yield "a set with activatesAt null", published((OLD, {"activatesAt": None})), SETS
    yield "a set with activatesAt without an offset", text.replace("00Z", "00"), SETS
    yield "a set with psk false", published((OLD, {**ALWAYS, "psk": False})), SETS
    yield "a set without keys", '{"keys": [], "pushcrypt": {"seq": 1, "keys": {}}}', SETS


def main() -> None:
    vectors = Vectors()
    for mode in EVERY:
        for name, payload in PAYLOADS:
            if mode in SMALL or name in SOME:
                rule = VISIBLE if "visible" in name else STRICT if name == "64 levels" else MESSAGE
                level = "sender" if mode in SMALL else "sender-full"
                vectors.add(level, "sealed payloads", mode, name, rule, payload=payload)
    for name, payload in PAYLOADS[:4]:
        if name in SOME:
            vectors.add("sender-full", "sealed for a device", Mode("shared"), name, DEVICE_KEYS, key="device", payload=payload, bare=None,
                        device=DEVICE)
    for mode in SMALL:
        add_small(vectors, mode)
    for add in (add_carriers, add_instructions, add_chosen, add_full):
        add(vectors)
    annotate.printed("sealing-v1", {"vectors": vectors.found}, ensure_ascii=False)


if __name__ == "__main__":
    main()
