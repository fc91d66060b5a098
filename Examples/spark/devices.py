"""The data set of a rehearsal: devices with the text for each, and some lines that can't be sealed."""
from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet

Line = dict[str, Any]

TOO_LONG = 5_000


def name(number: int) -> str:
    return f"device-{number:09}"


def payload(install: str) -> Line:
    """The payload for this device. It contains the device's name, so that the checks detect a wrong recipient."""
    alert = {"title": "Dr. Amara Osei", "body": f"Results for {install} are in."}
    return {"aps": {"alert": alert, "sound": "chime.caf"}}


def line(install: str, record: Line | None) -> Line:
    """A line of `seal --batch`. The tool copies `install` and `token`, which belong to the queue, to the output.

    - record: seal to this registration record; if None, to the device's key of a shared keyset.
    """
    token = hashlib.sha256(install.encode()).hexdigest()
    recipient = {"to": record} if record else {"device": install}
    return {"install": install, "token": token, **recipient, "payload": payload(install)}


def lines(count: int, refused: int, record: Line | None) -> Iterator[Line]:
    """`count` lines to seal and, spread among them, `refused` lines with a text that fits into no push."""
    every = max(1, count // refused)
    for number in range(count):
        yield line(name(number), record)
        if number % every == 0 and number // every < refused:
            bad = line(f"refused-{number // every:06}", record)
            bad["payload"]["aps"]["alert"]["body"] = "x" * TOO_LONG
            yield bad


def write(folder: Path, form: str, data: Iterator[Line], rows: int) -> None:
    """- rows: the number of rows in a row group of Parquet. Spark splits such a file at row groups."""
    folder.mkdir(parents=True)
    if form == "parquet":
        write_parquet(folder / "devices.parquet", data, rows)
        return
    with (folder / "devices.json").open("w") as file:
        file.writelines(json.dumps(one, separators=(",", ":")) + "\n" for one in data)


def write_parquet(path: Path, data: Iterator[Line], rows: int) -> None:
    first = pa.Table.from_pylist(list(islice(data, rows)))
    with parquet.ParquetWriter(path, first.schema) as writer:
        writer.write_table(first)
        while group := list(islice(data, rows)):
            writer.write_table(pa.Table.from_pylist(group, schema=first.schema))
