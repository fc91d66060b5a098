"""The refused logs of make_keyset_log.py: each has one fault, and a right last row below it."""
from __future__ import annotations

import dataclasses
from typing import Any, Callable

from keyset_logs import (  # first: it finds support
    A, B, C, ID, KEYED, M, NEXT_ID, NO_NAMES, OVER, P, POLICY, PUBLICATION, PUBLISHER, PUBLISHER_ID, R, S, VALUES, X,
    Lines, Vectors, added, changed, created, day, fixed, line, public, without,
)
import support
from pushcrypt._json import b64, unb64
from pushcrypt._keys import Key, key_id
from pushcrypt.keysets import MOMENTS

NO_TIMES = {"without an offset": "2026-03-02T09:00:00", "that is a date": "2026-03-02", "empty": "",
            "on 29 February": "2026-02-29T09:00:00Z", "with a space": "2026-03-02 09:00:00Z",
            "at 24:00": "2026-03-02T24:00:00Z"}
NO_TEXTS = {"empty": "", "of 257 bytes": "\u00e9" * 128 + "x", "with a line feed": "a\nb", "with U+0000": "\0",
            "with U+007F": "a\x7f", "with U+0085": "\x85"}
NO_NUMBERS = {"0": 0, "negative": -1, "of 2^52 + 1": 2**52 + 1, "a fraction": 1.5, "with a fraction of zero": 1.0}
NO_EPOCHS = {"negative": -1, "of 2^53": 2**53, "a fraction": 1.5}
NO_DURATIONS = {"without a unit": "P90", "of months": "P3M", "of a year": "P1Y", "negative": "-P90D",
                "without P": "90D", "empty": "", "without a number": "PD", "of P alone": "P", "ending with T": "P90DT",
                "with a fraction": "P1.5D", "of minutes before hours": "PT1M1H", "over 100 years": "P200000D"}
PLAIN = [created(secrets=["a"], writer="host"), line("rotated", day(2), writer="b", why="x", r=R),
         line("restored", day(3), over=[OVER], revoked={C.kid: day(2)}, issuedAt=day(3))]
SIGNED = [created("sender", publication=PUBLICATION, epochs={"1": PUBLISHER_ID}),
          line("published", day(2), issuedAt=day(2), epoch=1, validUntil=day(20), publisher=PUBLISHER)]


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


TEXTS: dict[str, Callable[[bytes, bytes], bytes]] = {  # of a row, and the name of one of its members
    "a space behind a colon": lambda row, name: row.replace(name + b":", name + b": "),
    "a space behind a comma": lambda row, name: row.replace(b"," + name, b", " + name),
    "a tab in front": lambda row, _: b"\t" + row, "a space at its end": lambda row, _: row + b" ",
    "CR LF at its end": lambda row, _: row + b"\r", "a byte order mark": lambda row, _: b"\xef\xbb\xbf" + row,
    "a member twice": lambda row, name: row.replace(name, name + b':"x",' + name),
    "a name twice, once with an escape": lambda row, name: row[:-1] + b',"\\u00%x' % name[1] + name[2:] + b":1}",
    "a lone surrogate": lambda row, _: row[:-1] + b',"x":"\\ud800"}',
    "a comma too many": lambda row, _: row[:-1] + b",}",
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
                        ("the last row is cut", text[:-20]), ("the last row is missing", rows),
                        ("a line is cut", rows[:-20]), ("the last row is alone", support.plain_row(b"", []))):
        vectors.refuse(name, "incomplete", 0, whole)
    vectors.refuse("there are two last rows", "malformed", 4, text + last)
    vectors.refuse("a row is empty", "malformed", 2, text.replace(b"\n", b"\n\n", 1))
    for what, change in TEXTS.items():
        lines = [(PLAIN[0], lambda row: change(row, b'"what"')), *PLAIN[1:]]
        vectors.wrong(f"line 1 has {what}", "malformed", 1, lines)
        vectors.refuse(f"the last row has {what}", "malformed", 4, rows + change(last[:-1], b'"digest"') + b"\n")


def add_order(vectors: Vectors) -> None:
    """n, prev, at and issuedAt."""
    base = Refusals(vectors, PLAIN)
    for row in (1, 2, 3):
        base.values(row, "n", f"n of line {row}", NO_NUMBERS)
    base.values(1, "n", "n of line 1", {"is 2": 2, "is 2^52": 2**52}, "wrongNumber")
    base.values(2, "n", "n of line 2", {"is that of line 1": 1, "is 3": 3}, "wrongNumber")
    base.values(3, "n", "n of a restored line", {"is that of the line before": 2, "is 1": 1}, "wrongNumber")
    jumped = [created(), {**PLAIN[2], "n": 50}, line("rotated", day(4), writer="b")]
    Refusals(vectors, jumped).values(3, "n", "n of the line after a restored one", {
        "is higher than the next": 52, "is that of its row": 3, "is that of the restored one": 50}, "wrongNumber")
    base.bytes(2, "prev", "prev", b64(fixed("prev", 32)))
    for row in (1, 2, 3):
        base.change(f"prev of line {row} is another", row, "prev", b64(fixed("prev", 32)), "brokenChain")
    base.change("prev of line 2 is zero", 2, "prev", b64(bytes(32)), "brokenChain")
    for row in (1, 2):
        lines = support.chained(PLAIN).split(b"\n")
        lines[row - 1] = lines[row - 1].replace(b"alice", b"malice")
        name = f"who of line {row} is changed, and the lines aren't chained again"
        vectors.finish(name, "brokenChain", row + 1, lines)
    # A restored line has any higher number, so only prev is wrong here.
    lines = support.chained(PLAIN).split(b"\n")
    vectors.finish("the line before a restored one is missing", "brokenChain", 2, [lines[0], *lines[2:]])
    base.change("at goes back by a second", 2, "at", "2026-03-01T08:59:59Z", "timeWentBack")
    base.change("at of a restored line goes back", 3, "at", day(2, "08:59:59Z"), "timeWentBack")
    base.change("at goes back because of its offset", 2, "at", day(1, "10:00:00+02:00"), "timeWentBack")
    vectors.wrong("at is before that of a line clockCorrected", "timeWentBack", 3, [
        created(), line("clockCorrected", "2026-01-01T00:00:00Z"), line("rotated", "2025-12-31T23:59:59Z", writer="b")])
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
        (2, "n", "a number"), (2, "at"), (2, "who", "a string"), (2, "what"), (2, "prev"), (2, "why", "a string"),
        (2, "r"), (2, "keys", "an object"), (2, "policy"), (1, "id"), (1, "kind"), (1, "secrets", "an array"),
        (1, "writer", "a string"), (3, "over"), (3, "revoked"), (3, "issuedAt"),
    ):
        base.types(row, path, path, *right)
    for row, path, *right in ((1, "publication"), (1, "epochs", "an object"), (2, "validUntil"),
                              (2, "epoch", "a number"), (2, "publisher")):
        signed.types(row, path, path, *right)
    base.values(2, "at", "at", NO_TIMES)
    base.values(3, "issuedAt", "issuedAt", NO_TIMES)
    for row, path in ((2, "who"), (2, "why"), (1, "writer")):
        base.values(row, path, path, NO_TEXTS)
    base.values(2, "what", "what", {"unknown": "moved", "empty": "", "in capitals": "Rotated"})
    base.values(1, "kind", "kind", {"unknown": "device", "empty": "", "in capitals": "Recipient"})
    base.bytes(1, "id", "id", ID)
    base.change("id begins with a hyphen", 1, "id", b64(b"\xf8" + bytes(15)))
    base.bytes(2, "r", "r", R)
    base.change("there are nine secrets", 1, "secrets", list("abcdefghi"))
    base.change("secrets have a name twice", 1, "secrets", ["a", "b", "a"])
    base.values(1, "secrets", "a name in secrets", {
        what: [name] for what, name in {**NO_NAMES, "that is a number": 1}.items()})
    for what, points in (("null", [None]), ("a string", ["x"]), ("a point and a number", [OVER, 1])):
        base.change(f"over has {what}", 3, "over", points)
    for member in ("n", "hash"):
        base.change(f"{member} of a point in over is missing", 3, "over", [without(OVER, member)])
    base.change("a point in over has an unknown member", 3, "over", [{**OVER, "id": ID}])
    base.values(3, "over", "n of a point in over", {what: [{**OVER, "n": value}] for what, value in NO_NUMBERS.items()})
    base.values(3, "over", "hash of a point in over", {what: [{**OVER, "hash": value}] for what, value in (
        ("that is null", None), ("of 31 bytes", b64(bytes(31))), ("padded", OVER["hash"] + "="))})
    base.values(3, "revoked", "revoked", {
        "has a kid of 7 bytes": {b64(bytes(7)): day(2)}, "has an empty kid": {"": day(2)},
        "has a padded kid": {C.kid + "=": day(2)}, "has null in place of a time": {C.kid: None},
        "has an object in place of a time": {C.kid: {"revokedAt": day(2)}}})
    base.values(3, "revoked", "a time in revoked", {what: {C.kid: value} for what, value in NO_TIMES.items()})


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
    vectors.wrong("the epoch ends in the line that publishes it", "unknownEpoch", 2, [
        SIGNED[0], {**SIGNED[1], "epochs": {"1": None}}])
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
            "that is null": None, f"of {size - 1} bytes": b64(bytes(size - 1)),
            f"of {size + 1} bytes": b64(bytes(size + 1)), "padded": b64(bytes(size)) + "="})


def add_places(vectors: Vectors) -> None:
    """Actions and members in lines and keysets that can't have them."""
    def add(name: str, row: int, *lines: dict[str, Any]) -> None:
        vectors.wrong(name, "misplaced", row, list(lines))

    for what in ("rotated", "imported", "restored", "clockCorrected"):
        add(f"line 1 is {what}", 1, {**created(), "what": what})
    add("line 2 is created", 2, created(), line("created", day(2), id=ID, kind="recipient"))
    add("line 2 is created, without id and kind", 2, created(), line("created", day(2)))
    add("line 2 has id", 2, created(), line("rotated", day(2), id=ID))
    add("line 2 has kind", 2, created(), line("rotated", day(2), kind="recipient"))
    sender = created("sender", epochs={"1": PUBLISHER_ID})
    values = {"issuedAt": day(3), "epoch": 1, "validUntil": day(20), "publisher": PUBLISHER, "over": [OVER],
              "revoked": {C.kid: day(2)}}
    others = {"issuedAt": ("rotated", "policy", "clockCorrected"), "epoch": ("rotated", "restored"),
              "validUntil": ("policy", "restored"), "publisher": ("imported", "restored"),
              "over": ("published", "clockCorrected"), "revoked": ("revoked", "published")}
    for name, actions in others.items():
        for what in actions:
            issued = {"issuedAt": day(3)} if what in ("published", "restored") else {}
            add(f"a line {what} has {name}", 2, sender, line(what, day(3), **issued, **{name: values[name]}))
    add("line 1 has issuedAt", 1, created(issuedAt=day(1)))
    add("line 1 has over", 1, created(over=[OVER]))
    add("line 1 has revoked", 1, created(revoked={C.kid: day(1)}))
    for kind in ("recipient", "shared", "publisher"):
        add(f"a keyset of kind {kind} has publication", 1, created(kind, publication=PUBLICATION))
        add(f"a keyset of kind {kind} has epochs", 1, created(kind, epochs={"1": PUBLISHER_ID}))
    add("a keyset of kind publisher has a policy", 1, created("publisher", policy=POLICY))
    add("a later line gives a keyset of kind publisher a policy", 2, created("publisher"),
        line("policy", day(2), policy=POLICY))


def add_key_changes(vectors: Vectors) -> None:
    """What a line says of a key, beside its jwk."""
    for what, kid in (("of 7 bytes", b64(bytes(7))), ("of 9 bytes", b64(bytes(9))), ("empty", ""),
                      ("padded", M.kid + "="), ("with trailing bits", b64(bytes(8))[:-1] + "B"),
                      ("in base64's alphabet", "+" + M.kid[1:])):
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
            created(keys={A.kid: added(A, **{moment: day(1)})}),
            line("rotated", day(2), keys={A.kid: {moment: "now"}})], *key)
    base.types(2, f"keys {A.kid} lost", "lost", "null", "true")
    base.change("lost is false", 2, f"keys {A.kid} lost", False)
    psk.types(1, f"keys {B.kid} psk", "psk", "true")
    psk.change("psk is false", 1, f"keys {B.kid} psk", False)
    psk.types(1, f"keys {B.kid} jwk", "jwk", "an object")
    vectors.wrong("a key is named for the first time without its jwk", "misplaced", 2, [
        created(), line("rotated", day(2), keys={C.kid: {"activatesAt": day(2)}})], C)

    def later(kid: str, change: dict[str, Any]) -> dict[str, Any]:
        return line("rotated", day(2), keys={kid: change})

    vectors.wrong("a later line repeats the jwk", "misplaced", 2, [KEYED[0], later(A.kid, {"jwk": public(A)})], A)
    vectors.wrong("a later line repeats psk", "misplaced", 2, [
        created(keys={B.kid: added(B)}), later(B.kid, {"psk": True})], B)
    vectors.wrong("a later line adds psk", "misplaced", 2, [KEYED[0], later(A.kid, {"psk": True})], A)
    restored = line("restored", day(2), revoked={A.kid: day(2)})
    vectors.wrong("a line revokes a key of this log as one that it never had", "misplaced", 2, [KEYED[0], restored], A)
    vectors.wrong("a line adds a key and revokes it as one that the log never had", "misplaced", 2, [
        created(), {**restored, "keys": {A.kid: added(A)}}], A)
    vectors.wrong("a key is added that only another log has had and revoked", "misplaced", 3, [
        created(), restored, line("imported", day(3), keys={A.kid: added(A)})], A)
    vectors.wrong("a destroyed key is added again", "misplaced", 2, [
        created(keys={A.kid: added(A, destroyedAt=day(1))}), later(A.kid, {"jwk": public(A)})])


def add_jwks(vectors: Vectors) -> None:
    """The jwk of a key's first line."""
    def add(name: str, code: str, kind: str, kid: str, change: dict[str, Any], *keys: Key) -> None:
        vectors.wrong(name, code, 1, [created(kind, keys={kid: change})], *keys)

    for name, kind, key, lost in (("x25519", "recipient", A, {}), ("p256", "recipient", B, {}),
                                  ("ed25519", "sender", S, {}), ("xwing", "recipient", X, {"lost": True}),
                                  ("a publisher", "publisher", P, {})):
        jwk, private = public(key), dataclasses.replace(key, psk=None).record()
        cases: list[tuple[str, str, dict[str, Any]]] = [
            *((f"without {member}", "malformed", without(jwk, member)) for member in jwk if member != "role"),
            ("with an unknown member", "malformed", {**jwk, "use": "enc"}),
            ("with a psk", "malformed", {**jwk, "psk": b64(bytes(32))}), ("with its private key", "malformed", private),
            ("with device", "malformed", {**jwk, "device": "a"}),
            ("with an unknown kty", "malformed", {**jwk, "kty": "RSA"}),
            ("with another alg", "malformed", {**jwk, "alg": "HPKE-0"}),
            ("with another kid", "kidMismatch", {**jwk, "kid": "AAAAAAAAAAA"})]
        for what, code, other in cases:
            add(f"the jwk of {name} {what}", code, kind, key.kid, {"jwk": other, **lost}, *(() if lost else (key,)))
    add("a kid is that of another key", "kidMismatch", "recipient", C.kid, {"jwk": public(A)}, A)
    for name, kind, key in (("a sender key in a keyset for recipients", "recipient", S),
                            ("a publisher key in a keyset for recipients", "recipient", P),
                            ("a recipient key in a keyset of a sender", "sender", A),
                            ("a publisher key in a keyset of a sender", "sender", P),
                            ("a sender key in a keyset of a publisher", "publisher", S)):
        add(name, "wrongKind", kind, key.kid, {"jwk": public(key)}, key)
    add("a shared key's jwk in a keyset for recipients", "malformed", "recipient", M.kid, {"jwk": M.record()}, M)
    add("a jwk in a keyset of shared keys", "misplaced", "shared", A.kid, {"jwk": public(A)}, A)
    add("a shared key's own jwk in its log", "malformed", "shared", M.kid, {"jwk": M.record()}, M)
    add("psk in a keyset of kind sender", "misplaced", "sender", S.kid, {"jwk": public(S), "psk": True}, S)
    add("psk in a keyset of kind publisher", "misplaced", "publisher", P.kid, {"jwk": public(P), "psk": True}, P)
    add("psk in a keyset of kind shared", "misplaced", "shared", M.kid, {"psk": True}, M)


PARTS = (add_files, add_order, add_forms, add_policies, add_epochs, add_places, add_key_changes, add_jwks)
