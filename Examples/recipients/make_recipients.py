#!/usr/bin/env python3
"""Makes an input file for `recipients import`, to try out batches: JSON lines, each a registration record.

    pip install cryptography
    umask 077
    python3 make_recipients.py 1000000 > devices.jsonl
    python3 make_recipients.py 1000 --suite 1 --psk --private private.jsonl --every 100 > devices.jsonl
    pushcrypt recipients import devices.jsonl --into devices.sqlite
    pushcrypt recipients check devices.sqlite

With --private it writes the private keys of some records to a file, a JWK on each line, to open messages that were
sealed to them. In production the devices create the keys, and private keys never leave the devices.
"""

import argparse
import base64
import hashlib
import json
import os
import sys

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def x25519():
    """Returns the members of RFC 7638's thumbprint, and d."""
    key = X25519PrivateKey.generate()
    public = key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    private = key.private_bytes(
        serialization.Encoding.Raw, serialization.PrivateFormat.Raw, serialization.NoEncryption())
    return {"crv": "X25519", "kty": "OKP", "x": b64(public)}, b64(private)


def p256():
    key = ec.generate_private_key(ec.SECP256R1())
    numbers = key.private_numbers()
    x, y = (value.to_bytes(32, "big") for value in (numbers.public_numbers.x, numbers.public_numbers.y))
    private = numbers.private_value.to_bytes(32, "big")
    return {"crv": "P-256", "kty": "EC", "x": b64(x), "y": b64(y)}, b64(private)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--suite", type=int, choices=[1, 2], default=2)
    parser.add_argument("--psk", action="store_true", help="add a pre-shared key to each record")
    parser.add_argument("--private", metavar="FILE", help="write private keys to this file")
    parser.add_argument("--every", type=int, default=1000, metavar="N", help="private keys: of every Nth record (1000)")
    options = parser.parse_args()
    make, algorithm = (p256, "HPKE-7") if options.suite == 1 else (x25519, "HPKE-3")
    opened = os.open(options.private, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600) if options.private else None
    private = os.fdopen(opened, "w") if opened is not None else None
    for number in range(options.count):
        public, d = make()
        digest = hashlib.sha256(json.dumps(public, sort_keys=True, separators=(",", ":")).encode()).digest()
        record = public | {"alg": algorithm, "kid": b64(digest[:8])}
        if options.psk:
            record["psk"] = b64(os.urandom(32))
        print(json.dumps(record, separators=(",", ":")))
        if private and number % options.every == 0:
            print(json.dumps(record | {"d": d}, separators=(",", ":")), file=private)
    if private:
        private.close()


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.exit(1)
