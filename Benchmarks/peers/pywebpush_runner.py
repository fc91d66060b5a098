"""pywebpush: RFC 8291, as most Python backends use it. It only encrypts."""

import os
from base64 import urlsafe_b64encode

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pywebpush import WebPusher

from runner import MESSAGE, Operation, serve


def seal() -> Operation:
    public_key = ec.generate_private_key(ec.SECP256R1()).public_key()
    point = public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    keys = {"p256dh": urlsafe_b64encode(point), "auth": urlsafe_b64encode(os.urandom(16))}
    pusher = WebPusher({"endpoint": "https://push.example.com/1", "keys": keys})
    return lambda: pusher.encode(MESSAGE)


serve("pywebpush", ["pywebpush", "http_ece"], {"seal1": seal})
