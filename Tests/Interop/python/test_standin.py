"""Pushes through real clients of APNs to the stand-in: python -m unittest test_standin

It needs the packages of clients.txt.
"""
from __future__ import annotations

import asyncio
import json
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any, Awaitable, Callable

import aioapns
import apns2.client
import apns2.credentials
import django
import django.conf
import httpx
import jwt
from aioapns.connection import APNsProductionClientProtocol
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pushcrypt.standin import AcceptedPush, Fault, ProviderTokens, Refusal, StandIn
from pushcrypt.standin.apns import STATUSES
from pushcrypt.standin.server import Server
from test_carriers import INNER, open_, seal

TOPIC, TOKEN, KEY_ID, TEAM = "com.example.app", "ab" * 32, "ABCDEFGHIJ", "TEAM123456"
KEY = ec.generate_private_key(ec.SECP256R1())
PEM = KEY.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()


def provider_token(issued_at: float, key_id: str = KEY_ID, team: str = TEAM, key: Any = KEY) -> str:
    return jwt.encode({"iss": team, "iat": issued_at}, key, "ES256", headers={"kid": key_id})


class Clock:
    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


class StandInTests(unittest.TestCase):
    """Runs the stand-in in a thread of its own: most clients block."""

    def setUp(self) -> None:
        self.accepted: list[AcceptedPush] = []
        self.clock = Clock()
        self.stand_in = StandIn(ProviderTokens(TEAM, {KEY_ID: KEY.public_key()}), self.accepted.append, self.clock)
        self.stand_in.add(TOKEN, TOPIC)
        self.token = provider_token(self.clock.now)
        self.server = Server(self.stand_in)
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()
        self.call(self.server.__aenter__)
        self.context = ssl.create_default_context(cadata=self.server.certificate.decode())

    def tearDown(self) -> None:
        self.call(self.server.__aexit__)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    def call(self, function: Callable[[], Awaitable[Any]]) -> Any:
        async def run() -> Any:
            return await function()

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(10)

    def client(self) -> httpx.Client:
        return httpx.Client(http2=True, verify=self.context, base_url=f"https://127.0.0.1:{self.server.port}", timeout=10)

    def headers(self, **changes: Any) -> dict[str, str]:
        headers = {**seal("apns").headers, "authorization": f"bearer {self.token}"}
        headers.update({name.replace("_", "-"): value for name, value in changes.items()})
        return {name: value for name, value in headers.items() if value is not None}

    def check_opened(self, carrier: Any, count: int, added: range) -> None:
        """All pushes arrived, open, and have as many bytes more than were sealed."""
        self.assertEqual(len(self.accepted), count)
        for push in self.accepted:
            self.assertEqual(open_(push.payload, carrier), INNER)
            self.assertLessEqual(len(push.payload), 4_096)
        self.assertEqual({len(push.payload) - self.sealed in added for push in self.accepted}, {True},
                         {len(push.payload) - self.sealed for push in self.accepted})

    def pushes(self, carrier: Any, count: int = 20) -> list[Any]:
        pushes = [seal(carrier, padding="limit", exposed=["badge"]) for _ in range(count)]
        self.sealed = len(pushes[0].json)
        return pushes

    # Clients

    def test_httpx_sends_the_exact_bytes_at_the_limit(self) -> None:
        with self.client() as client:
            for push in self.pushes("apns"):
                answer = client.post(f"/3/device/{TOKEN}", content=push.json, headers=self.headers())
                self.assertEqual(answer.status_code, 200, answer.text)
        self.check_opened("apns", 20, range(1))

    def test_aioapns_sends_a_push_at_the_limit_of_rebuilt(self) -> None:
        protocol: Any = APNsProductionClientProtocol
        saved = protocol.APNS_SERVER, protocol.APNS_PORT
        protocol.APNS_SERVER, protocol.APNS_PORT = "127.0.0.1", self.server.port

        async def send() -> None:
            client = aioapns.APNs(key=PEM, key_id=KEY_ID, team_id=TEAM, topic=TOPIC, ssl_context=self.context)
            requests = [aioapns.NotificationRequest(TOKEN, push.payload, time_to_live=60) for push in self.pushes("rebuilt")]
            results = await asyncio.gather(*map(client.send_notification, requests))
            self.assertEqual({result.status for result in results}, {"200"})
            self.stand_in.end(TOKEN)
            ended = await client.send_notification(requests[0])
            self.assertEqual((ended.description, ended.timestamp), ("Unregistered", int(self.clock.now * 1_000)))
            await asyncio.gather(*(connection.transport.close() or asyncio.sleep(0) for connection in client.pool.connections))

        try:
            asyncio.run(send())
        finally:
            protocol.APNS_SERVER, protocol.APNS_PORT = saved
        self.check_opened("rebuilt", 20, range(1, 65))

    def apns2_client(self, credentials: apns2.credentials.Credentials) -> apns2.client.APNsClient:
        from hyper.tls import init_context

        with tempfile.NamedTemporaryFile("wb") as file:
            file.write(self.server.certificate)
            file.flush()
            credentials._Credentials__ssl_context = init_context(file.name)
        saved = apns2.client.APNsClient.LIVE_SERVER, apns2.client.APNsClient.DEFAULT_PORT
        apns2.client.APNsClient.LIVE_SERVER, apns2.client.APNsClient.DEFAULT_PORT = "127.0.0.1", self.server.port
        try:
            return apns2.client.APNsClient(credentials)
        finally:
            apns2.client.APNsClient.LIVE_SERVER, apns2.client.APNsClient.DEFAULT_PORT = saved

    def credentials(self) -> apns2.credentials.TokenCredentials:
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(PEM)
            file.flush()
            return apns2.credentials.TokenCredentials(file.name, KEY_ID, TEAM)

    def test_apns2_sends_a_push_at_the_limit_of_rebuilt(self) -> None:
        from apns2.payload import Payload

        client = self.apns2_client(self.credentials())
        for push in self.pushes("rebuilt"):
            payload = Payload(alert=push.aps["alert"], badge=push.aps["badge"], sound="default", mutable_content=True,
                              custom={"pushcrypt": push.envelope})
            client.send_notification(TOKEN, payload, TOPIC)
        self.check_opened("rebuilt", 20, range(-2, 65))

    def test_django_push_notifications_sends_a_push_at_the_limit_of_rebuilt(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "key.p8"
            path.write_text(PEM)
            if not django.conf.settings.configured:
                django.conf.settings.configure(
                    INSTALLED_APPS=["push_notifications", "django.contrib.auth", "django.contrib.contenttypes"], USE_TZ=True,
                    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
                    PUSH_NOTIFICATIONS_SETTINGS={
                        "APNS_AUTH_KEY_PATH": str(path), "APNS_AUTH_KEY_ID": KEY_ID, "APNS_TEAM_ID": TEAM, "APNS_TOPIC": TOPIC})
                django.setup()
            from push_notifications import apns

            client = self.apns2_client(self.credentials())
            saved, apns._apns_create_socket = apns._apns_create_socket, lambda *_, **__: client
            try:
                for push in self.pushes("rebuilt"):
                    alert = apns.apns2_payload.PayloadAlert(**push.aps["alert"])
                    apns.apns_send_message(TOKEN, alert, badge=push.aps["badge"], sound="default", mutable_content=True,
                                           extra={"pushcrypt": push.envelope}, expiration=push.expires_at)
            finally:
                apns._apns_create_socket = saved
        self.check_opened("rebuilt", 20, range(-2, 65))

    # Answers

    def post(self, client: httpx.Client, body: bytes | None = None, path: str = f"/3/device/{TOKEN}", **changes: Any) -> tuple[int, Any]:
        answer = client.post(path, content=seal("apns").json if body is None else body, headers=self.headers(**changes))
        return answer.status_code, answer.json() if answer.content else None

    def test_each_wrong_request_gets_its_reason(self) -> None:
        cases: list[tuple[str, dict[str, Any]]] = [
            ("MissingTopic", {"apns_topic": None}), ("BadTopic", {"apns_topic": "a" * 256}), ("TopicDisallowed", {"apns_topic": "a.b"}),
            ("InvalidPushType", {"apns_push_type": "alerts"}), ("BadPriority", {"apns_priority": "7"}),
            ("BadPriority", {"apns_push_type": "background"}), ("BadExpirationDate", {"apns_expiration": "-1"}),
            ("BadCollapseId", {"apns_collapse_id": "a" * 65}), ("BadMessageId", {"apns_id": "1"}),
            ("MissingProviderToken", {"authorization": None}), ("InvalidProviderToken", {"authorization": "bearer a.b.c"}),
            ("BadPath", {"path": "/3/other"}), ("MissingDeviceToken", {"path": "/3/device/"}),
            ("BadDeviceToken", {"path": "/3/device/abc"}), ("BadDeviceToken", {"path": "/3/device/" + "cd" * 32}),
            ("PayloadEmpty", {"body": b""}), ("PayloadTooLarge", {"body": b" " * 4_097}),
            # A Live Activity and a call with the topic of the app.
            ("TopicDisallowed", {"apns_push_type": "liveactivity"}), ("TopicDisallowed", {"apns_push_type": "voip"})]
        with self.client() as client:
            for reason, change in cases:
                with self.subTest(reason, **change):
                    self.assertEqual(self.post(client, **change), (STATUSES[reason], {"reason": reason}))
            for body in (b"x", b"[]", b"{}", b'{"aps":[]}', b'{"aps":{}}', b'{"aps":{"content-available":1}}'):
                status, answer = self.post(client, body)
                self.assertEqual((status, answer["reason"].split(" ")[0]), (400, "BadPayload"), body)
            activity = b'{"aps":{"event":"update","content-state":{}}}'
            self.assertEqual(self.post(client, activity, apns_topic=TOPIC + ".push-type.liveactivity", apns_push_type="liveactivity"), (200, None))
            self.assertEqual(client.get(f"/3/device/{TOKEN}").json(), {"reason": "MethodNotAllowed"})
        self.assertEqual(len(self.accepted), 1)

    def test_provider_tokens_are_checked_for_signature_age_and_renewals(self) -> None:
        now = int(self.clock.now)
        other = ec.generate_private_key(ec.SECP256R1())
        cases = [
            (provider_token(now, key=other), "InvalidProviderToken"), (provider_token(now, team="OTHER"), "InvalidProviderToken"),
            (provider_token(now, key_id="OTHER"), "InvalidProviderToken"), (provider_token(now + 61), "InvalidProviderToken"),
            (provider_token(now - 3_601), "ExpiredProviderToken"), (provider_token(now - 2_400.5), None),
            (provider_token(now - 1_201), "TooManyProviderTokenUpdates"), (provider_token(now - 1_200), None)]
        with self.client() as client:
            for token, reason in cases:
                with self.subTest(reason):
                    _, answer = self.post(client, authorization=f"bearer {token}")
                    self.assertEqual(answer, None if reason is None else {"reason": reason})

    def test_tokens_per_connection_allow_another_one_on_another_connection(self) -> None:
        self.stand_in.tokens = ProviderTokens(TEAM, {KEY_ID: KEY.public_key()}, "connection")
        for age in range(12):
            with self.client() as client:
                self.assertEqual(self.post(client, authorization=f"bearer {provider_token(self.clock.now - age)}"), (200, None))
                if age == 0:
                    _, answer = self.post(client, authorization=f"bearer {provider_token(self.clock.now - 100)}")
                    self.assertEqual(answer, {"reason": "TooManyProviderTokenUpdates"})

    def test_faults_are_carried_out_in_their_order(self) -> None:
        with self.client() as client:
            self.stand_in.order(Fault("answer", Refusal("ServiceUnavailable", retry_after=7)))
            answer = client.post(f"/3/device/{TOKEN}", content=seal("apns").json, headers=self.headers())
            self.assertEqual((answer.status_code, answer.headers["retry-after"]), (503, "7"))
            self.stand_in.order(Fault.ordered({"fault": "answer", "reason": "Unregistered"}))
            self.assertEqual(self.post(client), (410, {"reason": "Unregistered", "timestamp": int(self.clock.now * 1_000)}))
            with self.assertRaisesRegex(ValueError, "cutAnswer"):
                Fault.ordered({"fault": "cut"})
            for kind, accepted in (("reset", 0), ("resetAfterAccepting", 1), ("cutAnswer", 2), ("close", 2), ("closeAfterAccepting", 3)):
                self.stand_in.order(Fault(kind))  # type: ignore[arg-type]
                with self.subTest(kind), self.assertRaises(httpx.HTTPError):
                    self.post(client)
                self.assertEqual(self.stand_in.counts["accepted"], accepted)
            self.stand_in.order(Fault("goAway"))
            self.assertEqual(self.post(client), (200, None))
        with self.client() as client:
            self.stand_in.order(Fault("delay", milliseconds=10))
            for _ in range(2):
                self.assertEqual(self.post(client), (200, None))
        self.assertEqual((self.stand_in.counts["accepted"], self.stand_in.counts["faults"]), (6, 9))

    def test_the_command_starts_within_seconds_and_is_controlled_by_requests(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "faults").write_text('{"fault":"answer","reason":"Shutdown"}\n')
            Path(folder, "key.p8").write_text(PEM)
            start = time.monotonic()
            command = [sys.executable, "-m", "pushcrypt.standin", "--provider-key", "key.p8", "--provider-key-id", KEY_ID, "--team-id", TEAM,
                       "--certificate", "ca.pem", "--port-file", "port", "--faults", "faults", "--device", f"{TOKEN}={TOPIC}"]
            # A child inherits an ignored signal, as from a service that waits for it in another way.
            process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN))
            try:
                assert process.stderr is not None and process.stdout is not None
                self.assertIn(b"listening", process.stderr.readline())
                print(f"the stand-in started in {time.monotonic() - start:.2f} s", file=sys.stderr)
                context = ssl.create_default_context(cafile=f"{folder}/ca.pem")
                address = f"https://localhost:{Path(folder, 'port').read_text().strip()}"
                with httpx.Client(http2=True, verify=context, base_url=address) as client:
                    self.assertEqual(self.post(client), (503, {"reason": "Shutdown"}))
                    self.assertEqual(self.post(client), (200, None))
                    line = json.loads(process.stdout.readline())
                    self.assertEqual((line["token"], line["headers"]["apns-topic"]), (TOKEN, TOPIC))
                    for path, order, status in (
                        ("devices/end", {"token": TOKEN}, 200), ("faults", {"fault": "none"}, 400), ("devices", {}, 400), ("x", {}, 404)):
                        self.assertEqual(client.post(f"/stand-in/{path}", json=order).status_code, status)
                    status, answer = self.post(client)
                    self.assertEqual((status, answer["reason"]), (410, "Unregistered"))
                    # The request for GOAWAY is answered.
                    subprocess.run(["curl", "--silent", "--fail", "--cacert", f"{folder}/ca.pem", f"{address}/stand-in/go-away", "--data", "{}"],
                                   check=True)
                with httpx.Client(http2=True, verify=context, base_url=address) as client:
                    counts = client.get("/stand-in/counts").json()
                    self.assertEqual((counts["accepted"], counts["refused"]), (1, {"Shutdown": 1, "Unregistered": 1}))
                process.terminate()
                process.communicate(timeout=10)
                self.assertEqual(process.returncode, -signal.SIGTERM)
            finally:
                process.kill()
                process.communicate()


if __name__ == "__main__":
    unittest.main()
