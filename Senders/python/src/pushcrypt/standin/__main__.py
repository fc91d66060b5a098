"""python -m pushcrypt.standin"""
from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Sequence, get_args

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from .apns import AcceptedPush, Fault, FaultKind, StandIn
from .server import Server
from .tokens import ProviderTokens


def _without_members(kinds: Sequence[str]) -> list[str]:
    """Those without members of their own."""
    return [kind for kind in kinds if kind not in ("answer", "delay")]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m pushcrypt.standin",
        description="Stands in for APNs on 127.0.0.1, as Apple's documentation describes it. Prints each accepted push as a line, "
        "which `pushcrypt simulate` reads. It ends after a day.")
    parser.add_argument("--provider-key", required=True, metavar="FILE", help="the provider key, a .p8 file; it is made if it doesn't exist")
    parser.add_argument("--provider-key-id", required=True, metavar="ID")
    parser.add_argument("--team-id", required=True, metavar="ID")
    parser.add_argument("--certificate", required=True, metavar="FILE", help="gets the certificate for clients to trust")
    parser.add_argument("--device", action="append", default=[], metavar="TOKEN=TOPIC", help="a device; may be repeated")
    parser.add_argument("--port", type=int, default=0, help="0 for a free one")
    parser.add_argument("--port-file", metavar="FILE", help="gets the port")
    parser.add_argument("--streams", type=int, default=1_000, help="the streams of a connection, after a valid token")
    parser.add_argument(
        "--faults", metavar="FILE", help='JSON lines {"fault": KIND, "times": N}, for the first pushes. KIND is answer, with the "reason" of '
        'APNs and perhaps "retryAfter" and "timestamp"; delay, with "milliseconds"; ' + ", ".join(_without_members(get_args(FaultKind))))
    parser.add_argument("--tokens-per", choices=("key", "connection"), default="key", help="where another token within 20 minutes is "
                        "too many; reports about APNs differ. Clients such as aioapns make one for each connection")
    return parser.parse_args()


def _public_key(path: Path) -> ec.EllipticCurvePublicKey:
    if not path.exists():
        pem = ec.generate_private_key(ec.SECP256R1()).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(pem)
    key = serialization.load_pem_private_key(path.read_bytes(), None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise SystemExit(f"--provider-key {path}: the file isn't a P-256 private key as PEM")
    return key.public_key()


def _print(push: AcceptedPush) -> None:
    sys.stdout.buffer.write(push.line)
    sys.stdout.buffer.flush()


async def _main() -> None:
    options = _options()
    key = _public_key(Path(options.provider_key))
    stand_in = StandIn(ProviderTokens(options.team_id, {options.provider_key_id: key}, options.tokens_per), _print)
    for device in options.device:
        token, separator, topic = device.partition("=")
        if not separator:
            raise SystemExit(f"--device {device}: give a token and a topic, as in ab12=com.example.app")
        stand_in.add(token, topic)
    if options.faults:
        for number, line in enumerate(Path(options.faults).read_text().splitlines(), 1):
            try:
                order = json.loads(line)
                stand_in.order(Fault.ordered(order), order.get("times", 1))
            except (ValueError, AttributeError, TypeError) as error:
                raise SystemExit(f"--faults {options.faults}: line {number}: {error}") from None
    async with Server(stand_in, port=options.port, stream_limit=options.streams) as server:
        Path(options.certificate).write_bytes(server.certificate)
        if options.port_file:
            Path(options.port_file + ".new").write_text(f"{server.port}\n")
            os.replace(options.port_file + ".new", options.port_file)
        print(f"listening on https://127.0.0.1:{server.port}", file=sys.stderr, flush=True)
        await asyncio.sleep(86_400)


if __name__ == "__main__":
    # The process that starts this one may ignore the signal, and this one would inherit that, and never be ended by it.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    try:
        asyncio.run(_main())
    except KeyboardInterrupt:
        pass
