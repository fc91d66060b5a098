"""Writes key-containers.json with the openssl tool: python make_key_containers.py > key-containers.json

Needs OpenSSL 3 with its legacy provider. Every run makes new keys, so the file differs; the one in the repository was
made once, with OpenSSL 3.0.22.
"""
from __future__ import annotations

import os
import re
import subprocess
import tempfile
from typing import Optional

import annotate

PASSPHRASE = "correct horse – battery"
# Few iterations, so that tests can open a container thousands of times.
PBES2 = "openssl pkcs8 -topk8 -passout file:pass -iter 1000 -v2"
SCRYPT = "openssl pkcs8 -topk8 -passout file:pass -scrypt -scrypt_N 1024 -scrypt_r 8"
LEGACY = "-provider legacy -provider default"

OURS = {"p256": "EC -pkeyopt ec_paramgen_curve:P-256", "x25519": "X25519", "ed25519": "ED25519"}
OTHERS = {
    "rsa": ("RSA", "RSA -pkeyopt rsa_keygen_bits:1024"),
    "p384": ("P-384", "EC -pkeyopt ec_paramgen_curve:P-384"),
    "k256": ("secp256k1", "EC -pkeyopt ec_paramgen_curve:secp256k1"),
    "ed448": ("Ed448", "ED448"),
    "x448": ("X448", "X448"),
    "explicit": (
        "P-256 with explicit parameters", "EC -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit"),
}
RFC8410 = {
    "algorithm": "ed25519", "isEncrypted": False,
    "publicKey": "19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1",
}
RFC8410_SEED = "d4ee72dbf913584ad5b6d8f1f769f8ad3afe7c28cbf1d4fbe097a88f44755842"

keys: list[dict] = []
refused: list[dict] = []
pairs: dict[str, dict[str, str]] = {}


def run(command: str) -> str:
    return subprocess.run(command, shell=True, check=True, capture_output=True).stdout.decode()


def numbers(file: str) -> dict[str, str]:
    """priv and pub, as `openssl pkey -text` prints them."""
    text = run(f"openssl pkey -in {file} -text -noout")
    found = re.findall(r"(priv|pub):\n((?:    [0-9a-f:]+\n)+)", text)
    return {name: re.sub(r"[^0-9a-f]", "", digits) for name, digits in found}


def key(name: str, algorithm: str, command: str, private: bool = True, encrypted: bool = False) -> None:
    pair = pairs[algorithm]
    keys.append({
        "name": name, "madeBy": command, "algorithm": algorithm, "isEncrypted": encrypted,
        "publicKey": pair["pub"], "privateKey": pair["priv"] if private else None, "pem": run(command)})


def refuse(name: str, code: str, command: str) -> None:
    refused.append({"name": name, "madeBy": command, "code": code, "pem": run(command)})


def make_keys() -> None:
    for algorithm, options in OURS.items():
        run(f"openssl genpkey -algorithm {options} -out {algorithm}.pem")
        pairs[algorithm] = numbers(f"{algorithm}.pem")
        source = f"-in {algorithm}.pem"
        key(f"{algorithm} PKCS#8", algorithm, f"openssl pkey {source}")
        key(f"{algorithm} SubjectPublicKeyInfo", algorithm, f"openssl pkey {source} -pubout", private=False)
        key(f"{algorithm} PBKDF2 and AES-256-CBC", algorithm, f"{PBES2} aes-256-cbc {source}", encrypted=True)
        key(f"{algorithm} scrypt", algorithm, f"{SCRYPT} -scrypt_p 1 {source}", encrypted=True)
    p256 = "-in p256.pem"
    key("HMAC-SHA-1 and triple DES", "p256", f"{PBES2} des3 -v2prf hmacWithSHA1 {p256}", encrypted=True)
    key("HMAC-SHA-512 and AES-128-CBC", "p256", f"{PBES2} aes-128-cbc -v2prf hmacWithSHA512 {p256}", encrypted=True)
    key("SEC 1", "p256", f"openssl ec {p256}")
    key("SEC 1 after EC PARAMETERS", "p256", f"openssl ecparam -name prime256v1; openssl ec {p256}")
    key("SEC 1 without public key", "p256", f"openssl ec {p256} -no_public")
    key("SEC 1, compressed point", "p256", f"openssl ec {p256} -conv_form compressed")
    key("PKCS#8, compressed point", "p256", f"openssl pkey {p256} -ec_conv_form compressed")
    compressed = f"openssl pkey {p256} -pubout -ec_conv_form compressed"
    key("SubjectPublicKeyInfo, compressed point", "p256", compressed, private=False)
    key("text before the block", "p256", f"openssl pkey {p256} -text -noout; openssl pkey {p256}")


def example(name: str, label: str, lines: list[str], seed: Optional[str]) -> None:
    """The public key is in RFC 8410 section 10.1, the rest in 10.3."""
    pem = "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""])
    keys.append({"name": name, "madeBy": "RFC 8410 section 10", **RFC8410, "privateKey": seed, "pem": pem})


def add_examples() -> None:
    example(
        "RFC 8410 public key", "PUBLIC KEY", ["MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="], None)
    example(
        "RFC 8410 private key", "PRIVATE KEY",
        ["MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC"], RFC8410_SEED)
    example(
        "RFC 8410 version 2 with an attribute and the public key", "PRIVATE KEY",
        ["MHICAQEwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC",
         "oB8wHQYKKoZIhvcNAQkJFDEPDA1DdXJkbGUgQ2hhaXJzgSEAGb9ECWmEzf6FQbrB",
         "Z9w7lshQhqowtrbLDFw4rXAxZuE="], RFC8410_SEED)


def make_unsupported_keys() -> None:
    for file, (name, options) in OTHERS.items():
        run(f"openssl genpkey -algorithm {options} -out {file}.pem")
        refuse(f"{name} PKCS#8", "unsupportedKey", f"openssl pkey -in {file}.pem")
        refuse(f"{name} SubjectPublicKeyInfo", "unsupportedKey", f"openssl pkey -in {file}.pem -pubout")
    refuse("RSA PKCS#1", "unsupportedKey", "openssl rsa -in rsa.pem -traditional")
    refuse("RSA PKCS#1 public key", "unsupportedKey", "openssl rsa -in rsa.pem -RSAPublicKey_out")
    refuse("RSA encrypted", "unsupportedKey", f"{PBES2} aes-256-cbc -in rsa.pem")
    refuse("P-384 SEC 1", "unsupportedKey", "openssl ec -in p384.pem")
    refuse(
        "P-384 SEC 1 after EC PARAMETERS", "unsupportedKey", "openssl ecparam -name secp384r1; openssl ec -in p384.pem")
    refuse(
        "P-256 SEC 1 with explicit parameters", "unsupportedKey", "openssl ec -in explicit.pem -param_enc explicit")


def make_other_refusals() -> None:
    p256, code = "-in p256.pem", "unsupportedEncryption"
    old = f"openssl pkcs8 -topk8 -passout file:pass {p256} {LEGACY}"
    refuse("SEC 1 encrypted in the PEM format's way", code, f"openssl ec {p256} -aes256 -passout file:pass")
    refuse("PBES1 with triple DES", code, f"{old} -v1 PBE-SHA1-3DES")
    refuse("PBES1 with MD5 and DES", code, f"{old} -v1 PBE-MD5-DES")
    refuse(
        "PBKDF2 with 10,000,001 iterations", code,
        f"openssl pkcs8 -topk8 -passout file:pass -iter 10000001 -v2 aes-256-cbc {p256}")
    refuse("scrypt with p = 17", code, f"{SCRYPT} -scrypt_p 17 {p256}")
    refuse("curve parameters alone", "notAKeyContainer", "openssl ecparam -name prime256v1")
    refuse(
        "curve parameters before PKCS#8", "notAKeyContainer", f"openssl ecparam -name prime256v1; openssl pkey {p256}")
    refuse("a certificate", "notAKeyContainer", "openssl req -x509 -key p256.pem -subj /CN=example -days 1")
    refuse("two keys", "malformed", f"openssl pkey {p256}; openssl pkey -in x25519.pem")
    refuse("the same key twice", "malformed", f"openssl pkey {p256}; openssl pkey {p256}")
    refuse("a key and its public key", "malformed", f"openssl pkey {p256}; openssl pkey {p256} -pubout")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("pass", "w", encoding="utf-8") as file:
            file.write(PASSPHRASE + "\n")
        make_keys()
        add_examples()
        make_unsupported_keys()
        make_other_refusals()
        os.chdir("/")
    annotate.printed("key-containers", {"passphrase": PASSPHRASE, "keys": keys, "refused": refused}, ensure_ascii=False)


main()
