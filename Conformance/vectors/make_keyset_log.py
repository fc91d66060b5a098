"""Writes keyset-log-v1.json with the Python package: keyset files, logs that extend others, and refused files.

Run with an interpreter that has the package of Senders/python: python make_keyset_log.py > keyset-log-v1.json
Salts, keys and nonces come from labels, so every run makes the same file. support.py writes the rows. What is
refused is in keyset_log_lines.py and keyset_log_last_rows.py.
"""
from __future__ import annotations

import hashlib
import json
from typing import Any, Optional

import annotate
import keyset_log_last_rows
import keyset_log_lines
from keyset_logs import (  # first: it finds support
    A, B, C, ENCRYPTED, M, N, NEXT_ID, OTHER, OVER, P, PASSPHRASE, POLICY, PUBLICATION, PUBLISHER, PUBLISHER_ID, Q, R,
    S, SECRETS, X, Lines, Vectors, added, created, day, fixed, life, line, records, sealed,
)
import support
from pushcrypt._json import b64, dump
from pushcrypt.keysets import MOMENTS


def add_kinds(vectors: Vectors) -> None:
    """Every kind with one line, and every algorithm."""
    for kind, key, algorithm in (("recipient", A, "x25519"), ("sender", S, "ed25519"), ("shared", M, "shared"),
                                 ("publisher", P, "ed25519-publisher")):
        vectors.plain(f"one line creates a keyset of kind {kind}", [created(kind, keys={key.kid: added(key)})],
                      records(key), keys={key.kid: life(algorithm)}, at=day(1))
    keys = {key.kid: added(key) for key in (A, B, C)} | {X.kid: added(X, lost=True)}
    vectors.plain("keys of every suite for recipients, with and without psk; that of suite 3 is lost",
                  [created(keys=keys)], records(A, B, C), at=day(1), keys={
                      A.kid: life("x25519"), B.kid: life("p256", psk=True), C.kid: life("p256"),
                      X.kid: life("xwing", psk=True, lost=True)})
    vectors.plain("a keyset without keys", [created()], [], keys={}, at=day(1))
    vectors.plain("two shared keys, one of which is named without a moment",
                  [created("shared", keys={M.kid: added(M), N.kid: {}})], records(M, N), at=day(1),
                  keys={M.kid: life("shared"), N.kid: {"algorithm": "shared"}})
    vectors.plain("two publisher keys, and no policy", [created("publisher", keys={P.kid: added(P), Q.kid: added(Q)})],
                  records(P, Q), at=day(1), keys={P.kid: life("ed25519-publisher"), Q.kid: life("ed25519-publisher")})


def add_actions(vectors: Vectors) -> None:
    """Every action, and every member of CHANGES."""
    lines = [
        created(keys={A.kid: added(A)}, policy=POLICY, writer="host-1", secrets=[]),
        line("rotated", day(2), keys={
            A.kid: {"retiresAt": day(9), "expiresAt": day(29)}, B.kid: added(B, activatesAt=day(9))}),
        line("imported", day(3), keys={C.kid: {**added(C), "createdAt": None}}),
        line("revoked", day(4), keys={A.kid: {"revokedAt": day(4)}}, why="The laptop is lost", r=R),
        line("destroyed", day(5), keys={A.kid: {"destroyedAt": day(5)}}),
        line("policy", day(6), policy={**POLICY, "requireCoverage": 99.5}),
        line("secrets", day(7), secrets=["first", "kms"]),
        line("rotated", day(8), writer="host-2"),
        line("published", day(9), issuedAt=day(9)),
        {**line("restored", day(10), over=[OVER], issuedAt=day(11), keys={C.kid: {"retiresAt": day(20)}}), "n": 1000},
        line("clockCorrected", day(8), who="bob")]
    vectors.plain("every action, in a keyset for recipients", lines, records(B, C), at=day(8), keys={
        A.kid: life("x25519", retiresAt=day(9), expiresAt=day(29), revokedAt=day(4), destroyedAt=day(5)),
        B.kid: life("p256", psk=True, activatesAt=day(9)), C.kid: life("p256", createdAt=None, retiresAt=day(20))},
        policy={**POLICY, "requireCoverage": 99.5}, writer="host-2", secrets=["first", "kms"], issuedAt=day(11))
    topics = {"topics": ["a", "com.example.B-2"], "validFor": "PT48H"}
    lines = [
        created("sender", keys={S.kid: added(S)}, policy=POLICY, publication=PUBLICATION,
                epochs={"0": PUBLISHER_ID, "1": NEXT_ID}),
        line("published", day(2), issuedAt=day(2), epoch=0, validUntil=day(31), publisher=PUBLISHER),
        line("published", day(2), issuedAt=day(2), epoch=1, validUntil="2026-05-31T09:00:00Z"),
        line("policy", day(3), epochs={"0": None, "7": None, "9007199254740991": PUBLISHER_ID}, publication=topics),
        line("published", day(4), epochs={"2": NEXT_ID, "1": PUBLISHER_ID}, issuedAt=day(4), epoch=2,
             validUntil=day(4, "09:00:01Z")),
        line("published", day(5), issuedAt=day(5))]
    vectors.plain("signed sets of three epochs, one of which has ended, and an unsigned set", lines, records(S),
                  keys={S.kid: life("ed25519")}, policy=POLICY, issuedAt=day(5), publication=topics, at=day(5),
                  epochs={"1": PUBLISHER_ID, "2": NEXT_ID, "9007199254740991": PUBLISHER_ID})
    policy = {"rotateEvery": "P52W", "publishLead": "PT1S", "overlap": "P10000D", "keep": 100, "requireCoverage": 100}
    topics = {"topics": [f"a{number}" for number in range(16)], "validFor": "P1DT1H1M1S"}
    most = {"publication": topics, "policy": policy, "secrets": [name * 64 for name in "abcdeZ._"]}
    vectors.plain("16 topics, 8 secrets, and the limits of a policy", [created("sender", **most)], [], keys={},
                  at=day(1), **most)
    first = {"publication": PUBLICATION, "policy": POLICY, "writer": "a", "secrets": ["a", "b"]}
    second = {"publication": {"topics": ["b"], "validFor": "P2D"}, "writer": "b", "secrets": ["b"],
              "policy": {**POLICY, "keep": 1, "requireCoverage": 0.125}}
    vectors.plain("policy, publication, writer and secrets replace those before",
                  [created("sender", **first), line("policy", day(2), **second)], [], keys={}, at=day(2), **second)
    vectors.plain("changes without members change nothing", [
        created("sender", keys={}, epochs={}), line("policy", day(2), keys={S.kid: added(S)}),
        line("policy", day(2), keys={S.kid: {}})], records(S), keys={S.kid: life("ed25519")}, at=day(2))


def add_moments(vectors: Vectors) -> None:
    """Moments are replaced and removed; the last two are final."""
    every = {moment: day(number) for number, moment in enumerate(MOMENTS[:4], 10)}
    first = created(keys={A.kid: added(A, **every)})
    for moment in MOMENTS[:4]:
        kept = {name: at for name, at in every.items() if name != moment}
        vectors.plain(f"{moment} is removed", [first, line("rotated", day(2), keys={A.kid: {moment: None}})],
                      records(A), keys={A.kid: {**kept, "algorithm": "x25519"}}, at=day(2))
        vectors.plain(f"{moment} is replaced, and one that isn't there is removed",
                      [first, line("rotated", day(2), keys={A.kid: {moment: day(3), "revokedAt": None}})], records(A),
                      keys={A.kid: {**kept, moment: day(3), "algorithm": "x25519"}}, at=day(2))
    for moment, material in (("revokedAt", [A]), ("destroyedAt", [])):
        ended = [created(keys={A.kid: added(A)}), line("revoked", day(2), keys={A.kid: {moment: day(3)}})]
        after = {A.kid: life("x25519", **{moment: day(3)})}
        vectors.plain(f"{moment} is set in the future", ended, records(*material), keys=after, at=day(2))
        for what, value in (("removed", None), ("earlier", day(1)), ("later", day(30))):
            lines = ended + [line("rotated", day(4), keys={A.kid: {moment: value, "expiresAt": day(5)}})]
            vectors.plain(f"{moment} is never {what}; the rest of the line counts", lines, records(*material),
                          keys={A.kid: life("x25519", expiresAt=day(5), **{moment: day(3)})}, at=day(4))
        null = created(keys={A.kid: added(A, **{moment: None})})
        vectors.plain(f"{moment} that is null in the key's first line is set later", [null, ended[1]],
                      records(*material), keys=after, at=day(2))
    vectors.plain("a keyset whose only key is destroyed has no material",
                  [created(keys={B.kid: added(B)}), line("destroyed", day(2), keys={B.kid: {"destroyedAt": day(2)}})],
                  [], keys={B.kid: life("p256", psk=True, destroyedAt=day(2))}, at=day(2))
    vectors.plain("a shared key is destroyed, and another one takes its place", [
        created("shared", keys={M.kid: added(M)}),
        line("destroyed", day(2), keys={M.kid: {"destroyedAt": day(2)}, N.kid: added(N)})], records(N), at=day(2),
        keys={M.kid: life("shared", destroyedAt=day(2)), N.kid: life("shared")})
    vectors.plain("a key is named for the first time when it is destroyed already",
                  [created(keys={A.kid: added(A, destroyedAt=day(1)), C.kid: added(C)})], records(C), at=day(1),
                  keys={A.kid: life("x25519", destroyedAt=day(1)), C.kid: life("p256")})
    lost = [created(keys={A.kid: added(A), C.kid: added(C)}), line("rotated", day(2), keys={A.kid: {"lost": True}})]
    vectors.plain("a lost key has no material", lost, records(C), at=day(2),
                  keys={A.kid: life("x25519", lost=True), C.kid: life("p256")})
    vectors.plain("a lost key stays lost when its moments change", lost + [
        line("rotated", day(3), keys={A.kid: {"retiresAt": day(3)}})], records(C), at=day(3),
        keys={A.kid: life("x25519", retiresAt=day(3), lost=True), C.kid: life("p256")})
    found = lost + [line("imported", day(3), keys={A.kid: {"lost": None}, C.kid: {"lost": None}})]
    vectors.plain("a lost key is found again", found, records(A, C), at=day(3),
                  keys={A.kid: life("x25519"), C.kid: life("p256")})
    vectors.plain("a lost key is destroyed and isn't lost any more", lost + [
        line("destroyed", day(3), keys={A.kid: {"destroyedAt": day(3), "lost": None}})], records(C), at=day(3),
        keys={A.kid: life("x25519", destroyedAt=day(3)), C.kid: life("p256")})


def add_order(vectors: Vectors) -> None:
    """Numbers, times and points."""
    def add(name: str, *lines: Any, **state: Any) -> None:
        vectors.plain(name, [created(), *lines], [], keys={}, **state)

    def restored(n: int, **members: Any) -> dict[str, Any]:
        return {**line("restored", day(2), issuedAt=day(2), **members), "n": n}

    a, b = line("rotated", day(2), writer="a"), line("rotated", day(3), writer="b")
    another = {"n": 4, "hash": b64(fixed("another head", 32))}
    add("a restored line has the next number", restored(2), b, writer="b", issuedAt=day(2), at=day(3))
    add("a restored line has a higher number, and the next line counts on", restored(77, over=[OVER, another]), b,
        writer="b", issuedAt=day(2), at=day(3))
    add("a restored line has the number 2^52", restored(2**52), issuedAt=day(2), at=day(2))
    add("a point with a higher number than that of this log is given up", restored(2, over=[{**OVER, "n": 2**52}]),
        issuedAt=day(2), at=day(2))
    add("a restored line without issuedAt and over", line("restored", day(2)), at=day(2))
    add("restored lines keep the revocations of keys that this log never had, and the first time stays",
        restored(2, revoked={C.kid: day(5), A.kid: day(1)}), line("restored", day(3), revoked={A.kid: day(3), B.kid: day(3)}),
        revoked={C.kid: day(5), A.kid: day(1), B.kid: day(3)}, issuedAt=day(2), at=day(3))
    add("a keyset for recipients has epochs without members", line("policy", day(2), epochs={}), at=day(2))
    add("a restored line has a later issuedAt than its own time", line("published", day(2), issuedAt=day(2)),
        line("restored", day(2), issuedAt=day(30)), issuedAt=day(30), at=day(2))
    add("issuedAt is that of the set before", *[line("published", day(2), issuedAt=day(5))] * 2, issuedAt=day(5),
        at=day(2))
    add("the clock went back and is corrected, and later lines count from there",
        line("rotated", day(20), writer="c"), line("clockCorrected", day(2)), b, writer="b", at=day(3))
    add("the clock went on and is corrected", line("clockCorrected", day(5)), at=day(5))
    add("a line has the time of the one before, in another offset", {**a, "at": day(1, "11:00:00+02:00")}, writer="a",
        at=day(1))
    add("fractions of a second are dropped before times are compared", {**a, "at": day(2, "09:00:00.9Z")},
        {**b, "at": day(2, "09:00:00.1Z")}, writer="b", at=day(2))
    add("a leap second, and small letters in a time", {**a, "at": "2026-06-30t23:59:60z"}, writer="a",
        at="2026-07-01T00:00:00Z")


def add_texts(vectors: Vectors) -> None:
    """Other bytes of the same value, and the limits of texts."""
    def add(name: str, *lines: Any, **state: Any) -> None:
        vectors.plain(name, [created(), *lines], [], keys={}, at=day(2), **state)

    def escaped(row: bytes) -> bytes:
        return row.replace(b"alice", b'\\u0061lice\\/\\"\\\\\\ud83d\\ude00').replace(b'"what"', b'"\\u0077hat"')

    def reverse(row: bytes) -> bytes:
        return support.compact(dict(reversed(json.loads(row).items())))

    a, b = line("rotated", day(2), writer="a"), line("rotated", day(2), writer="b")
    add("who, why and the name of a member have escapes", ({**a, "why": "alice", "r": R}, escaped), b, writer="b")
    add("who and why have spaces, letters beyond ASCII and line separators",
        {**a, "who": " Zo\u00eb \u2028\u2029 \U0001f600 ", "why": "\u00a0\u200b\ufeff", "r": R}, writer="a")
    add("writer has spaces and letters beyond ASCII", {**a, "writer": " Zo\u00eb "}, writer=" Zo\u00eb ")
    long = "\U0001f600" * 64
    add("who, why and writer have 256 bytes", {**a, "who": "\u00e9" * 128, "why": "x" * 256, "r": R, "writer": long},
        writer=long)
    add("who, why and writer have one byte", {**a, "who": "a", "why": "b", "r": R}, writer="a")
    add("the members of a line stand in another order", (a, reverse), b, writer="b")
    lines, keys = [created(keys={A.kid: added(A)})], {A.kid: life("x25519")}
    rows = support.chained(lines)
    last = reverse(support.plain_row(rows, [dict(reversed(A.record().items()))]))
    vectors.accept("the members of the last row and of a private key stand in another order", rows, last + b"\n",
                   {"keys": keys, "at": day(1)})
    vectors.plain("the material stands in another order than the log's keys",
                  [created(keys={A.kid: added(A), B.kid: added(B)})], records(B, A),
                  keys={A.kid: life("x25519"), B.kid: life("p256", psk=True)}, at=day(1))
    text = support.compact({"keys": records(A)})[8:-1].replace(b'"kty"', b'"\\u006bty"')
    digest = b64(hashlib.sha256(rows + text).digest())
    vectors.accept("a private key has escapes, and the digest is that of the bytes", rows,
                   b'{"v":1,"keys":' + text + b',"digest":"' + digest.encode() + b'"}\n', {"keys": keys, "at": day(1)})


def add_encrypted(vectors: Vectors) -> None:
    """Keys under one and several secrets, and what is read without one."""
    keys = {A.kid: life("x25519", retiresAt=day(9)), B.kid: life("p256", psk=True)}
    base = {"keys": keys, "secrets": ["first"], "at": day(2)}

    def add(name: str, passphrase: Optional[str], lines: Lines = ENCRYPTED, keys: Any = (A, B), secrets: Any = None,
            state: dict[str, Any] = base, **options: Any) -> None:
        rows, last = sealed(lines, records(*keys), secrets, name, **options)
        vectors.accept(name, rows, support.compact(last) + b"\n", state, passphrase)

    def named(*names: str) -> tuple[Lines, dict[str, Any]]:
        return [{**ENCRYPTED[0], "secrets": list(names)}, ENCRYPTED[1]], {**base, "secrets": list(names)}

    add("keys encrypted under one passphrase", PASSPHRASE)
    add("the log of encrypted keys is read without a secret", None)
    lines, state = named(*SECRETS)
    for which, passphrase in (("first", PASSPHRASE), ("last", OTHER)):
        add(f"the {which} of three secrets, one of which is a command", passphrase, lines, secrets=SECRETS, state=state)
    eight: dict[str, Any] = {f"s{number}": f"passphrase {number}" for number in range(7)} | {"._-": fixed("x", 1)}
    lines, state = named(*eight)
    add("the seventh of eight secrets", "passphrase 6", lines, secrets=eight, state=state)
    lines, state = named("n" * 64)
    add("a command alone: the log is read", None, lines, secrets={"n" * 64: fixed("a", 32) * 128}, state=state)
    for n, r, p in ((2, 1, 1), (64, 8, 2), (2**15, 1, 1)):
        add(f"scrypt with N {n}, r {r} and p {p}", PASSPHRASE, n=n, r=r, p=p)
    lines = [created("sender", keys={S.kid: added(S, destroyedAt=day(1))}, secrets=["first"])]
    add("encrypted keys of a keyset whose only key is destroyed", PASSPHRASE, lines, (),
        state={"keys": {S.kid: life("ed25519", destroyedAt=day(1))}, "secrets": ["first"], "at": day(1)})
    for kind, key, algorithm in (("shared", M, "shared"), ("publisher", P, "ed25519-publisher")):
        lines = [created(kind, keys={key.kid: added(key)}, secrets=["first"])]
        add(f"encrypted keys of kind {kind}", PASSPHRASE, lines, (key,),
            state={"keys": {key.kid: life(algorithm)}, "secrets": ["first"], "at": day(1)})
    def escaped(locks: str) -> str:
        return locks.replace('"name":"first"', '"n\\u0061me":"\\u0066irst"')

    rows, last = sealed(ENCRYPTED, records(A, B), change_locks=escaped)
    locks = dump(last["sealed"]["locks"])
    vectors.accept("the secrets have escapes, and the encrypted keys authenticate their bytes", rows,
                   support.compact(last).replace(locks.encode(), escaped(locks).encode()) + b"\n", base, PASSPHRASE)
    rows, last = sealed(ENCRYPTED, records(A, B))
    last["sealed"] = dict(reversed(last["sealed"].items()))
    vectors.accept("the members of the last row of encrypted keys stand in another order", rows,
                   support.compact(dict(reversed(last.items()))) + b"\n", base, PASSPHRASE)


# --- Extends ----------------------------------------------------------------------------------------------------------


def add_extends(vectors: Vectors) -> None:
    """Points that a log has, and logs that it continues."""
    first = support.chained([created()])
    two_lines = [created(), line("rotated", day(2), writer="a")]
    two, three = support.chained(two_lines), support.chained([*two_lines, line("rotated", day(3), writer="b")])
    fork_lines = [*two_lines, *(line("rotated", day(number), writer="c") for number in (3, 4, 5))]
    fork, long_fork, longest_fork = (support.chained(fork_lines[:count]) for count in (3, 4, 5))

    def restored(n: int, *over: dict[str, Any]) -> bytes:
        return support.chained([*two_lines, {**line("restored", day(5), issuedAt=day(5), over=list(over)), "n": n}])

    given_up = restored(9, support.head(long_fork))
    point, log = vectors.extend_point, vectors.extend_log
    for what, rows in (("its own last line", three), ("its first line", first), ("a line between", two)):
        point(f"a log extends the point of {what}", three, True, support.head(rows))
    point("a log doesn't extend the point of a later line", two, False, support.head(three))
    point("a log doesn't extend the point of a line of another log", three, False, support.head(fork))
    point("the hash of a line with another number is no point", three, False, {**support.head(two), "n": 1})
    point("the number of a line with another hash is no point", three, False,
          {**support.head(two), "hash": support.head(three)["hash"]})
    point("the number that a restored line skips is no point", given_up, False, {**support.head(given_up), "n": 8})
    point("a restored line's own point", given_up, True, support.head(given_up))
    point("a point that a restored line gives up", given_up, True, support.head(long_fork))
    point("an earlier point of a log that was given up isn't one of this log", given_up, False, support.head(fork))
    point("a point that is given up, with another number", given_up, False, {**support.head(long_fork), "n": 5})
    log("a log extends itself", three, True, three)
    log("a log extends one that it begins with", three, True, two)
    log("a log extends its first line alone", three, True, first)
    log("a log doesn't extend one that forked from it", three, False, fork)
    log("a log doesn't extend a longer one", two, False, three)
    log("a log extends one that it gives up", given_up, True, long_fork)
    log("a log doesn't extend the beginning of one that it gives up", given_up, False, fork)
    log("a log doesn't extend one that went on after the point that was given up", given_up, False, longest_fork)
    log("a log that was given up doesn't extend the one that goes on", long_fork, False, given_up)
    second, both = restored(20, support.head(given_up)), restored(30, support.head(fork), support.head(long_fork))
    log("a log extends a restored one that it gives up", second, True, given_up)
    log("a log doesn't extend what only the log that it gives up gave up", second, False, long_fork)
    log("a log extends the first of two that it gives up", both, True, fork)
    log("a log extends the second of two that it gives up", both, True, long_fork)
    log("a log doesn't extend that of another keyset", three, False, support.chained([{**created(), "id": NEXT_ID}]))
    later = [line("restored", day(5), issuedAt=day(5), over=[support.head(fork)]), line("rotated", day(6), writer="e")]
    log("a line after the restored one doesn't change what was given up", support.chained([*two_lines, *later]), True,
        fork)


def main() -> None:
    vectors = Vectors()
    for add in (add_kinds, add_actions, add_moments, add_order, add_texts, add_encrypted, *keyset_log_lines.PARTS,
                *keyset_log_last_rows.PARTS, add_extends):
        add(vectors)
    annotate.printed("keyset-log-v1", vectors.found)


if __name__ == "__main__":
    main()
