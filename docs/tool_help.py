"""Reads the tool's own help, from which make_cli.py and make_man.py write pages."""
from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FINDINGS = Path(__file__).resolve().parent.parent / "Sources/PushCryptKeystore/Status/StatusFinding.swift"


def findings() -> list[tuple[str, str, str]]:
    """Code, severity and meaning of each finding of `status`, from the documentation of its cases."""
    source = FINDINGS.read_text(encoding="utf-8")
    cases = re.search(r"enum Code:.*?\n\n", source, re.DOTALL)
    rules = re.findall(r"case (\.[\w, .]+): \(\.(\w+), ", source)
    severities = {code: severity for codes, severity in rules for code in re.findall(r"\.(\w+)", codes)}
    documented = re.findall(r"/// (.*)\n        case (\w+)\n", cases[0] if cases else "")
    if {code for _, code in documented} != set(severities) or len(severities) < 20:
        raise SystemExit(f"tool_help.py: {FINDINGS.name} has codes without documentation or severity")
    return [(code, severities[code], meaning) for meaning, code in documented]


def command_tree(tool: str) -> dict[str, Any]:
    dump = subprocess.run([tool, "--experimental-dump-help"], check=True, capture_output=True).stdout
    root: dict[str, Any] = json.loads(dump)["command"]
    return root


def commands(command: dict[str, Any], path: list[str] | None = None) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """The commands that do something, with their names from `pushcrypt` on, in the order of the help."""
    path = (path or []) + [command["commandName"]]
    children = [child for child in command.get("subcommands", []) if child["commandName"] != "help"]
    if not children:
        yield path, command
    for child in children:
        yield from commands(child, path)


def paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.strip().split("\n\n") if part.strip()]


def spelling(argument: dict[str, Any]) -> str:
    """`--pad <N|max|none>`, `-h, --help` or `<Keys/NAME>`."""
    value = f"<{argument['valueName']}>" if "valueName" in argument and argument["kind"] != "flag" else ""
    if argument["kind"] == "positional":
        return value
    names = ", ".join(("--" if name["kind"] == "long" else "-") + name["name"] for name in argument["names"])
    return f"{names} {value}".strip()


def name_of(argument: dict[str, Any]) -> str:
    name: str = argument.get("preferredName", {}).get("name", "")
    return name


def shown(command: dict[str, Any]) -> list[dict[str, Any]]:
    return [argument for argument in command.get("arguments", [])
            if argument["shouldDisplay"] and name_of(argument) != "help"]


def usage(path: list[str], command: dict[str, Any]) -> str:
    """The command with its required arguments and operands. `[options]` represents the optional ones."""
    needed = [argument for argument in shown(command) if argument["kind"] == "positional" or not argument["isOptional"]]
    words = [f"[{spelling(each)}]" if each["isOptional"] else spelling(each) for each in needed]
    return " ".join(path + words + (["[options]"] if len(needed) < len(shown(command)) else []))
