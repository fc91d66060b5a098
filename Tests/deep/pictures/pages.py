"""Makes the pages with the tool: seals the pushes of a case, and simulates them."""

import json
import os
import subprocess

from cases import picture

TOPIC = "com.example.Clinic"
NOW = "2026-03-01T09:10:00Z"


class Workshop:
    """A folder with the keys of a phone."""

    def __init__(self, tool, folder):
        self.tool, self.folder = os.path.abspath(tool), folder
        self._run(["keys", "create", "Keys/phone", "--kind", "recipient", "--psk", "--insecure-plaintext", "--at", NOW])
        with open(os.path.join(folder, "picture.png"), "wb") as file:
            file.write(picture())

    def page(self, case):
        """Writes the page of a case and returns its path."""
        lines = b"\n".join(self._payload(push) for push in case.pushes)
        path = os.path.join(self.folder, case.name + ".html")
        times = [] if "--at" in case.options else ["--at", NOW]
        self._run(["simulate", "--keys", "Keys/phone", "--topic", TOPIC, "--picture", path] + times + case.options, lines,
                  status=65 if case.fails else 0)
        return path

    def _payload(self, push):
        if isinstance(push, str):
            return push.encode()
        text = json.dumps(push, ensure_ascii=False).encode()
        if "title" not in str(push.get("aps", {}).get("alert")):
            return text
        return self._run(["seal", "--to", "Keys/phone", "--topic", TOPIC, "--at", NOW], text).strip()

    def _run(self, arguments, stdin=b"", status=0):
        done = subprocess.run([self.tool] + arguments, input=stdin, capture_output=True, cwd=self.folder)
        if done.returncode != status:
            raise SystemExit(f"{arguments}: exit status {done.returncode}\n{done.stderr.decode()}{done.stdout.decode()}")
        return done.stdout
