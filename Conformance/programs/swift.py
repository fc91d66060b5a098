"""The tool `pushcrypt`, and so the Swift libraries, behind the wire of the kit: pushcrypt-conformance python3 swift.py PUSHCRYPT

It starts `pushcrypt seal --stream`, `open --stream` and `registrations --stream`, once for each set of options, and for what no line can
carry (a line break, 64 levels, a blob) the command without `--stream`. What no command has is unsupported: the keys and states of a set,
the state after a signed set, the answer to a challenge, offloaded payloads, and the details of an opened push.

`open --stream` writes a line break of the restored payload as a space, so payloads with spaces between values are opened again without
it.
"""
from __future__ import annotations

import base64
import collections
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from pushcrypt import RecipientKey

Request = dict[str, Any]
MAX_STREAMS = 24
SUITES = {1: "p256", 2: "x25519", 3: "xwing", 4: "xwing"}
SPACE = " \t\r\n"
LAST_TIME = 253_402_300_799  # the end of the year 9999, the last that --at takes
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
REASON = {"op": "an operation that no command has", "suite": "suite 3", "time": "a time after the year 9999",
          "line": "an outer payload that no line takes",
          "alert": "a placeholder that no option takes, around a payload that no line takes",
          "details": "the details of an opened push", "senders": "signed and unsigned sets in one stream"}
#: What `seal` says of a device without a key for the day.
LAST_RESORT = "last-resort key was used"
#: The options of `seal` for the members of a line.
OPTIONS = {"device": "--device", "campaign": "--id-from", "badgeAdd": "--badge-add", "carrier": "--carrier", "expires": "--expires"}
ALERT = {"title": "--placeholder-title", "body": "--placeholder-body", "title-loc-key": "--placeholder-title-loc-key",
         "loc-key": "--placeholder-body-loc-key"}


class Unsupported(Exception):
    pass


class Refused(Exception):
    pass


class Stream:
    """A running process of the tool."""

    def __init__(self, command: tuple[str, ...], folder: Path) -> None:
        environment = {"HOME": str(folder), "PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"}
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)

    def ask(self, line: str) -> str:
        """Raises Refused or Unsupported if the tool ended because of its options."""
        assert self._process.stdin and self._process.stdout and self._process.stderr
        try:
            self._process.stdin.write(line.encode("utf-8", "surrogatepass") + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self._process.stdout.readline()
        if answer:
            return answer.decode("utf-8")
        told = self._process.stderr.read().decode("utf-8", "replace")
        if self._process.wait() == 69:
            raise Unsupported(REASON["suite"])
        raise Refused(f"exit status {self._process.returncode}: {told.strip()[:200]}")

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


class Tool:
    def __init__(self, path: str, folder: Path) -> None:
        self._path, self._folder = path, folder
        self._streams: collections.OrderedDict[tuple[str, ...], Stream] = collections.OrderedDict()
        self._lacking: set[tuple[str, ...]] = set()  # Commands whose keys need another OpenSSL.
        self._record = json.dumps(RecipientKey.generate().registration_record())

    def file(self, text: str) -> str:
        """A file with the text, which only its owner can read."""
        data = text.encode("utf-8", "surrogatepass")
        path = self._folder / f"{hashlib.sha256(data).hexdigest()}.json"
        if not path.exists():
            path.touch(0o600)
            path.write_bytes(data)
        return str(path)

    def ask(self, command: str, options: list[str], line: str) -> tuple[Any, str]:
        """The answer and its text. Raises Refused with the tool's code, or Unsupported."""
        key = (self._path, command, "--stream", *options)
        if key in self._lacking:
            raise Unsupported(REASON["suite"])
        stream = self._streams.get(key)
        if stream is None:
            stream = self._streams[key] = Stream(key, self._folder)
            if len(self._streams) > MAX_STREAMS:
                self._streams.popitem(last=False)[1].close()
        self._streams.move_to_end(key)
        try:
            text = stream.ask(line)
        except (Refused, Unsupported) as error:
            self._streams.pop(key).close()
            self._lacking |= {key} if isinstance(error, Unsupported) else set()
            raise
        answer = json.loads(text)
        if "error" in answer:
            code = answer["error"]["code"]
            if code == "unsupportedSuite":
                raise Unsupported(REASON["suite"])
            raise Refused(code)
        return answer, text

    def run(self, *arguments: str, given: bytes = b"") -> tuple[bytes, str]:
        """The output and the messages of the command without a stream. Raises Refused or Unsupported."""
        done = subprocess.run([self._path, *arguments], input=given, capture_output=True)
        told = done.stderr.decode("utf-8", "replace")
        if done.returncode == 69:
            raise Unsupported(REASON["suite"])
        if done.returncode != 0:
            raise Refused(f"exit status {done.returncode}: {told.strip()[:200]}")
        return done.stdout, told

    def signing(self, request: Request) -> list[str]:
        return ["--sign-with", self.file(request["signWith"])] if "signWith" in request else []

    @staticmethod
    def time(request: Request) -> list[str]:
        if request["at"] > LAST_TIME:
            raise Unsupported(REASON["time"])
        return ["--topic", request["topic"], "--at", str(request["at"])]

    def seal(self, request: Request) -> Request:
        options = [*self.time(request), *self.signing(request)]
        for name, option in (("pad", "--pad"), ("limit", "--limit")):
            options += [f"{option}={request[name]}"] if name in request else []
        options += ["--bare"] if request.get("bare") else []
        options += ["--self-test"] if request.get("selfTest") else []
        options += ["--require-day-key"] if request.get("requiresDayKey") else []
        if "minimumSuite" in request:
            options += ["--minimum-suite", SUITES.get(request["minimumSuite"], str(request["minimumSuite"]))]
        for reference in request.get("attachments", []):
            options += ["--attach", self.file(json.dumps(reference))]
        if "offload" in request:
            options += ["--offload", self.file(json.dumps(request["offload"]))]
        same = ("device", "placeholder", "expose", "campaign", "retract", "quiet", "badgeAdd", "carrier")
        members: Request = {name: request[name] for name in same if name in request}
        if "expires" in request:
            members["expires"] = f"{request['expires']}s"
        to = request["to"]
        is_record = "\n" not in to and not to.startswith('{"keys"')
        is_alone = has_line(request["payload"]) and request["payload"] == request["payload"].strip(SPACE)
        if not is_record or not is_alone:
            options += ["--to", self.file(to)]
        if not is_alone:
            return self.seal_once(options, members, request)
        line = self.line(members, payload=request["payload"], **({"to": to} if is_record else {}))
        answer, text = self.ask("seal", options, line)
        told = answer["pushcrypt"]
        return {
            "payload": payload_of(text), "id": told["id"], "expiresAt": told["expiresAt"],
            "usesLastResortKey": any(LAST_RESORT in note for note in told.get("notes", [])),
        }

    def seal_once(self, options: list[str], members: Request, request: Request) -> Request:
        alert = request["placeholder"]
        if not set(alert) <= set(ALERT):
            raise Unsupported(REASON["alert"])
        given = [(ALERT[name], text) for name, text in alert.items()]
        given += [(OPTIONS[name], str(value)) for name, value in members.items() if name in OPTIONS]
        given += [("--retract", one) for one in members.get("retract", [])]
        given += [("--expose", ",".join(members["expose"]))] if "expose" in members else []
        options = [*options, *(f"{name}={value}" for name, value in given), *(["--quiet"] if members.get("quiet") else []), "--show-id"]
        out, told = self.run("seal", *options, given=request["payload"].encode("utf-8", "surrogatepass"))
        flight = re.search(r'flight[^0-9]*([0-9]+)', request["to"])
        return {
            "payload": out.decode().removesuffix("\n"), "id": told.split("pushcrypt: id ")[1].split()[0],
            "expiresAt": request["at"] + request.get("expires", int(flight[1]) if flight else 2_592_000),
            "usesLastResortKey": LAST_RESORT in told,
        }

    @staticmethod
    def line(members: Request, **raw: str) -> str:
        """A line with members whose text stays as it is."""
        parts = [f"{json.dumps(name)}:{text}" for name, text in raw.items()]
        return "{" + ",".join(parts + [f"{json.dumps(name)}:{json.dumps(value)}" for name, value in members.items()]) + "}"

    def open(self, request: Request) -> Request:
        if request.get("details") or "blob" in request:
            raise Unsupported(REASON["details"])
        options = [*self.time(request), "--keys", self.file(request["keys"])]
        senders = request["senders"]
        if isinstance(senders, list) and len({"keys" in one for one in senders}) > 1:
            raise Unsupported(REASON["senders"])
        for one in [{"keys": senders}] if isinstance(senders, str) else senders or []:
            options += ["--trust", self.file(one["keys"] if "keys" in one else unb64(one["document"]).decode("utf-8", "surrogateescape"))]
            options += ["--pins", self.file(one["pins"])] if "pins" in one else []
        for carrier in request.get("carriers", []):
            options += ["--carrier", carrier]
        if not has_line(request["payload"]):
            raise Unsupported(REASON["line"])
        try:
            answer, text = self.ask("open", options, self.line({}, payload=request["payload"]))
        except Refused as refused:
            raise Refused("malformed" if str(refused) == "malformedLine" else str(refused)) from None
        told, restored = answer["pushcrypt"], payload_of(text)
        if " " in STRING.sub("", restored):
            out, _ = self.run("open", *options, given=request["payload"].encode("utf-8", "surrogatepass"))
            restored = out.decode()[:len(restored)]  # Without the line break that the command adds where the payload has none.
        wanted = ("id", "expiresAt", "retract", "quiet", "badgeAdd")
        return {"payload": restored, **{name: told[name] for name in wanted if name in told}}

    def blob(self, request: Request) -> Request:
        purpose, folder = request["purpose"], Path(tempfile.mkdtemp(dir=self._folder))
        reference, output = folder / "reference", folder / "output"
        if "plaintext" in request:
            options = ["--purpose", purpose, "--reference", str(reference), "--output", str(output)]
            options += ["--type", "a/b"] if purpose == "attachment" else []
            self.run("blob", "seal", *options, given=unb64(request["plaintext"]))
            made = json.loads(reference.read_text())
            return {"blob": b64(output.read_bytes()), "reference": {name: made[name] for name in ("key", "size", "sha256")}}
        kind = {"type": "a/b"} if purpose == "attachment" else {}
        reference.touch(0o600)
        reference.write_text(json.dumps({"url": "https://a", **request["reference"], **kind}))
        self.run("blob", "open", "--reference", str(reference), "--output", str(output), given=unb64(request["blob"]))
        return {"plaintext": b64(output.read_bytes())}

    def record(self, request: Request) -> Request:
        """The stream reads a record when it makes a challenge."""
        made = self.challenge({**request, "host": "a", "topic": "a", "at": 1_800_000_000})
        return {"kid": made["pending"]["registration"]["kid"]}

    def keys(self, request: Request) -> Request:
        sealing = {"payload": '{"aps":{"alert":"x"}}', "topic": "a", "at": 1_800_000_000, "bare": True, "pad": "none"}
        if request["as"] == "recipient":
            payload = self.seal({**sealing, "to": request["text"]})["payload"]
            return {"kids": [json.loads(payload)["pushcrypt"]["kid"]]}
        if request["as"] == "signer":
            payload = self.seal({**sealing, "to": self._record, "signWith": request["text"]})["payload"]
            return {"kids": [json.loads(payload)["pushcrypt"]["skid"]]}
        raise Unsupported(REASON["op"])

    def challenge(self, request: Request) -> Request:
        options = [*self.time(request), *self.signing(request)]
        return self.registrations(request, options, ("record", "host", "requiring"), ("challenge", "pending"))

    def confirm(self, request: Request) -> Request:
        return self.registrations(request, ["--topic", "a", "--at", str(request["at"])], ("answer", "pending"), ("record", "kid", "suite"))

    def change(self, request: Request) -> Request:
        return self.registrations(request, ["--topic", "a"], ("upload", "stored", "proven", "allowsLowerSuite"), ("write", "remove"))

    def receipt(self, request: Request) -> Request:
        return self.registrations(request, ["--topic", "a"], ("body",), ("receipt",))

    def registrations(self, request: Request, options: list[str], given: tuple[str, ...], wanted: tuple[str, ...]) -> Request:
        operation = "challenge" if request["op"] == "record" else request["op"]
        line = {"op": operation, **{name: request[name] for name in given if name in request}}
        answer, _ = self.ask("registrations", options, json.dumps(line))
        return {name: answer[name] for name in wanted}

    def answered(self, request: Request) -> Request:
        operation = getattr(self, request["op"]) if request["op"] in (
            "seal", "open", "blob", "record", "keys", "challenge", "confirm", "change", "receipt") else None
        try:
            if operation is None:
                raise Unsupported(REASON["op"])
            return {"ok": True, **operation(request)}
        except Unsupported as unsupported:
            return {"unsupported": str(unsupported)}
        except Refused as refused:
            return {"failure": str(refused)}


def payload_of(line: str) -> str:
    """The text of the first member, with the white space around it, which belongs to it."""
    start = len('{"payload":')
    value = len(line) - len(line[start:].lstrip(SPACE))
    _, end = json.JSONDecoder().raw_decode(line, value)
    return line[start:len(line) - len(line[end:].lstrip(SPACE))]


def has_line(payload: str) -> bool:
    """A line can't carry a line break, and a payload of 64 levels has 65 in a line."""
    return "\n" not in payload and levels(payload) != 64


def levels(text: str) -> int:
    """The deepest array or object of a JSON text; 0 for a text that isn't JSON."""
    def depth(value: Any) -> int:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
        return 0 if inner is None else 1 + max(map(depth, inner), default=0)

    try:
        return depth(json.loads(text))
    except (ValueError, RecursionError):
        return 0


def unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(sys.argv[1] if len(sys.argv) > 1 else "pushcrypt", Path(folder))
        for line in sys.stdin:
            request = json.loads(line)
            print(json.dumps({"tag": request["tag"], **tool.answered(request)}), flush=True)


if __name__ == "__main__":
    main()
