"""Tests of a partition whose tool or input fails. A shell script replaces the tool, so that it fails on demand."""
from __future__ import annotations

import os
import tempfile
import unittest
from collections.abc import Iterator

import pyarrow as pa

from job import sealer


ROWS = 10_000


def tool(script: str) -> list[str]:
    """The job appends `--errors FILE`, so $2 is the errors file. The real tool always writes this file."""
    return ["sh", "-c", f': > "$2"; {script}', "tool"]


def batches(count: int, rows: int = ROWS) -> Iterator[pa.RecordBatch]:
    for _ in range(count):
        yield pa.RecordBatch.from_pydict({"value": pa.array([b"x" * 300] * rows, pa.binary())})


def failing() -> Iterator[pa.RecordBatch]:
    yield from batches(2)
    raise OSError("the storage went away")


def kinds(found: Iterator[pa.RecordBatch]) -> list[str]:
    return [kind for batch in found for kind in batch.column(0).to_pylist()]


class PartitionTests(unittest.TestCase):
    def setUp(self) -> None:
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        os.environ["SPARK_LOCAL_DIRS"] = self.scratch.name
        self.addCleanup(os.environ.pop, "SPARK_LOCAL_DIRS")

    def tearDown(self) -> None:
        self.assertEqual(os.listdir(self.scratch.name), [], "the partition left plain text behind")

    def refuse(self, script: str, message: str, data: Iterator[pa.RecordBatch]) -> None:
        with self.assertRaisesRegex(RuntimeError, message):
            kinds(sealer(tool(script))(data))

    def test_more_than_both_pipes_hold(self) -> None:
        self.assertEqual(kinds(sealer(tool("cat"))(batches(5))), ["sealed"] * 5 * ROWS)

    def test_no_lines(self) -> None:
        self.assertEqual(kinds(sealer(tool("cat"))(batches(0))), [])

    def test_refused_lines(self) -> None:
        script = 'read line; echo "$line" > "$2"; cat; exit 65'
        self.assertEqual(kinds(sealer(tool(script))(batches(1, rows=3))), ["sealed"] * 2 + ["refused"])

    def test_refused_lines_that_were_not_written(self) -> None:
        self.refuse("read line; cat; exit 65", "3 lines went in and 2 came out", batches(1, rows=3))

    def test_lost_lines(self) -> None:
        self.refuse("cat > /dev/null", "3 lines went in and 0 came out", batches(1, rows=3))

    def test_tool_that_ends_before_its_input(self) -> None:
        """A bad key has the status of refused lines."""
        self.refuse("exit 65", "ended with status 65", batches(5))

    def test_tool_that_fails(self) -> None:
        self.refuse("cat; exit 74", "ended with status 74", batches(1, rows=3))

    def test_tool_that_is_killed(self) -> None:
        self.refuse("read line; kill -9 $$", "ended with status -9", batches(5))

    def test_input_that_fails(self) -> None:
        with self.assertRaisesRegex(OSError, "the storage went away"):
            kinds(sealer(tool("cat"))(failing()))

    def test_reader_that_goes_away(self) -> None:
        found = sealer(tool("cat"))(batches(5))
        next(found)
        found.close()


if __name__ == "__main__":
    unittest.main()
