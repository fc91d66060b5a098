"""Writes keyset-at-rest-v1.json: encrypted keysets, one written by Swift, whose file is named, and one by the Python package.

Run with an interpreter that has the package of Examples/senders/python:
    python make_keyset_at_rest.py keyset.json > keyset-at-rest-v1.json
Every run draws new salts, keys and nonces, so the file differs; the one in the repository was made once. Its keys are
those of pushcrypt-v1.json: "p256 psk", the tombstone of "x25519", "p256".
"""
from __future__ import annotations

import json
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "Interop", "python"))
sys.dont_write_bytecode = True

import support  # noqa: E402
from pushcrypt._json import parse  # noqa: E402

PASSPHRASE = "correct horse battery staple, \u00e9\u0301"
NAMES = ["p256 psk", "p256"]


def main() -> None:
    """Check what Swift wrote, and print both."""
    with open(os.path.join(FOLDER, "pushcrypt-v1.json"), encoding="utf-8") as file:
        every = json.load(file)["keys"]
    keys = [every[name] for name in NAMES]
    with open(sys.argv[1], encoding="utf-8") as file:
        swift = file.read()
    assert support.open_keyset(swift, PASSPHRASE) == keys
    root, _ = parse(swift.encode())
    _, start, end = root.spans["pushcrypt"]
    metadata = swift[start:end]
    python = support.seal_keyset(metadata, keys, PASSPHRASE, 4096, 4, 3)
    assert support.open_keyset(python, PASSPHRASE) == keys
    entries = [{"by": "Swift", "text": swift}, {"by": "Python", "text": python}]
    print(json.dumps({"passphrase": PASSPHRASE, "keys": keys, "keysets": entries}, indent=1))


main()
