#!/usr/bin/env python3
"""Stands for AWS KMS and for Vault with its transit engine: kms.py KEY...

It answers their HTTP requests on a free port of 127.0.0.1, which it prints, and has the keys KEY. Like both it authenticates
what it decrypts and the context. It ends with its standard input.
"""
import base64
import hashlib
import hmac
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEYS = {name: os.urandom(32) for name in sys.argv[1:]}
TOKEN = "s.right"
NONCE, TAG, LIMIT = 16, 32, 4_096


class Refused(Exception):
    """With the status, and the error's type in AWS KMS."""


def stream(key: bytes, nonce: bytes, text: bytes) -> bytes:
    blocks = (hmac.digest(key, b"stream" + nonce + bytes([block]), "sha256") for block in range(len(text) // 32 + 1))
    return bytes(one ^ other for one, other in zip(text, b"".join(blocks)))


def tag(key: bytes, context: bytes, message: bytes) -> bytes:
    return hmac.digest(key, hashlib.sha256(b"tag" + context).digest() + message, "sha256")


def encrypt(name: str, context: bytes, text: bytes) -> bytes:
    if name not in KEYS or not 1 <= len(text) <= LIMIT:
        raise Refused(400, "NotFoundException")
    nonce = os.urandom(NONCE)
    message = nonce + stream(KEYS[name], nonce, text)
    return message + tag(KEYS[name], context, message)


def decrypt(name: str, context: bytes, blob: bytes) -> bytes:
    if name not in KEYS:
        raise Refused(400, "NotFoundException")
    message, found = blob[:-TAG], blob[-TAG:]
    if len(message) <= NONCE or not hmac.compare_digest(found, tag(KEYS[name], context, message)):
        raise Refused(400, "InvalidCiphertextException")
    return stream(KEYS[name], message[:NONCE], message[NONCE:])


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def unb64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise Refused(400, "ValidationException") from error


class Service(BaseHTTPRequestHandler):
    def aws(self, operation: str, request: dict) -> dict:
        """https://docs.aws.amazon.com/kms/latest/APIReference/API_Encrypt.html"""
        name = request["KeyId"].removeprefix("alias/")
        context = json.dumps(request.get("EncryptionContext", {}), sort_keys=True).encode()
        if operation == "Encrypt":
            return {"KeyId": name, "CiphertextBlob": b64(encrypt(name, context, unb64(request["Plaintext"])))}
        return {"KeyId": name, "Plaintext": b64(decrypt(name, context, unb64(request["CiphertextBlob"])))}

    def vault(self, operation: str, name: str, request: dict) -> dict:
        """https://developer.hashicorp.com/vault/api-docs/secret/transit"""
        if self.headers["X-Vault-Token"] != TOKEN:
            raise Refused(403, "permission denied")
        context = unb64(request.get("associated_data", ""))
        if operation == "encrypt":
            return {"data": {"ciphertext": "vault:v1:" + b64(encrypt(name, context, unb64(request["plaintext"]))),
                             "key_version": 1}}
        version, blob = request["ciphertext"].rsplit(":", 1)
        if version != "vault:v1":
            raise Refused(400, "invalid ciphertext: no prefix")
        return {"data": {"plaintext": b64(decrypt(name, context, unb64(blob)))}}

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        service, _, operation = self.headers.get("X-Amz-Target", "").partition(".")
        status = 200
        try:
            if service == "TrentService":
                answer = self.aws(operation, request)
            else:
                mount, operation, name = self.path.removeprefix("/v1/").split("/")
                answer = self.vault(operation, name, request)
        except Refused as refused:
            status, kind = refused.args
            answer = {"__type": kind} if service else {"errors": [kind]}
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.1" if service else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_PUT = do_POST

    def log_message(self, format: str, *arguments: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
print(server.server_port, flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
