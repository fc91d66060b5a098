"""What the clients of push services send of a sealed push, without a network: python -m unittest test_clients

It needs the packages of clients.txt.
"""
from __future__ import annotations

import json
import unittest
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import boto3
import exponent_server_sdk as expo
import firebase_admin
import requests
from botocore.awsrequest import AWSResponse
from firebase_admin import messaging
from google.auth.credentials import AnonymousCredentials
from pushcrypt import Placeholder
from test_carriers import INNER, open_, seal

EXPOSED = ["badge", "sound"]


class FirebaseCredentials(firebase_admin.credentials.Base):  # type: ignore[misc]
    def get_credential(self) -> AnonymousCredentials:
        return AnonymousCredentials()


class Recorder(requests.adapters.BaseAdapter):
    """Answers each request, and keeps its body."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer, self.bodies = answer, []  # type: ignore[var-annotated]

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:  # type: ignore[override]
        self.bodies.append(json.loads(request.body or b""))
        response = requests.Response()
        response.status_code, response._content = 200, json.dumps(self.answer).encode()
        return response

    def close(self) -> None:
        pass


def services_page() -> str:
    return (Path(__file__).resolve().parents[3] / "docs" / "services.md").read_text(encoding="utf-8")


class ClientTests(unittest.TestCase):
    @staticmethod
    def aps(push: Any) -> messaging.Aps:
        """Calls the function that docs/services.md shows."""
        code = services_page().split("def aps(push)")[1].split("\n\n")[0]
        names: dict[str, Any] = {"messaging": messaging}
        exec("def aps(push)" + code, names)
        return names["aps"](push)

    def firebase(self, message: messaging.Message) -> Any:
        app = firebase_admin.initialize_app(FirebaseCredentials(), {"projectId": "p"}, name=self.id())
        try:
            recorder = Recorder({"name": "projects/p/messages/1"})
            messaging._get_messaging_service(app)._client.session.mount("https://fcm.googleapis.com", recorder)
            messaging.send(message, app=app)
        finally:
            firebase_admin.delete_app(app)
        return recorder.bodies[0]["message"]

    def test_firebase_sends_the_request_for_apns_payload(self) -> None:
        for placeholder in [Placeholder("New"), Placeholder(title_loc_key="NEW", loc_key="OPEN", loc_args=["1"])]:
            push = seal("fcm", exposed=EXPOSED, collapse_id="order", placeholder=placeholder)
            payload = messaging.APNSPayload(self.aps(push), pushcrypt=push.envelope)
            headers = push.request["message"]["apns"]["headers"]
            sent = self.firebase(messaging.Message(
                token="t", apns=messaging.APNSConfig(headers=headers, payload=payload)))
            self.assertEqual(sent, {"token": "t", **push.request["message"]})
            self.assertEqual(open_(json.dumps(sent["apns"]["payload"]).encode(), "fcm"), INNER)

    def test_firebase_sends_the_request_for_data(self) -> None:
        push = seal("text", exposed=EXPOSED)
        message = push.request["message"]
        sent = self.firebase(messaging.Message(
            token="t", data=message["data"],
            apns=messaging.APNSConfig(headers=message["apns"]["headers"], payload=messaging.APNSPayload(self.aps(push)))))
        self.assertEqual(sent, {"token": "t", **message})
        # Firebase puts data beside aps.
        self.assertEqual(open_(json.dumps({**sent["apns"]["payload"], **sent["data"]}).encode(), "text"), INNER)

    def test_expo_sends_the_request(self) -> None:
        push = seal("expo", exposed=EXPOSED)
        request, to = push.request, "ExponentPushToken[x]"
        session, recorder = requests.Session(), Recorder({"data": [{"status": "ok", "id": "1"}]})
        session.mount("https://", recorder)
        expo.PushClient(session=session).publish(expo.PushMessage(
            to=to, data=request["data"], title=request["title"], body=request["body"], sound=request["sound"], ttl=None,
            expiration=request["expiration"], priority=request["priority"], badge=request["badge"], category=None,
            display_in_foreground=None, channel_id=None, subtitle=None, mutable_content=request["mutableContent"]))
        self.assertEqual(recorder.bodies[0], [{"to": to, **request}])
        arrived = {"aps": push.aps, "body": recorder.bodies[0][0]["data"], "experienceId": "@team/app"}
        self.assertEqual(open_(json.dumps(arrived).encode(), "expo"), INNER)

    def test_sns_sends_the_exact_payload_as_a_string(self) -> None:
        push = seal("apns", exposed=EXPOSED)
        client = boto3.client("sns", region_name="eu-west-1", aws_access_key_id="a", aws_secret_access_key="b")
        sent: list[Any] = []

        def answer(request: Any, **_: Any) -> AWSResponse:
            sent.append(dict(parse_qsl(request.body.decode() if isinstance(request.body, bytes) else request.body)))
            body = b"<PublishResponse><PublishResult><MessageId>1</MessageId></PublishResult></PublishResponse>"
            response = AWSResponse(request.url, 200, {}, None)
            response._content = body
            return response

        client.meta.events.register("before-send.sns.Publish", answer)
        attributes = {
            "AWS.SNS.MOBILE.APNS.TOPIC": push.topic, "AWS.SNS.MOBILE.APNS.PUSH_TYPE": "alert",
            "AWS.SNS.MOBILE.APNS.PRIORITY": push.headers["apns-priority"],
            "AWS.SNS.MOBILE.APNS.TTL": str(push.expires_at - push.sealed_at)}
        client.publish(
            TargetArn="arn:aws:sns:eu-west-1:1:endpoint/APNS/app/1", MessageStructure="json",
            Message=json.dumps({"default": "", "APNS": push.json.decode()}),
            MessageAttributes={name: {"DataType": "String", "StringValue": text} for name, text in attributes.items()})
        message = json.loads(sent[0]["Message"])
        self.assertEqual(message["APNS"].encode(), push.json)
        self.assertEqual(open_(message["APNS"].encode(), "apns"), INNER)


if __name__ == "__main__":
    unittest.main()
