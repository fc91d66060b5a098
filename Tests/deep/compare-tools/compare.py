#!/usr/bin/env python3
"""Runs the same command lines through two builds of the pushcrypt tool and lists every difference.

    compare.py OLD NEW [--prose] [--only TEXT] [--jobs N] [--accepted FILE] [--report FILE]

OLD makes a folder of keystores, payloads and broken files. Each command line runs in a fresh copy of it, with fixed
times. The script compares standard output, the exit status, and the remaining files with their modes. It compares
random values (key ids, sealed fields, salts) by their length and by the places where the same value occurs.

Without --prose, it compares standard output only if it is JSON, and ignores the sentences in JSON members such as
"message" (the messages may have changed).
--accepted names a file of lines "CASE: REASON". The script lists a difference of such a case with its reason and
doesn't count it. If a case in that file has no difference, the script reports an error, so that the list stays current.

Then each tool opens the other tool's sealed payloads, and reads and changes the other tool's keystores.

Exit status: 0 no difference, 1 differences, 2 the script was called wrongly.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import cases
import fixtures

# The key of standard output among the files. No file has an empty name.
STDOUT = ""
# A file system in memory, if there is one: every case copies a hundred files.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
TOKEN = re.compile(rb"[A-Za-z0-9_+/-]{11,}={0,2}")
# JSON members whose value is a sentence for people.
SENTENCE = re.compile(
    rb'"(message|advice|why|because|problem|blockedBy|safe|text|verdict|next)" ?: ?"(?:\\.|[^"\\])*"')
ENVIRONMENT = {
    "PATH": os.environ["PATH"], "HOME": "/nonexistent", "TZ": "UTC", "LC_ALL": "C.UTF-8", "COLUMNS": "100",
    "NO_COLOR": "1", "TERM": "dumb", "PUSHCRYPT_WRITER": "host",
}


class Outcome:
    """The outcome of one run of a tool."""

    def __init__(self, status, stdout, stderr, files):
        self.status, self.stdout, self.stderr, self.files = status, stdout, stderr, files


def tree(folder):
    """The mode of every file and folder below a folder, and its content, or the target of a link."""
    found = {}
    for parent, folders, names in os.walk(folder):
        for name in folders + names:
            path = os.path.join(parent, name)
            mode = os.lstat(path).st_mode
            if os.path.islink(path):
                content = os.readlink(path).encode()
            elif os.path.isdir(path):
                content = b""
            else:
                try:
                    with open(path, "rb") as file:
                        content = file.read()
                except OSError as error:
                    content = f"unreadable: {error.errno}".encode()
            found[os.path.relpath(path, folder)] = (oct(mode), content)
    return found


def run(tool, case, made):
    """Runs a case in a separate copy of the fixtures."""
    with tempfile.TemporaryDirectory(prefix="pushcrypt-compare-", dir=MEMORY) as parent:
        folder = os.path.join(parent, "work")
        shutil.copytree(made, folder, symlinks=True)
        if case.prepare:
            case.prepare(folder)
        before = tree(folder)
        stdin = case.stdin
        if isinstance(stdin, str):
            with open(os.path.join(folder, stdin), "rb") as file:
                stdin = file.read()
        process = subprocess.run(
            [tool, *case.arguments], cwd=folder, input=stdin or b"", capture_output=True, timeout=120,
            env={**ENVIRONMENT, **case.environment})
        after = tree(folder)
        changed = {name: value for name, value in after.items() if before.get(name) != value}
        changed.update({name: ("removed", b"") for name in before if name not in after})
        return Outcome(process.returncode, process.stdout, process.stderr, changed)


def without_random(ours, theirs):
    """Replaces, in both lists of texts, each value that only one list has by its order and length."""
    sides = [ours, theirs]
    tokens = [{token for text in side for token in TOKEN.findall(text)} for side in sides]
    shared = tokens[0] & tokens[1]
    result = []
    for side in sides:
        seen = {}

        def replace(match):
            token = match.group()
            if token in shared:
                return token
            return b"<random %d of %d characters>" % (seen.setdefault(token, len(seen) + 1), len(token))

        result.append([TOKEN.sub(replace, text) for text in side])
    return result


def is_json(text):
    """Whether a text is JSON, or JSON lines."""
    for candidate in ([text], text.splitlines()):
        try:
            values = [json.loads(part) for part in candidate if part.strip()]
            if values and all(isinstance(value, (dict, list)) for value in values):
                return True
        except ValueError:
            continue
    return False


def differences(case, old, new, compares_prose):
    """Every difference between two outcomes, as lines of text."""
    lines = []
    if old.status != new.status:
        lines.append(f"exit status {old.status} became {new.status}")
        lines.append(f"  old stderr: {old.stderr.decode(errors='replace').strip()[:300]}")
        lines.append(f"  new stderr: {new.stderr.decode(errors='replace').strip()[:300]}")
    names = sorted(set(old.files) | set(new.files))
    texts = [[side.stdout] + [side.files.get(name, ("", b""))[1] for name in names] for side in (old, new)]
    if not compares_prose:
        texts = [[SENTENCE.sub(rb'"\1":"a sentence"', text) for text in side] for side in texts]
    parts = [dict(zip([STDOUT] + names, side)) for side in without_random(*texts)]
    if compares_prose or is_json(old.stdout) or case.is_data:
        if parts[0][STDOUT] != parts[1][STDOUT]:
            lines += ["standard output differs:"] + shown(parts[0][STDOUT], parts[1][STDOUT])
    for name in names:
        if (name in old.files) != (name in new.files):
            lines.append(f"file {name}: only the {'old' if name in old.files else 'new'} tool left or changed it")
        elif old.files[name][0] != new.files[name][0]:
            lines.append(f"file {name}: mode {old.files[name][0]} became {new.files[name][0]}")
        elif parts[0][name] != parts[1][name] and not same_size_blob(old.files[name][1], new.files[name][1]):
            lines += [f"file {name} differs:"] + shown(parts[0][name], parts[1][name])
    return lines


def same_size_blob(old, new):
    """Whether both are encrypted blobs or databases of the same size. They have no text to compare."""
    magic = (b"PCB1", b"SQLite format 3\0")
    return any(old.startswith(mark) and new.startswith(mark) for mark in magic) and len(old) == len(new)


def shown(old, new):
    """Shows the first lines that differ."""
    ours, theirs = old.splitlines(), new.splitlines()
    lines = []
    for number in range(max(len(ours), len(theirs))):
        left = ours[number] if number < len(ours) else b"(nothing)"
        right = theirs[number] if number < len(theirs) else b"(nothing)"
        if left != right:
            lines += [f"  line {number + 1}", f"    old: {left[:200].decode(errors='replace')}",
                      f"    new: {right[:200].decode(errors='replace')}"]
        if len(lines) >= 9:
            break
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--prose", action="store_true", help="compare text that is not JSON, too")
    parser.add_argument("--only", default="", help="run the cases whose name contains this text")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--accepted", help="a file of lines CASE: REASON")
    parser.add_argument("--report", help="write the differences to this file instead of standard output")
    options = parser.parse_args()
    old, new = os.path.abspath(options.old), os.path.abspath(options.new)
    accepted = {}
    if options.accepted:
        with open(options.accepted) as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    name, reason = line.rstrip("\n").split(": ", 1)
                    accepted[name] = reason
    report = open(options.report, "w") if options.report else sys.stdout
    with tempfile.TemporaryDirectory(prefix="pushcrypt-fixtures-", dir=MEMORY) as parent:
        made = os.path.join(parent, "made")
        kids = fixtures.make(old, made, ENVIRONMENT)
        every = [case for case in cases.all_cases(kids) if options.only in case.name]
        names = [case.name for case in every]
        doubled = {name for name in names if names.count(name) > 1}
        if doubled:
            sys.exit(f"two cases have one name: {sorted(doubled)[:5]}")

        def compare(case):
            return case, differences(case, run(old, case, made), run(new, case, made), options.prose)

        bad = known = 0
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for case, lines in pool.map(compare, every):
                if lines and case.name in accepted:
                    known += 1
                    print(f"accepted: {case.name}: {accepted[case.name]}", file=report)
                elif lines:
                    bad += 1
                    print(f"\n{case.name}\n  $ pushcrypt {' '.join(case.arguments)}", file=report)
                    print("\n".join("  " + line for line in lines), file=report)
                elif case.name in accepted:
                    bad += 1
                    print(f"accepted but equal, remove it from the list: {case.name}", file=report)
        crossed = fixtures.cross(old, new, made, ENVIRONMENT, report)
        print(f"{len(every)} command lines: {bad} differ, {known} differ with a reason; "
              f"{crossed.done} crossings, {crossed.failed} failed", file=report)
        if report is not sys.stdout:
            print(f"{len(every)} command lines, {bad} differ, {known} accepted; {crossed.failed} crossings failed")
        sys.exit(1 if bad or crossed.failed else 0)


if __name__ == "__main__":
    main()
