"""The refused files of make_keyset_log.py: each has one fault, and a right last row where the fault is in a line."""
from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
from typing import Any, Callable, Iterable

from keyset_logs import (
    A, B, C, ENCRYPTED, ID, KEYS, M, N, NEXT_ID, OVER, P, PASSPHRASE, POLICY, PUBLICATION, PUBLISHER, PUBLISHER_ID, R, S,
    SECRETS, X, Lines, Vectors, added, b64, created, day, fixed, life, line, public, records, sealed, support, unb64,
)
from pushcrypt._keys import Key, key_id
from pushcrypt.keysets import MOMENTS

VALUES: dict[str, Any] = {"null": None, "true": True, "a number": 1, "a string": "x", "an array": [], "an object": {}}
NO_TIMES = {"without an offset": "2026-03-02T09:00:00", "that is a date": "2026-03-02", "on 29 February": "2026-02-29T09:00:00Z",
            "with a space": "2026-03-02 09:00:00Z", "at 24:00": "2026-03-02T24:00:00Z", "empty": ""}
NO_TEXTS = {"empty": "", "of 257 bytes": "\u00e9" * 128 + "x", "with a line feed": "a\nb", "with U+0000": "\0",
            "with U+007F": "a\x7f", "with U+0085": "\x85"}
NO_NUMBERS = {"0": 0, "negative": -1, "of 2^52 + 1": 2**52 + 1, "a fraction": 1.5, "with a fraction of zero": 1.0}
NO_EPOCHS = {"negative": -1, "of 2^53": 2**53, "a fraction": 1.5}
NO_DURATIONS = {"without a unit": "P90", "of months": "P3M", "of a year": "P1Y", "negative": "-P90D", "without P": "90D",
                "empty": "", "without a number": "PD", "of P alone": "P", "ending with T": "P90DT", "with a fraction": "P1.5D",
                "of minutes before hours": "PT1M1H", "over 100 years": "P200000D"}
NO_NAMES = {"empty": "", "of 65 characters": "n" * 65, "with a space": "a b", "with a slash": "a/b", "with an accent": "\u00e9",
            "with a line feed": "a\n"}
PLAIN = [created(secrets=["a"], writer="host"), line("moved", day(2), writer="b", why="x", r=R),
         line("restored", day(3), over=[OVER], issuedAt=day(3))]
KEYED = [created(keys={A.kid: added(A)}), line("rotated", day(2), keys={A.kid: {"retiresAt": day(9)}})]
SIGNED = [created("sender", publication=PUBLICATION, epochs={"1": PUBLISHER_ID}),
          line("published", day(2), issuedAt=day(2), epoch=1, validUntil=day(20), publisher=PUBLISHER)]


def at(members: Any, path: str) -> Any:
    """The value at a path, whose parts are separated by spaces."""
    for part in path.split():
        members = members[int(part) if isinstance(members, list) else part]
    return members


def changed(members: Any, path: str, value: Any) -> Any:
    """With another value at `path`; `...` takes the member out."""
    result = copy.deepcopy(members)
    *parents, name = path.split()
    parent = at(result, " ".join(parents))
    parent[name] = value
    if value is ... and parents:
        del parent[name]
    return result


def without(members: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in members.items() if name not in names}


def flipped(data: bytes) -> Iterable[tuple[str, bytes]]:
    """A bit at the start and one at the end."""
    return (("at its start", bytes([data[0] ^ 1]) + data[1:]), ("at its end", data[:-1] + bytes([data[-1] ^ 1])))


class Refusals:
    """Changes one thing of a log that is accepted, and chains its lines again."""

    def __init__(self, vectors: Vectors, lines: Lines, *keys: Key) -> None:
        self.vectors, self.lines, self.keys = vectors, lines, keys
        vectors.check(lines, *keys)

    def change(self, name: str, row: int, path: str, value: Any, code: str = "malformed") -> None:
        lines = list(self.lines)
        lines[row - 1] = changed(lines[row - 1], path, value)
        self.vectors.wrong(name, code, row, lines, *self.keys)

    def types(self, row: int, path: str, name: str, *right: str) -> None:
        """Another type at `path`. `right` are the types that aren't wrong."""
        for what, value in VALUES.items():
            if what not in right:
                self.change(f"{name} is {what}", row, path, value)

    def values(self, row: int, path: str, name: str, values: dict[str, Any], code: str = "malformed") -> None:
        for what, value in values.items():
            self.change(f"{name} {what}", row, path, value, code)

    def bytes(self, row: int, path: str, name: str, value: str) -> None:
        """base64url of another length or form."""
        data = unb64(value)
        self.values(row, path, name, {
            f"of {len(data) - 1} bytes": b64(data[:-1]), f"of {len(data) + 1} bytes": b64(data + b"\0"), "empty": "",
            "padded": value + "=" * (-len(value) % 4), "with trailing bits": b64(bytes(len(data)))[:-1] + "B",
            "in base64's alphabet": "+" + value[1:], "with a space": " " + value})

    def missing(self, row: int, *paths: str) -> None:
        for path in paths:
            self.change(f"{path} is missing", row, path, ...)


# --- Lines ---------------------------------------------------------------------------------------------------------------

TEXTS: dict[str, Callable[[bytes, bytes], bytes]] = {  # of a row, and the name of one of its members
    "a space behind a colon": lambda row, name: row.replace(name + b":", name + b": "),
    "a space behind a comma": lambda row, name: row.replace(b"," + name, b", " + name),
    "a tab in front": lambda row, _: b"\t" + row, "a space at its end": lambda row, _: row + b" ",
    "CR LF at its end": lambda row, _: row + b"\r", "a byte order mark": lambda row, _: b"\xef\xbb\xbf" + row,
    "a member twice": lambda row, name: row.replace(name, name + b':"x",' + name),
    "a name twice, once with an escape": lambda row, name: row[:-1] + b',"\\u00%x' % name[1] + name[2:] + b":1}",
    "a lone surrogate": lambda row, _: row[:-1] + b',"x":"\\ud800"}', "a comma too many": lambda row, _: row[:-1] + b",}",
    "another value behind it": lambda row, _: row + b"{}", "an array around it": lambda row, _: b"[" + row + b"]",
    "a string in its place": lambda row, _: b'"x"', "an unknown member": lambda row, _: row[:-1] + b',"more":1}',
    "65 levels": lambda row, _: row[:-1] + b',"more":' + b"[" * 64 + b"]" * 64 + b"}",
}


def add_files(vectors: Vectors) -> None:
    """The whole file, and the text of rows."""
    rows = support.chained(PLAIN)
    last = support.plain_row(rows, [])
    text = rows + last
    for name, whole in (("the file is empty", b""), ("the LF at the end is missing", text[:-1]),
                        ("the last row is cut", text[:-20]), ("the last row is missing", rows), ("a line is cut", rows[:-20]),
                        ("the last row is alone", support.plain_row(b"", []))):
        vectors.refuse(name, "incomplete", 0, whole)
    vectors.refuse("there are two last rows", "malformed", 4, text + last)
    vectors.refuse("a row is empty", "malformed", 2, text.replace(b"\n", b"\n\n", 1))
    for what, change in TEXTS.items():
        vectors.wrong(f"line 1 has {what}", "malformed", 1, [(PLAIN[0], lambda row: change(row, b'"what"')), *PLAIN[1:]])
        vectors.refuse(f"the last row has {what}", "malformed", 4, rows + change(last[:-1], b'"digest"') + b"\n")


def add_order(vectors: Vectors) -> None:
    """n, prev, at and issuedAt."""
    base = Refusals(vectors, PLAIN)
    for row in (1, 2, 3):
        base.values(row, "n", f"n of line {row}", NO_NUMBERS)
    base.values(1, "n", "n of line 1", {"is 2": 2, "is 2^52": 2**52}, "wrongNumber")
    base.values(2, "n", "n of line 2", {"is that of line 1": 1, "is 3": 3}, "wrongNumber")
    base.values(3, "n", "n of a restored line", {"is that of the line before": 2, "is 1": 1}, "wrongNumber")
    jumped = [created(), {**PLAIN[2], "n": 50}, line("moved", day(4), writer="b")]
    Refusals(vectors, jumped).values(3, "n", "n of the line after a restored one", {
        "is higher than the next": 52, "is that of its row": 3, "is that of the restored one": 50}, "wrongNumber")
    base.bytes(2, "prev", "prev", b64(fixed("prev", 32)))
    for row in (1, 2, 3):
        base.change(f"prev of line {row} is another", row, "prev", b64(fixed("prev", 32)), "brokenChain")
    base.change("prev of line 2 is zero", 2, "prev", b64(bytes(32)), "brokenChain")
    for row in (1, 2):
        lines = support.chained(PLAIN).split(b"\n")
        lines[row - 1] = lines[row - 1].replace(b"alice", b"malice")
        vectors.finish(f"who of line {row} is changed, and the lines aren't chained again", "brokenChain", row + 1, lines)
    # A restored line has any higher number, so only prev is wrong here.
    lines = support.chained(PLAIN).split(b"\n")
    vectors.finish("the line before a restored one is missing", "brokenChain", 2, [lines[0], *lines[2:]])
    base.change("at goes back by a second", 2, "at", "2026-03-01T08:59:59Z", "timeWentBack")
    base.change("at of a restored line goes back", 3, "at", day(2, "08:59:59Z"), "timeWentBack")
    base.change("at goes back because of its offset", 2, "at", day(1, "10:00:00+02:00"), "timeWentBack")
    vectors.wrong("at is before that of a line clockCorrected", "timeWentBack", 3, [
        created(), line("clockCorrected", "2026-01-01T00:00:00Z"), line("moved", "2025-12-31T23:59:59Z", writer="b")])
    for what in ("published", "restored"):
        vectors.wrong(f"issuedAt of a line {what} goes back", "timeWentBack", 3, [
            created(), line("published", day(2), issuedAt=day(2)), line(what, day(3), issuedAt=day(2, "08:59:59Z"))])
    vectors.wrong("issuedAt is before that of a restored line", "timeWentBack", 3, [
        created(), line("restored", day(2), issuedAt=day(20)), line("published", day(3), issuedAt=day(19))])


def add_forms(vectors: Vectors) -> None:
    """Every member of a line: missing, another type, out of range."""
    base, signed = Refusals(vectors, PLAIN), Refusals(vectors, SIGNED)
    base.missing(2, "n", "at", "who", "what", "prev", "why", "r")
    base.missing(1, "id", "kind")
    for row, path, *right in (
        (2, "n", "a number"), (2, "at"), (2, "who", "a string"), (2, "what"), (2, "prev"), (2, "why", "a string"), (2, "r"),
        (2, "keys", "an object"), (2, "policy"), (1, "id"), (1, "kind"), (1, "secrets", "an array"), (1, "writer", "a string"),
        (3, "over"), (3, "issuedAt"),
    ):
        base.types(row, path, path, *right)
    for row, path, *right in ((1, "publication"), (1, "epochs", "an object"), (2, "validUntil"), (2, "epoch", "a number"),
                              (2, "publisher")):
        signed.types(row, path, path, *right)
    base.values(2, "at", "at", NO_TIMES)
    base.values(3, "issuedAt", "issuedAt", NO_TIMES)
    for row, path in ((2, "who"), (2, "why"), (1, "writer")):
        base.values(row, path, path, NO_TEXTS)
    base.values(2, "what", "what", {"unknown": "added", "empty": "", "in capitals": "Rotated"})
    base.values(1, "kind", "kind", {"unknown": "device", "empty": "", "in capitals": "Recipient"})
    base.bytes(1, "id", "id", ID)
    base.change("id begins with a hyphen", 1, "id", b64(b"\xf8" + bytes(15)))
    base.bytes(2, "r", "r", R)
    base.change("there are nine secrets", 1, "secrets", list("abcdefghi"))
    base.change("secrets have a name twice", 1, "secrets", ["a", "b", "a"])
    base.values(1, "secrets", "a name in secrets", {what: [name] for what, name in {**NO_NAMES, "that is a number": 1}.items()})
    for what, points in (("null", [None]), ("a string", ["x"]), ("a point and a number", [OVER, 1])):
        base.change(f"over has {what}", 3, "over", points)
    for member in ("n", "hash"):
        base.change(f"{member} of a point in over is missing", 3, "over", [without(OVER, member)])
    base.change("a point in over has an unknown member", 3, "over", [{**OVER, "id": ID}])
    base.values(3, "over", "n of a point in over", {what: [{**OVER, "n": value}] for what, value in NO_NUMBERS.items()})
    base.values(3, "over", "hash of a point in over", {what: [{**OVER, "hash": value}] for what, value in (
        ("that is null", None), ("of 31 bytes", b64(bytes(31))), ("padded", OVER["hash"] + "="))})


def add_policies(vectors: Vectors) -> None:
    """Policies and publications."""
    base = Refusals(vectors, [created(policy={**POLICY, "requireCoverage": 90})])
    base.missing(1, *(f"policy {name}" for name in POLICY))
    base.change("policy has an unknown member", 1, "policy more", 1)
    for name in ("rotateEvery", "publishLead", "overlap"):
        base.types(1, f"policy {name}", name, "true", "an array", "an object")
    base.values(1, "policy overlap", "a duration", NO_DURATIONS)
    base.change("rotateEvery is publishLead in another unit", 1, "policy publishLead", "PT2160H")
    base.change("rotateEvery is shorter than publishLead", 1, "policy publishLead", "P91D")
    base.types(1, "policy keep", "keep", "a number")
    base.values(1, "policy keep", "keep", {"0": 0, "101": 101, "a fraction": 3.5, "negative": -1})
    base.types(1, "policy requireCoverage", "requireCoverage", "a number")
    base.values(1, "policy requireCoverage", "requireCoverage", {
        "negative": -1, "101": 101, "just above 100": 100.001, "with four decimals": 99.1234})
    signed = Refusals(vectors, SIGNED)
    signed.missing(1, "publication topics", "publication validFor")
    signed.change("publication has an unknown member", 1, "publication epoch", 1)
    signed.types(1, "publication validFor", "validFor")
    signed.types(1, "publication topics", "topics", "true", "a number")
    signed.values(1, "publication topics", "topics", {
        "of 17": [f"a{number}" for number in range(17)], "with one twice": ["a", "b", "a"], "with an empty one": [""],
        "with a number": [1], "with one of 156 characters": ["a" * 156], "with one that has a space": ["a b"],
        "with one that has an underscore": ["a_b"]})


def add_epochs(vectors: Vectors) -> None:
    """Epochs, and lines published."""
    signed = Refusals(vectors, SIGNED)
    signed.values(1, "epochs", "the name of an epoch", {
        what: {"1": PUBLISHER_ID, name: NEXT_ID} for what, name in (
            ("that is empty", ""), ("that is negative", "-1"), ("that is a word", "one"), ("with a leading zero", "02"),
            ("with a plus", "+2"), ("of 2^53", "9007199254740992"), ("with a fraction", "2.0"), ("with a space", " 2"),
            ("in Arabic digits", "\u0662"))})
    signed.values(1, "epochs", "the keyset of an epoch", {
        what: {"1": PUBLISHER_ID, "2": value} for what, value in (
            ("that is a number", 1), ("that is true", True), ("that is empty", ""), ("of 15 bytes", b64(bytes(15))),
            ("of 17 bytes", b64(bytes(17))), ("that is an object", {"id": ID}))})
    signed.values(2, "epoch", "epoch", NO_EPOCHS)
    signed.values(2, "epoch", "epoch", {"2, which is unknown": 2, "0, which is unknown": 0}, "unknownEpoch")
    ended = line("policy", day(2), epochs={"1": None})
    vectors.wrong("the epoch has ended before", "unknownEpoch", 3, [SIGNED[0], ended, SIGNED[1]])
    vectors.wrong("the epoch ends in the line that publishes it", "unknownEpoch", 2, [SIGNED[0], {**SIGNED[1], "epochs": {"1": None}}])
    vectors.wrong("the epoch begins in a later line", "unknownEpoch", 2, [
        created("sender"), SIGNED[1], line("policy", day(3), epochs={"1": PUBLISHER_ID})])
    vectors.wrong("a signed set in a keyset for recipients", "unknownEpoch", 2, [created(), SIGNED[1]])
    signed.missing(2, "issuedAt", "validUntil")
    for what, names in (("validUntil without epoch", ("epoch", "publisher")),
                        ("publisher without epoch and validUntil", ("epoch", "validUntil"))):
        vectors.wrong(what, "malformed", 2, [SIGNED[0], without(SIGNED[1], *names)])
    signed.values(2, "validUntil", "validUntil", NO_TIMES)
    signed.values(2, "validUntil", "validUntil", {
        "that is issuedAt": day(2), "before issuedAt": day(1), "90 days and a second later": "2026-05-31T09:00:01Z"})
    signed.missing(2, "publisher id", "publisher n", "publisher hash")
    signed.change("publisher has an unknown member", 2, "publisher at", day(1))
    signed.values(2, "publisher n", "n of publisher", {**NO_NUMBERS, "that is null": None, "that is a string": "1"})
    for name, size in (("id", 16), ("hash", 32)):
        signed.values(2, f"publisher {name}", f"{name} of publisher", {
            "that is null": None, f"of {size - 1} bytes": b64(bytes(size - 1)), f"of {size + 1} bytes": b64(bytes(size + 1)),
            "padded": b64(bytes(size)) + "="})


def add_places(vectors: Vectors) -> None:
    """Actions and members in lines and keysets that can't have them."""
    def add(name: str, row: int, *lines: dict[str, Any]) -> None:
        vectors.wrong(name, "misplaced", row, list(lines))

    for what in ("rotated", "imported", "moved", "restored", "clockCorrected"):
        add(f"line 1 is {what}", 1, {**created(), "what": what})
    add("line 2 is created", 2, created(), line("created", day(2), id=ID, kind="recipient"))
    add("line 2 is created, without id and kind", 2, created(), line("created", day(2)))
    add("line 2 has id", 2, created(), line("moved", day(2), id=ID))
    add("line 2 has kind", 2, created(), line("moved", day(2), kind="recipient"))
    sender = created("sender", epochs={"1": PUBLISHER_ID})
    values = {"issuedAt": day(3), "epoch": 1, "validUntil": day(20), "publisher": PUBLISHER, "over": [OVER]}
    others = {"issuedAt": ("rotated", "policy", "clockCorrected"), "epoch": ("rotated", "restored"),
              "validUntil": ("policy", "restored"), "publisher": ("moved", "restored"), "over": ("published", "clockCorrected")}
    for name, actions in others.items():
        for what in actions:
            issued = {"issuedAt": day(3)} if what in ("published", "restored") else {}
            add(f"a line {what} has {name}", 2, sender, line(what, day(3), **issued, **{name: values[name]}))
    add("line 1 has issuedAt", 1, created(issuedAt=day(1)))
    add("line 1 has over", 1, created(over=[OVER]))
    for kind in ("recipient", "shared", "publisher"):
        add(f"a keyset of kind {kind} has publication", 1, created(kind, publication=PUBLICATION))
        add(f"a keyset of kind {kind} has epochs", 1, created(kind, epochs={"1": PUBLISHER_ID}))
    add("a keyset of kind publisher has a policy", 1, created("publisher", policy=POLICY))
    add("a later line gives a keyset of kind publisher a policy", 2, created("publisher"), line("policy", day(2), policy=POLICY))


def add_key_changes(vectors: Vectors) -> None:
    """What a line says of a key, beside its jwk."""
    for what, kid in (("of 7 bytes", b64(bytes(7))), ("of 9 bytes", b64(bytes(9))), ("empty", ""), ("padded", M.kid + "="),
                      ("with trailing bits", b64(bytes(8))[:-1] + "B"), ("in base64's alphabet", "+" + M.kid[1:])):
        vectors.wrong(f"a kid {what}", "malformed", 1, [created("shared", keys={kid: {}})])
    base, psk = Refusals(vectors, KEYED, A), Refusals(vectors, [created(keys={B.kid: added(B)})], B)
    base.types(2, f"keys {A.kid}", "the change of a key", "an object")
    base.change("the change of a key has an unknown member", 2, f"keys {A.kid} suite", "x25519")
    for moment in MOMENTS:
        base.values(2, f"keys {A.kid} {moment}", moment, {
            **(NO_TIMES if moment in MOMENTS[2::3] else {"without an offset": "2026-03-02T09:00:00"}),
            "that is a number": 1, "that is true": True})
    for moment, key in (("revokedAt", (A,)), ("destroyedAt", ())):
        vectors.wrong(f"{moment}, which is set already, isn't a time", "malformed", 2, [
            created(keys={A.kid: added(A, **{moment: day(1)})}), line("rotated", day(2), keys={A.kid: {moment: "now"}})], *key)
    base.types(2, f"keys {A.kid} lost", "lost", "null", "true")
    base.change("lost is false", 2, f"keys {A.kid} lost", False)
    psk.types(1, f"keys {B.kid} psk", "psk", "true")
    psk.change("psk is false", 1, f"keys {B.kid} psk", False)
    psk.types(1, f"keys {B.kid} jwk", "jwk", "an object")
    vectors.wrong("a key is named for the first time without its jwk", "misplaced", 2, [
        created(), line("rotated", day(2), keys={C.kid: {"activatesAt": day(2)}})], C)
    later = lambda kid, change: line("rotated", day(2), keys={kid: change})
    vectors.wrong("a later line repeats the jwk", "misplaced", 2, [KEYED[0], later(A.kid, {"jwk": public(A)})], A)
    vectors.wrong("a later line repeats psk", "misplaced", 2, [created(keys={B.kid: added(B)}), later(B.kid, {"psk": True})], B)
    vectors.wrong("a later line adds psk", "misplaced", 2, [KEYED[0], later(A.kid, {"psk": True})], A)
    vectors.wrong("a destroyed key is added again", "misplaced", 2, [
        created(keys={A.kid: added(A, destroyedAt=day(1))}), later(A.kid, {"jwk": public(A)})])


def add_jwks(vectors: Vectors) -> None:
    """The jwk of a key's first line."""
    def add(name: str, code: str, kind: str, kid: str, change: dict[str, Any], *keys: Key) -> None:
        vectors.wrong(name, code, 1, [created(kind, keys={kid: change})], *keys)

    for name, kind, key, lost in (("x25519", "recipient", A, {}), ("p256", "recipient", B, {}), ("ed25519", "sender", S, {}),
                                  ("xwing", "recipient", X, {"lost": True}), ("a publisher", "publisher", P, {})):
        jwk, private = public(key), dataclasses.replace(key, psk=None).record()
        cases: list[tuple[str, str, dict[str, Any]]] = [
            *((f"without {member}", "malformed", without(jwk, member)) for member in jwk if member != "role"),
            ("with an unknown member", "malformed", {**jwk, "use": "enc"}),
            ("with a psk", "malformed", {**jwk, "psk": b64(bytes(32))}), ("with its private key", "malformed", private),
            ("with device", "malformed", {**jwk, "device": "a"}), ("with an unknown kty", "malformed", {**jwk, "kty": "RSA"}),
            ("with another alg", "malformed", {**jwk, "alg": "HPKE-0"}),
            ("with another kid", "kidMismatch", {**jwk, "kid": "AAAAAAAAAAA"})]
        for what, code, other in cases:
            add(f"the jwk of {name} {what}", code, kind, key.kid, {"jwk": other, **lost}, *(() if lost else (key,)))
    off = bytes(C.public[:-1]) + bytes([C.public[-1] ^ 1])
    for name, kind, point in (("p256 off the curve", "p256", off), ("ed25519 of small order", "ed25519", bytes(32)),
                              ("x25519 of small order", "x25519", bytes(32))):
        wrong = Key(kind, key_id(kind, point), point)
        add(f"a jwk of {name}", "malformed", "sender" if kind == "ed25519" else "recipient", wrong.kid, {"jwk": wrong.record()})
    add("a kid is that of another key", "kidMismatch", "recipient", C.kid, {"jwk": public(A)}, A)
    for name, kind, key in (("a sender key in a keyset for recipients", "recipient", S),
                            ("a publisher key in a keyset for recipients", "recipient", P),
                            ("a recipient key in a keyset of a sender", "sender", A),
                            ("a publisher key in a keyset of a sender", "sender", P),
                            ("a sender key in a keyset of a publisher", "publisher", S)):
        add(name, "wrongKind", kind, key.kid, {"jwk": public(key)}, key)
    add("a shared key's jwk in a keyset for recipients", "wrongKind", "recipient", M.kid, {"jwk": M.record()}, M)
    add("a jwk in a keyset of shared keys", "misplaced", "shared", A.kid, {"jwk": public(A)}, A)
    add("a shared key's own jwk in its log", "misplaced", "shared", M.kid, {"jwk": M.record()}, M)
    add("psk in a keyset of kind sender", "misplaced", "sender", S.kid, {"jwk": public(S), "psk": True}, S)
    add("psk in a keyset of kind publisher", "misplaced", "publisher", P.kid, {"jwk": public(P), "psk": True}, P)
    add("psk in a keyset of kind shared", "misplaced", "shared", M.kid, {"psk": True}, M)


# --- Last rows -----------------------------------------------------------------------------------------------------------


def add_material(vectors: Vectors) -> None:
    """Private keys that aren't those of the log, in clear."""
    lost, (a, b) = KEYS["other p256"], records(A, B)
    rows = support.chained([created(keys={
        A.kid: added(A), B.kid: added(B), C.kid: added(C, destroyedAt=day(1)), lost.kid: added(lost, lost=True)})])
    vectors.accept("a destroyed key, a lost key and two others", rows, support.plain_row(rows, [a, b]), {"at": day(1), "keys": {
        A.kid: life("x25519"), B.kid: life("p256", psk=True), C.kid: life("p256", destroyedAt=day(1)),
        lost.kid: life("p256", lost=True)}})

    def add(name: str, *keys: Any, code: str = "otherKeys") -> None:
        vectors.refuse(name, code, 2, rows + support.plain_row(rows, keys))

    other = KEYS["other x25519"].record()
    add("the material of a key is missing", a)
    add("there is no material")
    add("the material of a key is there twice", a, b, a)
    add("there is material of a destroyed key", a, b, C.record())
    add("there is material of a lost key", a, b, lost.record())
    add("there is material of a key that the log doesn't have", a, b, other)
    add("there is another key in the place of one", b, other)
    add("there is a sender key in the place of a key", b, S.record())
    add("the material is public only", without(a, "d"), b)
    add("the private key is that of another key", {**a, "d": other["d"]}, b)
    add("the public key is that of another key", {**a, "x": other["x"]}, b)
    add("the psk is missing", a, without(b, "psk"))
    add("there is a psk that the log doesn't have", {**a, "psk": b64(bytes(32))}, b)
    for what, value in (("null", None), ("a string", "x"), ("an array", []), ("an object without members", {})):
        add(f"a key of the material is {what}", value, a, b, code="malformed")
    for what, value in (("null", None), ("31 bytes", b64(bytes(31))), ("padded", b64(bytes(32)) + "=")):
        for member in ("d", "x"):
            add(f"{member} of the material is {what}", {**a, member: value}, b, code="malformed")
        add(f"psk of the material is {what}", a, {**b, "psk": value}, code="malformed")
    for member in ("kty", "crv", "x", "alg", "kid"):
        add(f"{member} of the material is missing", without(a, member), b, code="malformed")
    add("the material has an unknown member", {**a, "use": "enc"}, b, code="malformed")
    shared = support.chained([created("shared", keys={M.kid: added(M)})])
    for what, keys in (("another key", [N.record()]), ("another key under its kid", [{**N.record(), "kid": M.kid}]),
                       ("a key for recipients", [A.record()]), ("no key", [])):
        vectors.refuse(f"in the place of a shared key there is {what}", "otherKeys", 2, shared + support.plain_row(shared, keys))
    signing = support.chained([created("publisher", keys={P.kid: added(P)})])
    vectors.refuse("the publisher key of the material is a sender's", "otherKeys", 2,
                   signing + support.plain_row(signing, [without(P.record(), "role")]))


def add_plain_rows(vectors: Vectors) -> None:
    """The members of a last row with keys in clear."""
    rows, keys = support.chained(KEYED), records(A)
    text = rows + support.plain_row(rows, keys)

    def add(name: str, code: str, **changes: Any) -> None:
        vectors.refuse(name, code, 3, rows + support.plain_row(rows, keys, **changes))

    for version in (0, 2, 2**53 - 1):
        add(f"version {version}", "unsupportedVersion", v=version)
    for what, value in {**VALUES, "missing": ..., "a fraction": 1.5, "a fraction of zero": 1.0, "negative": -1}.items():
        if what != "a number":
            add(f"v is {what}", "malformed", v=value)
        if what != "an array":
            add(f"the value of keys is {what}", "malformed", keys=value)
        add(f"digest is {what}", "malformed", digest=value)
    right = json.loads(support.plain_row(rows, keys))["digest"]
    data = unb64(right)
    for what, value in (("of 31 bytes", b64(data[:-1])), ("of 33 bytes", b64(data + b"\0")), ("padded", right + "="), ("empty", "")):
        add(f"digest {what}", "malformed", digest=value)
    jwks = support.compact({"k": keys})[5:-1]
    for what, digest in (*flipped(data), ("to that of the keys alone", hashlib.sha256(jwks).digest()),
                         ("to that of the log alone", hashlib.sha256(rows).digest()),
                         ("to that of the log without its last LF", hashlib.sha256(rows[:-1] + jwks).digest())):
        add(f"digest is changed {what}", "wrongDigest", digest=b64(digest))
    vectors.refuse("a private key is changed", "wrongDigest", 3, text.replace(keys[0]["d"].encode(), b64(bytes(32)).encode()))
    vectors.refuse("who of the last line is changed", "wrongDigest", 3, text.replace(b'alice","what":"ro', b'malice","what":"ro'))
    longer = support.chained([*KEYED, line("moved", day(4), writer="b")])
    vectors.refuse("a line is added above the last row", "wrongDigest", 4, longer + support.plain_row(rows, keys))
    vectors.refuse("the last line is missing", "wrongDigest", 2, support.chained(KEYED[:1]) + support.plain_row(rows, keys))
    other = sealed(KEYED, keys)[1]
    for name in ("sealed", "mac"):
        add(f"keys in clear with {name}", "malformed", **{name: other[name]})
    vectors.refuse("keys in clear, although a passphrase is given", "notEncrypted", 3, text, PASSPHRASE)


def add_sealed_forms(vectors: Vectors) -> None:
    """Every member of a last row with encrypted keys: missing, another type, out of range."""
    secrets = {name: SECRETS[name] for name in ("first", "kms")}
    rows, base = sealed([created(secrets=list(secrets))], [], secrets, "forms")
    vectors.accept("no keys, encrypted", rows, support.compact(base) + b"\n", {"keys": {}, "secrets": list(secrets), "at": day(1)},
                   PASSPHRASE)

    def add(name: str, path: str, value: Any, code: str = "malformed") -> None:
        vectors.refuse(name, code, 2, rows + support.compact(changed(base, path, value)) + b"\n", PASSPHRASE)

    for version in (0, 2):
        add(f"version {version} of encrypted keys", "v", version, "unsupportedVersion")
    add("encrypted keys with keys in clear", "keys", [])
    add("encrypted keys with a digest", "digest", b64(bytes(32)))
    first, scrypt = "sealed locks 0", "sealed locks 0 passphrase"
    paths = {"sealed": "sealed", "mac": "mac", "locks": "sealed locks", "dataKey": "sealed dataKey",
             "keys of sealed": "sealed keys", "name of a secret": f"{first} name", "passphrase of a secret": scrypt,
             "key of a secret": f"{first} key", **{f"{name} of scrypt": f"{scrypt} {name}" for name in ("n", "r", "p", "salt", "check")}}
    for name, path in paths.items():
        for what, value in (("missing", ...), ("null", None), ("true", True), ("an array", []), ("a fraction", 1.5), ("empty", "")):
            add(f"{name} is {what}", path, value)
    for name, path in (("sealed", "sealed"), ("a secret", first), ("scrypt", scrypt)):
        add(f"{name} has an unknown member", f"{path} more", 1)
    for name in ("mac", "dataKey", "key of a secret", "salt of scrypt", "check of scrypt"):
        value = at(base, paths[name])
        data = unb64(value)
        for what, other in ((f"of {len(data) - 1} bytes", b64(data[:-1])), (f"of {len(data) + 1} bytes", b64(data + b"\0")),
                            ("padded", value + "=" * (-len(value) % 4 or 4)), ("in base64's alphabet", "+" + value[1:])):
            add(f"{name} {what}", paths[name], other)
    add("keys of sealed have 27 bytes", "sealed keys", b64(bytes(27)))
    add("keys of sealed are padded", "sealed keys", at(base, "sealed keys") + "=")
    for name, values in (("n", (0, 1, 3, 2**21, -2)), ("r", (0, 33, -1)), ("p", (0, 17, -1))):
        for number in values:
            add(f"{name} of scrypt is {number}", f"{scrypt} {name}", number)
    add("scrypt needs more than 1 GiB", scrypt, {**at(base, scrypt), "n": 2**20, "r": 9})
    for what, name in NO_NAMES.items():
        if what != "empty":
            add(f"name of a secret {what}", f"{first} name", name)
    passphrase, command = base["sealed"]["locks"]
    add("no secret", "sealed locks", [])
    add("nine secrets", "sealed locks", [{**command, "name": str(number)} for number in range(9)])
    add("two secrets of one name", "sealed locks", [passphrase, {**command, "name": "first"}])
    for what, value in (("false", False), ("null", None), ("1", 1), ("a string", "kms unwrap")):
        add(f"command of a secret is {what}", "sealed locks", [passphrase, {**command, "command": value}])
    add("a secret is a passphrase and a command", "sealed locks", [{**passphrase, "command": True}, command])
    add("a secret is neither a passphrase nor a command", "sealed locks", [passphrase, without(command, "command")])
    add("a secret is a string", "sealed locks", [passphrase, "kms"])
    add("key of a command is missing", "sealed locks", [passphrase, without(command, "key")])
    for what, value in (("null", None), ("empty", ""), ("4,097 bytes", b64(bytes(4097))), ("padded", "AA==")):
        add(f"key of a command is {what}", "sealed locks", [passphrase, {**command, "key": value}])


def add_changed_seals(vectors: Vectors) -> None:
    """What the encrypted keys authenticate."""
    keys = records(A, B)
    rows, base = sealed(ENCRYPTED, keys, SECRETS, "changes")

    def add(name: str, last: dict[str, Any], code: str = "notAuthentic", text: bytes = rows, passphrase: str = PASSPHRASE) -> None:
        vectors.refuse(name, code, text.count(b"\n") + 1, text + support.compact(last) + b"\n", passphrase)

    scrypt = "sealed locks 0 passphrase"
    for name, path, code in (
        ("mac", "mac", "notAuthentic"), ("dataKey", "sealed dataKey", "notAuthentic"),
        ("keys of sealed", "sealed keys", "notAuthentic"), ("key of a secret", "sealed locks 0 key", "notAuthentic"),
        ("key of a command", "sealed locks 1 key", "notAuthentic"), ("salt", f"{scrypt} salt", "wrongSecret"),
        ("check", f"{scrypt} check", "wrongSecret"),
    ):
        for what, other in flipped(unb64(at(base, path))):
            add(f"{name} is changed {what}", changed(base, path, b64(other)), code)
    for name, value in (("n", 32), ("r", 2), ("p", 2)):
        add(f"{name} of scrypt is changed", changed(base, f"{scrypt} {name}", value), "wrongSecret")
    first, command, third = base["sealed"]["locks"]
    for what, locks in (
        ("two secrets have exchanged their names", [{**first, "name": "third"}, command, {**third, "name": "first"}]),
        ("a secret is renamed", [{**first, "name": "x"}, command, third]), ("a secret is taken out", [first, command]),
        ("two secrets stand in another order", [third, command, first]),
        ("a command is added", [first, command, third, {**command, "name": "x"}]),
    ):
        add(what, changed(base, "sealed locks", locks))
    other = sealed(ENCRYPTED, keys, SECRETS, "another file")[1]
    for name in ("dataKey", "keys"):
        add(f"{name} is that of another file", changed(base, f"sealed {name}", other["sealed"][name]))
    add("mac is that of another file with the same log", {**base, "mac": other["mac"]})
    add("sealed is that of another file with the same log", {**base, "sealed": other["sealed"]})
    add("mac is made with another history key", sealed(ENCRYPTED, keys, SECRETS, "changes", mac_key=bytes(32))[1])
    forged = [ENCRYPTED[0], {**ENCRYPTED[1], "who": "malice"}]
    for what, lines in (("who of line 1", [{**ENCRYPTED[0], "who": "malice"}, ENCRYPTED[1]]), ("who of the last line", forged),
                        ("a moment", [ENCRYPTED[0], changed(ENCRYPTED[1], f"keys {A.kid} retiresAt", day(10))])):
        add(f"{what} is changed below encrypted keys, and the lines are chained again", base, text=support.chained(lines))
    add("the last line is changed, and mac is made with an attacker's history key",
        {**base, "mac": sealed(forged, keys, SECRETS, "attacker")[1]["mac"]}, text=support.chained(forged))
    add("a line is added below encrypted keys", base, text=support.chained([*ENCRYPTED, line("moved", day(3), writer="b")]))
    add("the last line below encrypted keys is missing", base, text=support.chained(ENCRYPTED[:1]))
    add("the passphrase has a line feed more", base, "wrongSecret", passphrase=PASSPHRASE + "\n")
    add("the passphrase is in another normal form", base, "wrongSecret", passphrase=PASSPHRASE.replace("\u00e9", "e\u0301"))
    add("a passphrase is given for a command", sealed(ENCRYPTED, keys, {"kms": fixed("x", 32)}, "command")[1], "wrongSecret")


def add_sealed_contents(vectors: Vectors) -> None:
    """What is encrypted is checked like keys in clear."""
    rows, keys, history_key = support.chained(ENCRYPTED), records(A, B), fixed("history", 32)
    history = b64(history_key)

    def add(name: str, code: str, inside: bytes) -> None:
        last = sealed(ENCRYPTED, keys, None, name, plaintext=inside, mac_key=history_key)[1]
        vectors.refuse(f"the encrypted keys {name}", code, 3, rows + support.compact(last) + b"\n", PASSPHRASE)

    for name, code, these, key in (
        ("are missing", "malformed", ..., history), ("are an object", "malformed", {}, history),
        ("lack the history key", "malformed", keys, ...), ("have a history key that is null", "malformed", keys, None),
        ("have a history key of 31 bytes", "malformed", keys, b64(bytes(31))), ("lack a key", "otherKeys", keys[:1], history),
        ("have a key more", "otherKeys", [*keys, C.record()], history), ("have a key twice", "otherKeys", [*keys, keys[0]], history),
        ("lack a psk", "otherKeys", [keys[0], without(keys[1], "psk")], history),
        ("have a key that is public only", "otherKeys", [without(keys[0], "d"), keys[1]], history),
    ):
        add(name, code, support.compact({"keys": these, "history": key}))
    right = support.compact({"keys": keys, "history": history})
    add("have an unknown member", "malformed", right[:-1] + b',"more":1}')
    add("have a member twice", "malformed", right[:-1] + b',"keys":[]}')
    add("aren't JSON", "malformed", b"x")
    add("have bytes behind them", "malformed", right + b"x")


PARTS = (add_files, add_order, add_forms, add_policies, add_epochs, add_places, add_key_changes, add_jwks, add_material,
         add_plain_rows, add_sealed_forms, add_changed_seals, add_sealed_contents)
