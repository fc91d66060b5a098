"""Runs the code of the package's README: python -m unittest test_readme"""
from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest

README = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "Senders", "python", "README.md")


class ReadmeTests(unittest.TestCase):
    def test_its_code_runs_as_one_program_and_prints_what_it_says(self) -> None:
        with open(README, encoding="utf-8") as file:
            text = file.read()
        program = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
        done = subprocess.run([sys.executable, "-I", "-"], input=program, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr, "")
        comments = re.findall(r"# prints (.*)", program)
        self.assertEqual(done.stdout.splitlines(), comments)
        self.assertTrue(comments)


if __name__ == "__main__":
    unittest.main()
