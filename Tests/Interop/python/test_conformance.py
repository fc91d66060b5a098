"""Tests of the conformance kit: python -m unittest test_conformance"""
from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Callable, Optional, Sequence
from unittest import mock
from xml.etree import ElementTree

from test_xwing import MISSING

ROOT = Path(__file__).resolve().parents[3]
KIT = ROOT / "Conformance"
sys.path.insert(0, str(KIT / "runner" / "src"))

from pushcrypt_conformance import cli, report  # noqa: E402
from pushcrypt_conformance.cases import Answer, Case, Failed, Request, Session, run  # noqa: E402
from pushcrypt_conformance.material import Vectors, found  # noqa: E402
from pushcrypt_conformance.measure import measure  # noqa: E402
from pushcrypt_conformance.program import MAX_HANGS, BadAnswer, DoesNotRun, Program  # noqa: E402
from pushcrypt_conformance.sealing import mode_named  # noqa: E402
from pushcrypt_conformance.suite import all_cases  # noqa: E402

FOLDER = found(None, ROOT)
assert FOLDER is not None
VECTORS = Vectors(FOLDER)
#: A program that answers each line with what `answer` makes of it.
LOOP = "import json, sys, time\nfor number, line in enumerate(sys.stdin, 1):\n    tag = json.loads(line)['tag']\n    {body}\n"
ECHO = "print(json.dumps({'tag': tag, 'ok': True}), flush=True)"


def program(body: str, timeout: float = 20.0) -> Program:
    return Program([sys.executable, "-c", LOOP.format(body=body)], timeout)


class InProcess:
    """A program in this process."""

    def __init__(self, answer: Callable[[Request], Answer]) -> None:
        self.answer = answer
        self.requests: list[Request] = []

    def ask_all(self, requests: Sequence[Request]) -> list[Answer]:
        self.requests += requests
        return [self.answer(request) for request in requests]


class ProgramTests(unittest.TestCase):
    def bad(self, asked: Program, *requests: Request) -> str:
        with self.assertRaises(BadAnswer) as caught:
            asked.ask_all(requests or [{"op": "x"}])
        return caught.exception.what

    def test_answers_come_in_order_also_for_long_lines_and_much_on_stderr(self) -> None:
        body = "sys.stderr.write('e' * 200_000); print(json.dumps({'tag': tag, 'ok': True, 'x': line}), flush=True)"
        with program(body) as asked:
            answers = asked.ask_all([{"op": "x", "text": str(number) * 100_000} for number in range(8)])
            self.assertEqual([answer["tag"] for answer in answers], list(range(1, 9)))
            self.assertEqual(asked.ask_all([{"op": "x"}])[0]["tag"], 9)
            self.assertEqual(asked.starts, 1)

    def test_garbage_is_one_bad_answer_and_the_next_request_has_a_fresh_process(self) -> None:
        for text in ("'hello'", "'[1]'", "'null'", "'{}'", "''", "json.dumps({'tag': str(tag), 'ok': True})",
                     "json.dumps({'tag': True, 'ok': True})"):
            with self.subTest(text), program(f"print({text} if number == 1 else '', flush=True)") as asked:
                self.assertTrue(re.search("JSON object|tag", self.bad(asked)))
                self.bad(asked)
                self.assertEqual(asked.starts, 2)

    def test_a_line_that_is_not_utf8_is_a_bad_answer(self) -> None:
        with program("sys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush()") as asked:
            self.assertIn("UTF-8", self.bad(asked))

    def test_a_program_that_dies_is_started_again_and_its_last_words_are_reported(self) -> None:
        with program(f"{ECHO} if number < 3 else sys.exit('no more')") as asked:
            asked.ask_all([{"op": "x"}, {"op": "x"}])
            self.assertEqual(self.bad(asked), "the program ended with status 1: no more")
            asked.ask_all([{"op": "x"}])
            self.assertEqual(asked.starts, 2)

    def test_a_program_that_never_answers_does_not_run(self) -> None:
        for command in ([sys.executable, "-c", "raise SystemExit(3)"], ["/nonexistent/program"]):
            with Program(command) as asked, self.assertRaises(DoesNotRun):
                for _ in range(2):
                    with contextlib.suppress(BadAnswer):
                        asked.ask_all([{"op": "x"}])

    def test_a_program_that_hangs_is_ended_and_after_some_hangs_not_asked_any_more(self) -> None:
        with program("time.sleep(600)", timeout=0.05) as asked:
            for _ in range(MAX_HANGS):
                self.assertEqual(self.bad(asked), "no answer within 0.05 seconds")
            self.assertIn("not asked", self.bad(asked))
            self.assertEqual(asked.starts, MAX_HANGS)

    def test_a_program_that_closes_its_output_and_stays_is_ended_and_counts_as_a_hang(self) -> None:
        with program("import os; os.close(1); time.sleep(600)") as asked:
            self.assertEqual(self.bad(asked), "the program has closed its output")

    def test_a_line_without_an_end_and_lines_without_an_end_are_bad_answers_and_not_kept(self) -> None:
        for body, what in (("while True: sys.stdout.write('x' * 65_536)", "more than 4,000,000 bytes"),
                           (f"while True: {ECHO}", "has the tag 1"), ("print('[' * 100_000, flush=True)", "JSON object")):
            with self.subTest(body), program(body) as asked:
                self.assertIn(what, self.bad(asked, {"op": "x"}, {"op": "x"}))

    def test_the_processes_of_a_program_that_hangs_end_with_it(self) -> None:
        read, write = os.pipe()
        child = "import time; time.sleep(600)"
        body = f"import subprocess; subprocess.run([sys.executable, '-c', {child!r}], pass_fds=[{write}])"
        with mock.patch.object(subprocess, "Popen", functools.partial(subprocess.Popen, pass_fds=[write])):
            with program(body, timeout=0.5) as asked:
                self.assertIn("no answer", self.bad(asked))
        os.close(write)
        self.assertEqual(os.read(read, 1), b"", "the child has the other end no more")
        os.close(read)

    def test_answers_out_of_order_are_refused(self) -> None:
        body = "print(json.dumps({'tag': tag + (1 if tag % 2 else -1), 'ok': True}), flush=True)"
        with program(body) as asked:
            self.assertIn("has the tag 2", self.bad(asked, {"op": "x"}, {"op": "x"}))

    def test_too_few_lines_are_a_hang_and_the_next_answer_is_not_taken_for_the_missing_one(self) -> None:
        with program(f"{ECHO} if tag != 2 else None", timeout=2.0) as asked:
            self.assertIn("no answer", self.bad(asked, {"op": "x"}, {"op": "x"}))
            self.assertEqual(asked.ask_all([{"op": "x"}])[0]["tag"], 3)


def sealed(request: Request, change: Callable[[str], str] = str) -> Answer:
    """What programs/python.py answers, with a change of the payload."""
    answer: Answer = json.loads(json.dumps(PYTHON["answered"](request)))
    return {**answer, "payload": change(answer["payload"])} if "payload" in answer else answer


PYTHON = runpy.run_path(str(KIT / "programs" / "python.py"), run_name="python")


class MeasureTests(unittest.TestCase):
    """Each fault of a push is found."""

    def fault(self, change: Callable[[str], str], answer: Optional[Answer] = None, **options: Any) -> str:
        mode = mode_named(VECTORS, "p256 psk, signed")
        request = mode.request(**options)
        made = {**sealed(request, change), **(answer or {})}
        with self.assertRaises(Failed) as caught:
            measure(Session(InProcess(lambda _: {})), mode, request, made)
        return caught.exception.expected

    def test_a_push_of_the_package_has_no_fault(self) -> None:
        mode = mode_named(VECTORS, "p256 psk, signed")
        measure(Session(InProcess(lambda _: {})), mode, mode.request(), sealed(mode.request()))

    def test_faults_of_the_outer_payload(self) -> None:
        for change, expected in (
            (lambda text: text.replace('{"aps"', '{"aps":{},"aps"'), "each name once"),
            (lambda text: text.replace('"v":1', '"v":1,"v":1'), "each name once"),
            (lambda text: text + "x", "strict JSON"), (lambda text: "\ufeff" + text, "strict JSON"),
            (lambda text: text.replace('"v":1', '"v":NaN'), "strict JSON"),
            (lambda text: f"[{text}]", "an object"), (lambda text: text[:-1] + ',"x":1}', "a root with aps"),
            (lambda text: text.replace('"v":1', '"v":1.0'), "the integer 1 as v"), (lambda text: text.replace('"v":1', '"v":"1"'), "the integer 1 as v"),
            (lambda text: text.replace('"v":1,', ""), "in this order"), (lambda text: text[:-2] + ',"x":1}}', "in this order"),
            (lambda text: re.sub(r'("kid":"[^"]*"),("sealed":"[^"]*")', r"\2,\1", text), "in this order"),
            (lambda text: re.sub(r'("sealed":"[^"]*)"', r'\1="', text), "base64url"),
            (lambda text: re.sub(r'("sealed":")..', r"\1+/", text), "base64url"),
            (lambda text: text.replace('"mutable-content":1', '"mutable-content":true'), "the visible aps"),
            (lambda text: text.replace('"mutable-content":1', '"mutable-content":1,"badge":1'), "the visible aps"),
            (lambda text: text.replace("New message", "New"), "the visible aps"),
            (lambda text: re.sub('"sealed":"....', '"sealed":"BAAA', text), "opens"),
        ):
            found_fault = self.fault(change)
            self.assertIn(expected, found_fault)

    def test_faults_inside(self) -> None:
        def as_is(text: str) -> str:
            return text

        mode = mode_named(VECTORS, "p256 psk, signed")
        for options, answer, expected in (
            ({}, sealed(mode.request('{"aps":{"alert":"y"}}')), "byte for byte"), ({}, sealed(mode.request(expires=60)), "exp"),
            ({}, sealed(mode.request(at=1_799_999_000, expires=2_592_000)), "iat"),
            ({}, {"id": "AAAAAAAAAAAAAAAAAAAAAA"}, "id in the answer"),
            ({}, {"expiresAt": 1}, "expiresAt in the answer"), ({}, sealed(mode.request(pad="none")), "a message of 128 bytes"),
            ({"limit": 1_000}, sealed(mode.request(pad="max")), "at most 1,000 bytes"), ({}, sealed(mode.request(quiet=True)), "quiet"),
            ({"retract": ["AAECAwQFBgcICQoLDA0ODw"]}, sealed(mode.request()), "retract"), ({}, {"payload": 1}, "a string payload"),
        ):
            self.assertIn(expected, self.fault(as_is, {name: value for name, value in answer.items() if name != "ok"}, **options))

    def test_an_encapsulation_and_an_id_that_were_there_are_faults(self) -> None:
        mode, session = mode_named(VECTORS, "p256 psk, signed"), Session(InProcess(lambda _: {}))
        request = mode.request()
        answer = sealed(request)
        measure(session, mode, request, answer)
        with self.assertRaisesRegex(Failed, "fresh encapsulation"):
            measure(session, mode, request, answer)
        session.encapsulations.clear()
        with self.assertRaisesRegex(Failed, "another id"):
            measure(session, mode, request, answer)


class VectorTests(unittest.TestCase):
    """Conformance/vectors."""

    def test_every_file_has_a_version_and_every_vector_a_rule_a_suite_and_flags(self) -> None:
        sections = {page.stem: set(re.findall(r"^## (?:(\d+)\. .*|.*)$", page.read_text(encoding="utf-8"), re.MULTILINE))
                    for page in (ROOT / "docs").glob("*.md")}
        count = 0
        for path in sorted(FOLDER.glob("*.json")):  # type: ignore[union-attr]
            if path.name in ("hpke-edges.json", "rfc9180-appendix-a.json"):
                continue
            file = json.loads(path.read_text(encoding="utf-8"))
            self.assertEqual(file["version"], 1, path.name)
            for name, entries in file.items():
                if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
                    continue
                names = [entry["name"] for entry in entries if "name" in entry]
                self.assertEqual(len(set(names)), len(names), f"{path.name} {name}")
                for entry in entries:
                    count += 1
                    self.assertIn(entry["suite"], (1, 2, 3, 4, None), entry)
                    self.assertLessEqual(set(entry["flags"]), {"psk", "signed", "unsigned", "accepted", "refused"})
                    self.assertEqual(len({"accepted", "refused"} & set(entry["flags"])), 1, entry)
                    page, number = entry["rule"].split(",")[0].split(" ")[:2]
                    self.assertIn(number if page == "protocol" else "", sections[page], entry["rule"])
        self.assertGreater(count, 5_000)

    def test_the_members_are_those_that_the_table_gives(self) -> None:
        """Also in the files that were made once: annotate.py changes nothing of a file that it has annotated."""
        made = runpy.run_path(str(KIT / "vectors" / "annotate.py"))
        for name in ("pushcrypt-v1", "key-containers", "xwing-keys"):
            file = VECTORS.load(name)
            self.assertEqual(json.dumps(made["annotated_file"](name, file)), json.dumps(file))
        with self.assertRaises(LookupError):
            made["annotated_file"]("alerts-v1", {"vectors": [{"name": "x", "isVisible": True}] * 2})


class CaseTests(unittest.TestCase):
    cases: list[Case]

    @classmethod
    def setUpClass(cls) -> None:
        cls.cases = all_cases(VECTORS)

    def test_every_name_is_unique_and_every_rule_names_a_section(self) -> None:
        self.assertEqual(len({case.name for case in self.cases}), len(self.cases))
        sections = re.findall(r"^## (\d+)\. ", (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8"), re.MULTILINE)
        for case in self.cases:
            number = re.fullmatch(r"protocol (\d+), .+", case.rule)
            self.assertTrue(number and number[1] in sections, case)
            self.assertTrue({"accepted", "refused"} & set(case.flags), case)

    def test_every_vector_of_a_push_a_key_a_set_and_a_blob_is_a_case(self) -> None:
        names = {case.name for case in self.cases}
        for file, part, prefixes in (
            ("envelopes-v1", "vectors", ("",)), ("pushcrypt-v1", "opened", ("",)), ("pushcrypt-v1", "refused", ("",)),
            ("carriers-v1", "vectors", ("",)),
            ("instructions-v1", "vectors", ("",)),
            ("alerts-v1", "vectors", ("inner: ", "outer: ", "sealed payload: ", "sealed placeholder: ")),
            ("possession-v1", "challenges", ("",)), ("possession-v1", "answers", ("answers: ",)),
            ("sender-sets-v1", "cases", ("",)),
            ("sender-sets-v1", "pins", ("pins: ",)), ("blobs-v1", "blobs", ("",)), ("blobs-v1", "refused", ("refused: ",)),
            ("blobs-v1", "headers", ("header: ",)), ("blobs-v1", "payloads", ("payload: ",)),
            ("sender-refusals-v1", "seal", ("seal: ",)),
            ("sender-refusals-v1", "register", ("register: ",)), ("sender-refusals-v1", "store", ("store: ",)),
            ("sender-refusals-v1", "challenge", ("challenge: ",)), ("keysets-v1", "states", ("states: ",)),
            ("steps-v1", "pushes", ("",)), ("senders-v1", "pushes", ("",)), ("receipts-v1", "vectors", ("",)),
            ("device-sets-v1", "vectors", ("upload: ",)), ("device-sets-v1", "changes", ("change: ",)),
            ("device-sets-v1", "campaigns", ("campaigns: ",)),
        ):
            for entry in VECTORS.load(file)[part]:
                for prefix in prefixes:
                    self.assertIn(f"{file}/{prefix}{entry['name']}", names)
        self.assertGreater(sum(case.name.startswith("keysets-v1/") for case in self.cases), len(VECTORS.load("keysets-v1")["vectors"]))
        self.assertLessEqual({entry["name"] for entry in VECTORS.load("sealing-v1")["vectors"]}, names)

    def test_a_sender_has_more_than_60_inputs_to_refuse(self) -> None:
        self.assertGreater(sum(case.level == "sender" and "refused" in case.flags for case in self.cases), 60)

    def test_the_page_names_every_operation_and_member_and_has_at_most_950_words(self) -> None:
        page = (KIT / "README.md").read_text(encoding="utf-8")
        self.assertLessEqual(len(page.split()), 950)
        count = sum(case.level == "sender" for case in self.cases)
        self.assertIn(f"\nsender {count:,} of {count:,}, 0 unsupported\n", page)
        asked = InProcess(lambda _: {"unsupported": "everything"})
        results = run(self.cases, asked)
        self.assertEqual({result.outcome for result in results}, {"unsupported"})
        names = {(request["op"], name) for request in asked.requests for name in request} | {("confirm", "answer"),
        ("confirm", "pending")}
        for operation, name in sorted(names):
            self.assertIn(f"`{operation}`", page)
            if name != "op":
                self.assertIn(f"`{name}`", page, operation)


class OddAnswerTests(unittest.TestCase):
    """No answer ends a run."""

    def test_answers_of_another_form_fail_their_case(self) -> None:
        payload = '{"aps":{"alert":"x"},"pushcrypt":{"v":1,"kid":1e99999999999999999999,"sealed":"\ud800"}}'
        cases = [case for case in all_cases(VECTORS) if "accepted" in case.flags and case.suite in (1, None)]
        for odd in (None, [], {}, "\ud800", payload, 1e400, [[]], "[" * 100_000):
            names = ("payload", "id", "expiresAt", "challenge", "pending", "answer", "blob", "reference", "plaintext", "state", "kids",
                     "receipt")
            results = run(cases[::7], InProcess(lambda _: {"ok": True, **dict.fromkeys(names, odd)}))
            self.assertLess(sum(result.outcome == "passed" for result in results), len(results) // 3)
            report.table(results, ["sender"], "12345678").encode("utf-8")
            ElementTree.fromstring(report.as_junit(results).encode("utf-8"))

    def test_unsupported_has_a_reason_and_stands_alone(self) -> None:
        for answer in ({"unsupported": None}, {"unsupported": "x", "ok": True}, {"unsupported": "x", "failure": "y"}):
            case = Case("a/b", "sender", "protocol 2, base64url", lambda session: session.refused({"op": "seal"}))
            self.assertEqual(run([case], InProcess(lambda _: answer))[0].outcome, "failed", answer)


class ReportTests(unittest.TestCase):
    def results(self) -> Any:
        def fails(session: Session) -> None:
            session.accepted({"op": "seal", "payload": "\x00\ufffe<&\ud800"})

        cases = [
            Case("a group/passes", "sender", "protocol 2, base64url", lambda session: None),
            Case("a group/fails", "sender", "protocol 2, base64url", fails),
            Case("other/lacks", "sender-full", "protocol 3, suites", lambda session: session.refused({"op": "open"})),
            Case("other/has another form", "keys", "protocol 3, suites", lambda session: session.refused({"op": "keys"}))]
        answers: dict[str, Answer] = {
            "seal": {"failure": "no\x00\ufffe<&"}, "open": {"unsupported": "suite 3"}, "keys": {"ok": True, "failure": "x"}}
        return run(cases, InProcess(lambda request: answers[request["op"]]), clock=iter(range(100)).__next__)

    def test_outcomes_and_the_lines_to_quote(self) -> None:
        results = self.results()
        self.assertEqual([result.outcome for result in results], ["passed", "failed", "unsupported", "failed"])
        self.assertEqual(report.line(results, "sender"), "sender 1 of 2, 0 unsupported")
        self.assertEqual(report.line(results, "sender-full"), "sender-full 1 of 3, 1 unsupported")
        table = report.table(results, ["sender", "sender-full", "keys"], "12345678")
        for text in ("a group        1        1            0", "FAILED a group/fails (protocol 2, base64url)",
                     "expected  an answer with ok", "1  suite 3"):
            self.assertIn(text, table)
        self.assertEqual(table.splitlines()[-1], "keys 0 of 1, 0 unsupported")

    def test_junit_is_xml_with_the_same_counts(self) -> None:
        root = ElementTree.fromstring(report.as_junit(self.results()).encode("utf-8", "strict"))
        self.assertEqual((root.attrib["tests"], root.attrib["failures"], root.attrib["skipped"]), ("4", "2", "1"))
        self.assertEqual([suite.attrib["name"] for suite in root], ["a group", "other"])
        self.assertEqual([case.attrib["name"] for case in root.iter("testcase")], ["passes", "fails", "lacks", "has another form"])
        self.assertIn("no", root[0][1][0].attrib["message"])

    def test_json_has_every_case(self) -> None:
        read = json.loads(report.as_json(self.results(), ["sender", "keys"], "12345678", ["p"]))
        self.assertEqual(read["levels"]["sender"], {"cases": 2, "passed": 1, "failed": 1, "unsupported": 0})
        self.assertEqual([case["outcome"] for case in read["cases"]], ["passed", "failed", "unsupported", "failed"])
        self.assertEqual(read["cases"][1]["requests"][0]["op"], "seal")

    def test_json_names_the_inputs_that_a_sender_must_refuse(self) -> None:
        cases = [case for case in all_cases(VECTORS) if case.level == "sender"]
        results = run(cases, InProcess(lambda _: {"unsupported": "all"}))
        named = json.loads(report.as_json(results, ["sender"], "12345678", ["p"]))["refusals"]["sender"]
        self.assertEqual(named, [case.name for case in cases if "refused" in case.flags])
        self.assertGreater(len({name.split(": ", 1)[-1] for name in named}), 60)
        for text in ("a byte more", "a pushcrypt member", "a private record", "a Live Activity", "a publisher's key", "an alert of spaces"):
            self.assertTrue(any(text in name for name in named), text)
        names = [case.name for case in all_cases(VECTORS) if case.level == "sender-full" and "refused" in case.flags]
        for text in ("a lower suite", "a signer that is revoked", "a bare shared key", "a set whose key is revoked", "without proof"):
            self.assertTrue(any(text in name for name in names), text)

    def test_the_table_has_nothing_that_a_terminal_obeys(self) -> None:
        table = report.table(self.results(), ["sender"], "12345678")
        self.assertTrue(all(one.isprintable() for one in table.replace("\n", "")), table)


class PairTests(unittest.TestCase):
    """Tests/deep/pairs/run, with few payloads."""

    def run_pairs(self, *options: str) -> tuple[int, str]:
        command = [sys.executable, str(ROOT / "Tests" / "deep" / "pairs" / "run"), *options]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PUSHCRYPT_PYTHON": sys.executable})
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def test_every_payload_of_the_package_is_valid_and_comes_back_or_is_too_large(self) -> None:
        python = ["Python", shlex.join(PYTHON_PROGRAM)]
        status, out = self.run_pairs("--count", "300", "--seed", "1", "--suites", "1,2,4", "--sender", *python, "--opener", *python)
        self.assertEqual(status, 0, out)
        self.assertRegex(out, r"Python seals 2\d\d; tooLarge: \d+\n\n")
        self.assertRegex(out, r"\nPython +Python +2\d\d +0 +0 ")

    def test_a_sender_that_writes_the_payload_again_is_found_and_one_that_refuses_more_too(self) -> None:
        before = (f"import json, runpy, sys\nanswered = runpy.run_path({PYTHON_PROGRAM[1]!r})['answered']\n"
                  "for line in sys.stdin:\n    request = json.loads(line)\n    ")
        behind = "\n    print(json.dumps({'tag': request['tag'], **answered(request)}))\n    sys.stdout.flush()"
        for change, found in (("request['payload'] = request['payload'].replace('1', '2')", "payload: expected"),
                              ("request['expires'] = 59", "expiresAt: expected"), ("request['retract'] = []", "retract: expected"),
                              ("request['payload'] = request['payload'].replace('\\n', '[')", "'Python': 'ok', 'other': 'refused'")):
            with self.subTest(change):
                status, out = self.run_pairs(
                    "--count", "60", "--seed", "2", "--suites", "1", "--sender", "Python", shlex.join(PYTHON_PROGRAM),
                    "--sender", "other", shlex.join([sys.executable, "-c", before + change + behind]),
                    "--opener", "Python", shlex.join(PYTHON_PROGRAM))
                self.assertEqual(status, 1, out)
                self.assertIn(found, out)


PYTHON_PROGRAM = [sys.executable, str(KIT / "programs" / "python.py")]


class CommandTests(unittest.TestCase):
    def run_command(self, *arguments: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = cli.main(arguments)
        return status, out.getvalue(), err.getvalue()

    def test_usage(self) -> None:
        for arguments in ([], ["--level"], ["--level", "all", "p"], ["--level", "sender", "--level", "sender", "p"], ["--nothing", "p"],
                          ["--timeout", "0", "p"], ["--timeout", "x", "p"], ["--vectors", "/nonexistent", "p"],
                          ["--only", "no such case", "p"]):
            self.assertEqual(self.run_command(*arguments)[0], 64, arguments)
        self.assertEqual(self.run_command("--help")[:2], (0, cli.USAGE + "\n"))
        self.assertEqual(self.run_command("--version")[:2], (0, "pushcrypt-conformance 0.1.0\n"))

    def test_vectors_of_another_version_or_without_a_file_are_bad_usage(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for path in FOLDER.glob("*.json"):  # type: ignore[union-attr]
                (Path(folder) / path.name).symlink_to(path)
            self.assertEqual(self.run_command("--vectors", folder, "--only", "topics", "/nonexistent/program")[0], 2)
            receipts = Path(folder) / "receipts-v1.json"
            for text in (None, '{"version": 2, "vectors": []}', '{"vectors": []}'):
                receipts.unlink()
                if text is not None:
                    receipts.write_text(text)
                status, _, err = self.run_command("--vectors", folder, "--only", "topics", "p")
                self.assertEqual(status, 64)
                self.assertIn("receipts-v1.json isn't there, or has another version than 1", err)
                receipts.touch()

    def test_a_program_that_does_not_run(self) -> None:
        for command in (["/nonexistent/program"], [sys.executable, "-c", "raise SystemExit(3)"]):
            status, _, err = self.run_command("--only", "steps-v1", *command)
            self.assertEqual(status, 2)
            self.assertIn("doesn't run", err)

    def test_a_program_whose_answers_are_wrong(self) -> None:
        status, out, _ = self.run_command(sys.executable, "-c", LOOP.format(body=ECHO), "--only", "topics", "--level", "sender")
        self.assertEqual(status, 1)
        self.assertTrue(out.endswith("sender 0 of 6, 0 unsupported\n"), out)

    @unittest.skipIf(MISSING is not None, MISSING or "")
    def test_the_python_package_and_its_reports(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            files = [f"{folder}/r.json", f"{folder}/r.xml"]
            status, out, _ = self.run_command("--json", files[0], "--junit", files[1], "--only", "suite 4", *PYTHON_PROGRAM)
            self.assertEqual((status, out.splitlines()[-1]), (0, "keys 6 of 6, 0 unsupported"), out)
            read = json.loads(Path(files[0]).read_text(encoding="utf-8"))
            self.assertEqual(len(list(ElementTree.parse(files[1]).iter("testcase"))), len(read["cases"]))
        for only in ("steps-v1", "challenges/", "chosen keys", "sealed blobs", "sender-refusals-v1", "carriers-v1", "senders-v1",
                     "device-sets-v1", "day keys"):
            status, out, _ = self.run_command("--only", only, "--", *PYTHON_PROGRAM)
            self.assertEqual(status, 0, out)
            self.assertNotIn("\nunsupported", out)

    def test_three_mutants_and_the_sender_that_they_are_made_of(self) -> None:
        sender = [sys.executable, str(KIT / "mutants" / "sender.py")]
        status, out, _ = self.run_command("--level", "sender", "--only", "p256 psk, signed: a", *sender)
        self.assertEqual(status, 0, out)
        command = [sys.executable, str(KIT / "mutants" / "mutants.py"), "psk bit", "stand twice", "in mode base"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout.count(" -> ")), (0, 3), done.stdout + done.stderr)
        self.assertNotIn("SURVIVES", done.stdout)


if __name__ == "__main__":
    unittest.main()
