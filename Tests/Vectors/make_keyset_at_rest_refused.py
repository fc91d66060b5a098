"""Writes keyset-at-rest-refused-v1.json with the Python package: an encrypted keyset, changed in every member.

Run with an interpreter that has the package of Examples/senders/python:
    python make_keyset_at_rest_refused.py > keyset-at-rest-refused-v1.json
Salts, keys and nonces come from labels, so every run makes the same file.
"""
from __future__ import annotations

import copy
import hashlib
import json
import os
import sys
from typing import Any, Optional

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Interop", "python"))
sys.dont_write_bytecode = True

import support  # noqa: E402
from make_pushcrypt_v1 import KEYS  # noqa: E402
from pushcrypt import PushCryptError  # noqa: E402
from pushcrypt._json import b64, unb64  # noqa: E402

PASSPHRASE = "correct horse"
NAMES = ("p256 psk", "x25519")
TIME = "2026-03-01T09:00:00Z"
RECORDS = [KEYS[name].record() for name in NAMES]


def random(label: str) -> support.Random:
    """Bytes from a label and a counter."""
    calls: list[int] = []

    def draw(count: int) -> bytes:
        calls.append(count)
        return hashlib.sha256(f"pushcrypt test keyset: {label} {len(calls)}".encode()).digest()[:count]
    return draw


def metadata(**changed: Any) -> str:
    lives = {KEYS[name].kid: {"createdAt": TIME, "activatesAt": TIME, "suite": KEYS[name].kind} for name in NAMES}
    lives[KEYS["p256 psk"].kid]["psk"] = True
    member = {"seq": 3, "updatedAt": TIME, "kind": "recipient", "keys": lives, **changed}
    return json.dumps({name: value for name, value in member.items() if value is not ...})


def file(sealed: Any, member: str, digest: Any = None, more: str = "") -> str:
    """The text of a file; its digest is the right one unless another is given."""
    text = f'{{"sealed": {json.dumps(sealed)}, "pushcrypt": {member}{more}'
    right = b64(hashlib.sha256(text.encode()).digest())
    return text + (f', "digest": {json.dumps(right if digest is None else digest)}}}' if digest is not ... else "}")


def sealed_member(member: str, keys: Any = None, label: str = "base", n: int = 16, r: int = 8, p: int = 1) -> dict[str, Any]:
    return support.sealed_keyset(member, RECORDS if keys is None else keys, PASSPHRASE, n, r, p, random(label))


class Vectors:
    """Collects files, each checked against the package."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def add(self, name: str, failure: Optional[str], text: str) -> None:
        try:
            assert support.open_keyset(text, PASSPHRASE) == RECORDS and failure is None, name
        except PushCryptError as refusal:
            assert refusal.code == failure, (name, refusal)
        self.found.append({"name": name, "failure": failure, "text": text})


def changed(sealed: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """With another value at `path`; `...` takes the member out."""
    result = copy.deepcopy(sealed)
    *parents, name = path.split(".")
    parent = result[parents[0]] if parents else result
    if value is ...:
        del parent[name]
    else:
        parent[name] = value
    return result


def add_sealed(vectors: Vectors) -> None:
    """Every member of `sealed`: missing, of another type, changed, too short, too long."""
    member = metadata()
    base = sealed_member(member)
    vectors.add("whole", None, file(base, member))
    vectors.add("without a digest", None, file(base, member, digest=...))
    vectors.add("with members that nobody knows", None, file({**base, "more": 1}, member, more=', "more": []'))
    for n, r, p in ((2, 1, 1), (1024, 8, 2), (16, 32, 16)):
        vectors.add(f"under scrypt of N {n}, r {r}, p {p}", None, file(sealed_member(member, n=n, r=r, p=p), member))
    paths = ["v", "dataKey", "keys", "passphrase"] + [f"passphrase.{name}" for name in ("n", "r", "p", "salt", "check")]
    for path in paths:
        for what, value in (("missing", ...), ("null", None), ("true", True), ("an array", []), ("a fraction", 1.5)):
            vectors.add(f"{path} {what}", "malformed", file(changed(base, path, value), member))
    for path, size, failure in (("passphrase.salt", 16, "wrongSecret"), ("passphrase.check", 16, "wrongSecret"),
                                ("dataKey", 60, "damaged"), ("keys", None, "damaged")):
        value = base["passphrase"][path[11:]] if "." in path else base[path]
        data = unb64(value)
        for what, other in (("at its start", bytes([data[0] ^ 1]) + data[1:]), ("at its end", data[:-1] + bytes([data[-1] ^ 1]))):
            vectors.add(f"{path} changed {what}", failure, file(changed(base, path, b64(other)), member))
        wrong_size = "malformed" if size else "damaged"
        vectors.add(f"{path} too short by a byte", wrong_size, file(changed(base, path, b64(data[:-1])), member))
        vectors.add(f"{path} too long by a byte", wrong_size, file(changed(base, path, b64(data + b"\0")), member))
        for what, text in (("empty", ""), ("padded", value + "="), ("in base64's alphabet", "+" + value[1:])):
            vectors.add(f"{path} {what}", "malformed", file(changed(base, path, text), member))
    vectors.add("keys of 27 bytes", "malformed", file(changed(base, "keys", b64(bytes(27))), member))
    vectors.add("keys of 28 bytes", "damaged", file(changed(base, "keys", b64(bytes(28))), member))
    for path, values in (("v", (0, 2, -1)), ("passphrase.n", (0, 1, 3, -2, 2**21, 2**53)), ("passphrase.r", (0, 33, -1)),
                         ("passphrase.p", (0, 17, -1))):
        for value in values:
            vectors.add(f"{path} is {value}", "malformed", file(changed(base, path, value), member))
    for path, value in (("passphrase.n", 32), ("passphrase.r", 4), ("passphrase.p", 2)):
        vectors.add(f"{path} changed to {value}", "wrongSecret", file(changed(base, path, value), member))
    too_much = changed(changed(base, "passphrase.n", 2**20), "passphrase.r", 9)
    vectors.add("scrypt above 1 GiB", "malformed", file(too_much, member))
    vectors.add("under a passphrase and a command", "malformed", file({**base, "command": True}, member))
    other = sealed_member(member, label="other")
    vectors.add("keys of another file", "damaged", file({**base, "keys": other["keys"]}, member))
    vectors.add("data key of another file", "damaged", file({**base, "dataKey": other["dataKey"]}, member))
    for what, value in (("null", None), ("an array", []), ("empty", {})):
        vectors.add(f"sealed is {what}", "malformed", file(value, member))
    text = file(base, member)
    vectors.add("sealed twice", "malformed", text.replace('"sealed":', '"sealed": {}, "sealed":'))
    vectors.add("keys in clear beside it", "malformed", file(base, member, more=', "keys": []'))
    vectors.add("cut short", "malformed", text[:-1])
    vectors.add("bytes behind it", "malformed", text + "x")


def add_metadata(vectors: Vectors) -> None:
    """What stands in clear is authenticated; the digest finds accidents."""
    member = metadata()
    base, lives = sealed_member(member), json.loads(member)["keys"]
    for what, other in (("seq lower", metadata(seq=2)), ("updatedAt earlier", metadata(updatedAt="2026-02-01T09:00:00Z")),
                        ("a key's times", member.replace(TIME, "2026-03-01T09:00:01Z", 2)), ("a member more", metadata(more=1)),
                        ("a space more", member.replace("{", "{ ", 1)), ("a key's psk", member.replace(', "psk": true', ""))):
        vectors.add(f"metadata changed: {what}", "damaged", file(base, other))
    for what, changes in (("seq missing", {"seq": ...}), ("seq a string", {"seq": "3"}), ("seq negative", {"seq": -1}),
                          ("keys missing", {"keys": ...}), ("keys an array", {"keys": []}), ("a kid that is none", {"keys": {"x": {}}})):
        other = metadata(**changes)
        vectors.add(f"metadata: {what}", "malformed", file(sealed_member(other), other))
    kid = KEYS["x25519"].kid
    for what, value in (("missing", ...), ("unknown", "rsa"), ("a number", 1)):
        other = metadata(keys={**lives, kid: {k: v for k, v in {**lives[kid], "suite": value}.items() if v is not ...}})
        vectors.add(f"metadata: suite {what}", "malformed", file(sealed_member(other), other))
    for what, digest in (("another", b64(bytes(32))), ("empty", ""), ("too short", b64(bytes(31))), ("null", 0), ("an array", [])):
        vectors.add(f"digest {what}", "damaged", file(base, member, digest=digest))
    vectors.add("pushcrypt missing", "malformed", f'{{"sealed": {json.dumps(base)}}}')


def add_contents(vectors: Vectors) -> None:
    """What is encrypted is checked like any other keys."""
    member = metadata()

    def add(name: str, failure: str, keys: Any) -> None:
        vectors.add(f"inside: {name}", failure, file(sealed_member(member, keys), member))

    add("a key missing", "malformed", RECORDS[:1])
    add("no key", "malformed", [])
    add("a key more", "malformed", RECORDS + [KEYS["p256"].record()])
    add("a key twice", "duplicateKey", RECORDS + RECORDS[:1])
    add("another kid", "kidMismatch", [RECORDS[0], {**RECORDS[1], "kid": "AAAAAAAAAAA"}])
    add("alg of another kind", "unsupportedKey", [RECORDS[0], {**RECORDS[1], "alg": "HPKE-7"}])
    add("d of another key", "invalidKey", [RECORDS[0], {**RECORDS[1], "d": KEYS["other x25519"].record()["d"]}])
    add("d of 31 bytes", "malformed", [RECORDS[0], {**RECORDS[1], "d": b64(bytes(31))}])
    add("an object in the place of the array", "malformed", {})


def main() -> None:
    vectors = Vectors()
    for add in (add_sealed, add_metadata, add_contents):
        add(vectors)
    print(json.dumps({"passphrase": PASSPHRASE, "keys": RECORDS, "vectors": vectors.found}, indent=1))


main()
