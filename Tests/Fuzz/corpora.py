#!/usr/bin/env python3
"""The committed inputs of the targets. corpora/TARGET has a line an input in base64, after its name if it was a find.

Run as Tests/Fuzz/corpora.py FOLDER, it writes them to FOLDER/TARGET/NAME.
"""

import base64
import hashlib
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "corpora"


def name_of(data):
    return hashlib.sha1(data).hexdigest()


def targets():
    return sorted(path.name for path in FOLDER.iterdir())


def read(target):
    """The inputs by name."""
    inputs = {}
    for line in (FOLDER / target).read_text().splitlines():
        *name, text = line.split(" ")
        data = base64.b64decode(text)
        inputs[name[0] if name else name_of(data)] = data
    return inputs


def write(target, inputs):
    """Replaces the inputs of a target."""
    lines = [("" if name == name_of(data) else name + " ") + base64.b64encode(data).decode() for name, data in inputs.items()]
    (FOLDER / target).write_text("".join(line + "\n" for line in sorted(lines)))


def unpack(folder):
    for target in targets():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for name, data in read(target).items():
            (folder / target / name).write_bytes(data)


if __name__ == "__main__":
    unpack(pathlib.Path(sys.argv[1]))
