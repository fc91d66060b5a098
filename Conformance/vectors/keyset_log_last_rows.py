"""The refused last rows of make_keyset_log.py: each has one fault, below a right log."""
from __future__ import annotations

import hashlib
import json
from typing import Any

from keyset_logs import (  # first: it finds support
    A, B, C, ENCRYPTED, KEYED, M, N, NO_NAMES, P, PASSPHRASE, S, SECRETS, VALUES, Vectors, added, at, changed,
    created, day, fixed, flipped, life, line, records, sealed, without,
)
import support
from make_pushcrypt_v1 import KEYS
from pushcrypt._json import b64, unb64


def add_material(vectors: Vectors) -> None:
    """Private keys that aren't those of the log, in clear."""
    lost, (a, b) = KEYS["other p256"], records(A, B)
    rows = support.chained([created(keys={
        A.kid: added(A), B.kid: added(B), C.kid: added(C, destroyedAt=day(1)), lost.kid: added(lost, lost=True)})])
    state = {A.kid: life("x25519"), B.kid: life("p256", psk=True), C.kid: life("p256", destroyedAt=day(1)),
             lost.kid: life("p256", lost=True)}
    vectors.accept("a destroyed key, a lost key and two others", rows, support.plain_row(rows, [a, b]),
                   {"keys": state, "at": day(1)})

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
    add("the private key is that of another key", {**a, "d": other["d"]}, b, code="malformed")
    add("the public key is that of another key", {**a, "x": other["x"]}, b, code="malformed")
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
    for what, code, keys in (("another key", "otherKeys", [N.record()]), ("no key", "otherKeys", []),
                             ("another key under its kid", "malformed", [{**N.record(), "kid": M.kid}]),
                             ("a key for recipients", "otherKeys", [A.record()]),
                             ("the key of a device", "malformed", [KEYS["device"].record()])):
        vectors.refuse(f"in the place of a shared key there is {what}", code, 2,
                       shared + support.plain_row(shared, keys))
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
    for what, value in (("of 31 bytes", b64(data[:-1])), ("of 33 bytes", b64(data + b"\0")), ("padded", right + "="),
                        ("empty", "")):
        add(f"digest {what}", "malformed", digest=value)
    jwks = support.compact({"k": keys})[5:-1]
    for what, digest in (*flipped(data), ("to that of the keys alone", hashlib.sha256(jwks).digest()),
                         ("to that of the log alone", hashlib.sha256(rows).digest()),
                         ("to that of the log without its last LF", hashlib.sha256(rows[:-1] + jwks).digest())):
        add(f"digest is changed {what}", "wrongDigest", digest=b64(digest))
    vectors.refuse("a private key is changed", "wrongDigest", 3,
                   text.replace(keys[0]["d"].encode(), b64(bytes(32)).encode()))
    vectors.refuse("who of the last line is changed", "wrongDigest", 3,
                   text.replace(b'alice","what":"ro', b'malice","what":"ro'))
    longer = support.chained([*KEYED, line("rotated", day(4), writer="b")])
    vectors.refuse("a line is added above the last row", "wrongDigest", 4, longer + support.plain_row(rows, keys))
    shorter = support.chained(KEYED[:1])
    vectors.refuse("the last line is missing", "wrongDigest", 2, shorter + support.plain_row(rows, keys))
    later = support.compact({"v": 2, "content": "x"}) + b"\n"
    vectors.refuse("a later version has other members in its last row", "unsupportedVersion", 3, rows + later)
    unknown = support.chained([*KEYED, line("added", day(3))])
    vectors.refuse("a later version has an action that version 1 doesn't have", "unsupportedVersion", 4,
                   unknown + later)
    other = sealed(KEYED, keys)[1]
    for name in ("sealed", "mac"):
        add(f"keys in clear with {name}", "malformed", **{name: other[name]})
    vectors.refuse("keys in clear, although a passphrase is given", "notEncrypted", 3, text, PASSPHRASE)


def add_sealed_forms(vectors: Vectors) -> None:
    """Every member of a last row with encrypted keys: missing, another type, out of range."""
    secrets = {name: SECRETS[name] for name in ("first", "kms")}
    rows, base = sealed([created(secrets=list(secrets))], [], secrets, "forms")
    vectors.accept("encrypted without a key", rows, support.compact(base) + b"\n",
                   {"keys": {}, "secrets": list(secrets), "at": day(1)}, PASSPHRASE)

    def add(name: str, path: str, value: Any, code: str = "malformed") -> None:
        vectors.refuse(name, code, 2, rows + support.compact(changed(base, path, value)) + b"\n", PASSPHRASE)

    for version in (0, 2):
        add(f"version {version} of encrypted keys", "v", version, "unsupportedVersion")
    add("encrypted keys with keys in clear", "keys", [])
    add("encrypted keys with a digest", "digest", b64(bytes(32)))
    first, scrypt = "sealed locks 0", "sealed locks 0 passphrase"
    paths = {"sealed": "sealed", "mac": "mac", "locks": "sealed locks", "dataKey": "sealed dataKey",
             "keys of sealed": "sealed keys", "name of a secret": f"{first} name", "passphrase of a secret": scrypt,
             "key of a secret": f"{first} key"}
    paths |= {f"{name} of scrypt": f"{scrypt} {name}" for name in ("n", "r", "p", "salt", "check")}
    for name, path in paths.items():
        for what, value in (("missing", ...), ("null", None), ("true", True), ("an array", []), ("a fraction", 1.5),
                            ("empty", "")):
            add(f"{name} is {what}", path, value)
    for name, path in (("sealed", "sealed"), ("a secret", first), ("scrypt", scrypt)):
        add(f"{name} has an unknown member", f"{path} more", 1)
    for name in ("mac", "dataKey", "key of a secret", "salt of scrypt", "check of scrypt"):
        value = at(base, paths[name])
        data = unb64(value)
        for what, other in (
            (f"of {len(data) - 1} bytes", b64(data[:-1])), (f"of {len(data) + 1} bytes", b64(data + b"\0")),
            ("padded", value + "=" * (-len(value) % 4 or 4)), ("in base64's alphabet", "+" + value[1:]),
        ):
            add(f"{name} {what}", paths[name], other)
    for name, size in (("mac", 32), ("dataKey", 60)):
        text = support.compact(changed(base, paths[name], b64(bytes(size - 1)))) + b"\n"
        vectors.refuse(f"{name} of {size - 1} bytes, and no secret is given", "malformed", 2, rows + text)
    add("keys of sealed have 27 bytes", "sealed keys", b64(bytes(27)))
    add("keys of sealed are padded", "sealed keys", at(base, "sealed keys") + "=")
    for name, values in (("n", (0, 1, 3, 2**21, -2)), ("r", (0, 33, -1)), ("p", (0, 17, -1))):
        for number in values:
            add(f"{name} of scrypt is {number}", f"{scrypt} {name}", number)
    add("scrypt needs more than 1 GiB", scrypt, {**at(base, scrypt), "n": 2**20, "r": 9})
    for number in (2**16, 2**20):  # RFC 7914 section 2: N < 2^(16 r)
        add(f"n of scrypt is {number} with r 1", scrypt, {**at(base, scrypt), "n": number, "r": 1})
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

    def add(name: str, last: dict[str, Any], code: str = "notAuthentic", text: bytes = rows,
            passphrase: str = PASSPHRASE) -> None:
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
    another = sealed(ENCRYPTED, keys, SECRETS, "another file")[1]
    for name in ("dataKey", "keys"):
        add(f"{name} is that of another file", changed(base, f"sealed {name}", another["sealed"][name]))
    add("mac is that of another file with the same log", {**base, "mac": another["mac"]})
    add("sealed is that of another file with the same log", {**base, "sealed": another["sealed"]})
    add("mac is made with another history key", sealed(ENCRYPTED, keys, SECRETS, "changes", mac_key=bytes(32))[1])
    forged = [ENCRYPTED[0], {**ENCRYPTED[1], "who": "malice"}]
    for what, lines in (("who of line 1", [{**ENCRYPTED[0], "who": "malice"}, ENCRYPTED[1]]),
                        ("who of the last line", forged),
                        ("a moment", [ENCRYPTED[0], changed(ENCRYPTED[1], f"keys {A.kid} retiresAt", day(10))])):
        name = f"{what} is changed above encrypted keys, and the lines are chained again"
        add(name, base, text=support.chained(lines))
    add("the last line is changed, and mac is made with an attacker's history key",
        {**base, "mac": sealed(forged, keys, SECRETS, "attacker")[1]["mac"]}, text=support.chained(forged))
    longer = support.chained([*ENCRYPTED, line("rotated", day(3), writer="b")])
    add("a line is added above encrypted keys", base, text=longer)
    add("the last line above encrypted keys is missing", base, text=support.chained(ENCRYPTED[:1]))
    add("the passphrase has a line feed more", base, "wrongSecret", passphrase=PASSPHRASE + "\n")
    decomposed = PASSPHRASE.replace("\u00e9", "e\u0301")
    add("the passphrase is in another normal form", base, "wrongSecret", passphrase=decomposed)
    add("there are secrets that the log doesn't name", base, "otherSecrets")
    more = [{**ENCRYPTED[0], "secrets": ["first", "second"]}, ENCRYPTED[1]]
    text, last = sealed(more, keys, None, "other secrets")
    add("a secret that the log names isn't there", last, "otherSecrets", text=text)
    only = sealed(ENCRYPTED, keys, {"kms": fixed("x", 32)}, "command")[1]
    add("a passphrase is given for a command", only, "secretNeeded")


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
        ("have a history key of 31 bytes", "malformed", keys, b64(bytes(31))),
        ("lack a key", "otherKeys", keys[:1], history), ("have a key more", "otherKeys", [*keys, C.record()], history),
        ("have a key twice", "otherKeys", [*keys, keys[0]], history),
        ("lack a psk", "otherKeys", [keys[0], without(keys[1], "psk")], history),
        ("have a key that is public only", "otherKeys", [without(keys[0], "d"), keys[1]], history),
    ):
        add(name, code, support.compact({"keys": these, "history": key}))
    right = support.compact({"keys": keys, "history": history})
    add("have an unknown member", "malformed", right[:-1] + b',"more":1}')
    add("have a member twice", "malformed", right[:-1] + b',"keys":[]}')
    add("aren't JSON", "malformed", b"x")
    add("have bytes behind them", "malformed", right + b"x")


PARTS = (add_material, add_plain_rows, add_sealed_forms, add_changed_seals, add_sealed_contents)
