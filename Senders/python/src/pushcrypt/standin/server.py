"""The stand-in's connections: HTTP/2 over TLS, on 127.0.0.1."""
from __future__ import annotations

import asyncio
import datetime
import ipaddress
import json
import ssl
import tempfile
from dataclasses import dataclass, field
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import NameOID
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import DataReceived, RequestReceived, StreamEnded, StreamReset
from h2.exceptions import ProtocolError, StreamClosedError
from h2.settings import SettingCodes
from hyperframe.frame import GoAwayFrame

from .apns import MAX_VOIP_PAYLOAD, Answer, Fault, StandIn

PATH = "/stand-in/"


def self_signed() -> tuple[bytes, ssl.SSLContext]:
    """A certificate of localhost and 127.0.0.1 as PEM, for clients to trust, and the server's context."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=30)).add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True).sign(key, SHA256()))
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["h2"])
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    with tempfile.NamedTemporaryFile() as file:
        file.write(pem + private)
        file.flush()
        context.load_cert_chain(file.name)
    return pem, context


@dataclass
class _Stream:
    headers: list[tuple[str, str]]
    body: bytearray = field(default_factory=bytearray)


class _H2(H2Connection):
    """Doesn't end the connection of a client that begins more streams than the settings allow, because it has not read them yet."""

    @property
    def open_inbound_streams(self) -> int:
        _ = super().open_inbound_streams  # It forgets closed streams.
        return 0


class Connection(asyncio.Protocol):
    """One connection. With a provider token it has one stream until a request had a valid token ("Establishing a connection to APNs")."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._streams: dict[int, _Stream] = {}
        self._open: set[int] = set()
        self._last = 0
        self._is_authenticated = self._is_leaving = False
        self._h2 = _H2(H2Configuration(client_side=False, header_encoding="utf-8"))
        self._h2.local_settings[SettingCodes.MAX_CONCURRENT_STREAMS] = 1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._server.connections.add(self)
        self._server.stand_in.counts["connections"] += 1
        self._h2.initiate_connection()
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self)

    def data_received(self, data: bytes) -> None:
        try:
            for event in self._h2.receive_data(data):
                self._handle(event)
        except ProtocolError:
            self._flush()
            return self._transport.close()  # type: ignore[no-any-return]
        self._flush()

    def _handle(self, event: object) -> None:
        if isinstance(event, RequestReceived) and not self._is_leaving:
            self._streams[event.stream_id] = _Stream([(str(name), str(value)) for name, value in event.headers or ()])
            self._open.add(event.stream_id)
            self._last = max(self._last, event.stream_id)
        elif isinstance(event, DataReceived):
            stream = self._streams.get(event.stream_id)
            if stream is not None:
                # One byte too many is enough to refuse it.
                stream.body += (event.data or b"")[: MAX_VOIP_PAYLOAD + 1 - len(stream.body)]
            self._h2.acknowledge_received_data(event.flow_controlled_length or 0, event.stream_id)
        elif isinstance(event, StreamEnded):
            stream = self._streams.pop(event.stream_id, None)
            if stream is not None:
                self._answer(event.stream_id, stream)
        elif isinstance(event, StreamReset):
            self._streams.pop(event.stream_id, None)
            self._end(event.stream_id)

    def _answer(self, stream_id: int, stream: _Stream) -> None:
        given = dict(stream.headers)
        if given.get(":path", "").startswith(PATH):
            status, body = self._server.control(given.get(":method", ""), given[":path"], bytes(stream.body))
            return self._respond(stream_id, [(":status", str(status))], body)
        answer = self._server.stand_in.respond(stream.headers, bytes(stream.body), self)
        if answer.is_authenticated and not self._is_authenticated:
            self._is_authenticated = True
            self._h2.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: self._server.stream_limit})
        self._follow(stream_id, answer)

    def _follow(self, stream_id: int, answer: Answer) -> None:
        kind = answer.fault.kind if answer.fault is not None else None
        if kind == "reset":
            # RFC 9113 section 8.7: REFUSED_STREAM promises that nothing was processed.
            self._reset(stream_id, ErrorCodes.REFUSED_STREAM)
        elif kind == "resetAfterAccepting":
            self._reset(stream_id, ErrorCodes.INTERNAL_ERROR)
        elif kind == "cutAnswer":
            self._h2.send_headers(stream_id, [(":status", "200")])
            self._reset(stream_id, ErrorCodes.INTERNAL_ERROR)
        elif kind in ("close", "closeAfterAccepting"):
            self._transport.abort()
        elif kind == "delay" and answer.fault is not None:
            asyncio.get_running_loop().call_later(answer.fault.milliseconds / 1_000, self._respond_to_push, stream_id, answer)
        elif kind != "silence":
            self._respond_to_push(stream_id, answer)
            if kind == "goAway":
                self.go_away()

    def _respond_to_push(self, stream_id: int, answer: Answer) -> None:
        refusal = answer.refusal
        headers = [(":status", str(refusal.status if refusal is not None else 200)), ("apns-id", answer.id)]
        if refusal is not None and refusal.retry_after is not None:
            headers.append(("retry-after", str(refusal.retry_after)))
        self._respond(stream_id, headers, refusal.body if refusal is not None else b"")

    def _respond(self, stream_id: int, headers: list[tuple[str, str]], body: bytes) -> None:
        try:
            self._h2.send_headers(stream_id, headers, end_stream=not body)
            if body:
                self._h2.send_data(stream_id, body, end_stream=True)
        except (ProtocolError, StreamClosedError):
            pass  # The client has gone or has reset the stream.
        self._end(stream_id)
        self._flush()

    def _reset(self, stream_id: int, code: ErrorCodes) -> None:
        self._h2.reset_stream(stream_id, code)
        self._end(stream_id)

    def _end(self, stream_id: int) -> None:
        self._open.discard(stream_id)
        if self._is_leaving and not self._open:
            self._flush()
            self._transport.close()

    def go_away(self) -> None:
        """RFC 9113 section 6.8: the streams that were begun are answered."""
        self._flush()
        # h2 itself would answer no stream any more.
        frame = GoAwayFrame(last_stream_id=self._last, error_code=ErrorCodes.NO_ERROR, additional_data=b'{"reason":"Shutdown"}')
        self._transport.write(frame.serialize())
        self._is_leaving = True
        if not self._open:
            self._transport.close()

    def _flush(self) -> None:
        data = self._h2.data_to_send()
        if data and not self._transport.is_closing():
            self._transport.write(data)


class Server:
    """Listens on 127.0.0.1. A test in the same process uses it as `async with Server(stand_in) as server: server.port`."""

    def __init__(self, stand_in: StandIn, *, port: int = 0, stream_limit: int = 1_000) -> None:
        self.stand_in, self.port, self.stream_limit = stand_in, port, stream_limit
        self.connections: set[Connection] = set()
        self.certificate, self._context = self_signed()
        """PEM, for clients to trust."""

    async def __aenter__(self) -> Server:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Connection(self), "127.0.0.1", self.port, ssl=self._context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for connection in list(self.connections):
            connection._transport.abort()

    def control(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        """A request with which a test in another process or language controls the stand-in:

        POST /stand-in/devices       {"token": HEX, "topic": TOPIC}                                  adds a device
        POST /stand-in/devices/end   {"token": HEX}                                                  answers 410 from now on
        POST /stand-in/faults        {"fault": KIND, "times": N, "reason": R, "retryAfter": SECONDS, "timestamp": MILLISECONDS} adds faults
        POST /stand-in/go-away       {}                                                              GOAWAY on every connection
        GET  /stand-in/counts                                                                        what was counted
        """
        if (method, path) == ("GET", PATH + "counts"):
            counts = dict(self.stand_in.counts)
            known = {name: counts.pop(name, 0) for name in ("accepted", "faults", "connections")}
            return 200, json.dumps({**known, "refused": counts}).encode()
        try:
            order = json.loads(body)
            if method != "POST" or not isinstance(order, dict):
                raise ValueError("the body isn't an order")
            if path == PATH + "devices":
                self.stand_in.add(order["token"], order["topic"])
            elif path == PATH + "devices/end":
                self.stand_in.end(order["token"])
            elif path == PATH + "faults":
                self.stand_in.order(Fault.ordered(order), min(max(int(order.get("times", 1)), 1), 1_000_000))
            elif path == PATH + "go-away":
                for connection in list(self.connections):
                    connection.go_away()
            else:
                return 404, b'{"error":"there is no such path"}'
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            return 400, json.dumps({"error": f"a member is missing or unknown: {error}"}).encode()
        return 200, b""
