"""Seals a campaign with Spark: one process `pushcrypt seal --batch` seals each partition.

    spark-submit job.py --input DEVICES --output FOLDER --campaign ID -- --topic com.example.app --to Keys/campaign

A row of the input is a line of `seal --batch`: a JSON line, or a row of Parquet with the same members as columns and
nested members as structs. The job writes and commits two parts of the output together:

    FOLDER/kind=sealed/    the sealed lines, to send
    FOLDER/kind=refused/   the lines that can't be sealed, each with its reason
"""
from __future__ import annotations

import argparse
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE, Popen
from typing import BinaryIO

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

Batches = Iterator[pa.RecordBatch]

SCHEMA = "kind string, line binary"
GROUP_IN_BYTES, PIPE_BUFFER_IN_BYTES = 4 << 20, 1 << 20
DONE, SOME_REFUSED = 0, 65


class Feeder(threading.Thread):
    """Writes rows to the tool while another thread reads its output: with one thread, both full pipes would block."""

    def __init__(self, batches: Batches, pipe: BinaryIO) -> None:
        super().__init__(daemon=True)
        self.batches, self.pipe = batches, pipe
        self.count = 0
        self.is_broken_off = False
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            # Closes the pipe in any case: the tool ends only after its input has ended.
            with self.pipe:
                for batch in self.batches:
                    self.pipe.write(b"\n".join([*batch.column(0).to_pylist(), b""]))
                    self.count += batch.num_rows
        except BrokenPipeError:
            self.is_broken_off = True
        except Exception as failure:
            self.failure = failure


def sealer(command: list[str]) -> Callable[[Batches], Batches]:
    """Returns the function that `mapInArrow` calls for each partition, on an executor."""

    def seal(batches: Batches) -> Batches:
        # Refused lines are plain text, so they go to a private folder in Spark's scratch space. Spark removes the
        # scratch space when the application ends.
        scratch = os.environ.get("SPARK_LOCAL_DIRS", tempfile.gettempdir()).split(",")[0]
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            errors = Path(folder, "errors")
            tool = Popen([*command, "--errors", errors], stdin=PIPE, stdout=PIPE, bufsize=PIPE_BUFFER_IN_BYTES)
            try:
                yield from seal_with(tool, batches, errors)
            finally:
                tool.kill()
                tool.stdout.close()
                tool.wait()

    return seal


def seal_with(tool: Popen[bytes], batches: Batches, errors: Path) -> Batches:
    feeder = Feeder(batches, tool.stdin)
    feeder.start()
    count = 0
    for rows in grouped("sealed", tool.stdout):
        count += rows.num_rows
        yield rows
    feeder.join()
    if feeder.failure:
        raise feeder.failure
    # A tool that ends before its input has failed, regardless of its status: a bad key has the status of refused lines.
    if tool.wait() not in (DONE, SOME_REFUSED) or feeder.is_broken_off:
        raise RuntimeError(f"pushcrypt ended with status {tool.returncode}; its messages are in the executor's stderr")
    with errors.open("rb") as refused:
        for rows in grouped("refused", refused):
            count += rows.num_rows
            yield rows
    if count != feeder.count:
        raise RuntimeError(f"{feeder.count} lines went in and {count} came out")


def grouped(kind: str, lines: BinaryIO) -> Batches:
    while group := lines.readlines(GROUP_IN_BYTES):
        column = pa.array([line.removesuffix(b"\n") for line in group], pa.binary())
        yield pa.RecordBatch.from_pydict({"kind": pa.repeat(kind, len(group)), "line": column})


def input_lines(spark: SparkSession, path: str, form: str) -> DataFrame:
    """Returns one binary column. In a string column, Spark would silently replace bytes that aren't UTF-8."""
    if form == "parquet":
        return spark.read.parquet(path).select(sql.to_json(sql.struct("*")).cast("binary"))
    return spark.read.text(path, lineSep="\n").select(sql.col("value").cast("binary"))


def check_counts(spark: SparkSession, lines: DataFrame, output: str) -> None:
    """Counts the committed lines, not the processed ones: tasks may have run more than once."""
    written = spark.read.text(output, lineSep="\n").groupBy("kind").count().collect()
    counts = {row["kind"]: row["count"] for row in written}
    expected = lines.count()
    print(f"{expected} lines in, {counts.get('sealed', 0)} sealed, {counts.get('refused', 0)} refused")
    if sum(counts.values()) != expected:
        raise SystemExit("job: counts in and out differ; don't send this output")


def main() -> None:
    parser = argparse.ArgumentParser(description="Seal a campaign with Spark.")
    parser.add_argument("--input", required=True)
    parser.add_argument("--output", required=True, help="a folder that doesn't exist yet")
    parser.add_argument("--format", choices=["json", "parquet"], default="json")
    parser.add_argument("--campaign", required=True, help="the input of the message ids, with key and device")
    parser.add_argument("--pushcrypt", default="pushcrypt", help="the binary on the executors")
    parser.add_argument("options", nargs="+", help="options of seal, after --")
    arguments = parser.parse_args()

    # Version 1: all files appear together at the end of the job, and only those of attempts that the driver let
    # commit. Version 2 moves a task's files while other tasks still run.
    committer = "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version"
    spark = SparkSession.builder.config(committer, "1").getOrCreate()
    # Two files are open per task, sealed and refused: without this, Spark would sort each partition by kind first.
    spark.conf.set("spark.sql.maxConcurrentOutputFileWriters", 2)
    command = [arguments.pushcrypt, "seal", "--batch", "--id-from", arguments.campaign, *arguments.options]
    lines = input_lines(spark, arguments.input, arguments.format)
    sealed = lines.mapInArrow(sealer(command), SCHEMA).select("kind", sql.col("line").cast("string"))
    sealed.write.partitionBy("kind").text(arguments.output, lineSep="\n")
    check_counts(spark, lines, arguments.output)
    spark.stop()


if __name__ == "__main__":
    main()
