"""The generators of Conformance/vectors make the files that are committed."""
from __future__ import annotations

import pathlib
import subprocess
import sys
import unittest

VECTORS = pathlib.Path(__file__).resolve().parents[3] / "Conformance" / "vectors"
#: They draw random numbers, so the files were generated once.
ONCE = {"make_key_containers.py", "make_pushcrypt_v1.py"}


class GeneratorTests(unittest.TestCase):
    def test_a_generator_without_random_numbers_makes_the_committed_file(self) -> None:
        committed = {path.read_bytes() for path in VECTORS.glob("*.json")}
        for generator in sorted(VECTORS.glob("make_*.py")):
            if generator.name in ONCE:
                continue
            with self.subTest(generator.name):
                made = subprocess.run([sys.executable, "-B", generator], capture_output=True, check=True)
                self.assertIn(made.stdout, committed)


if __name__ == "__main__":
    unittest.main()
