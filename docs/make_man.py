#!/usr/bin/env python3
"""Writes the manual pages from the tool's own help, and the exit statuses and environment from docs/cli.md.

    python3 docs/make_man.py --tool .build/debug/pushcrypt --into FOLDER [--version VERSION] [--date YYYY-MM-DD]

pushcrypt(1) is about the tool; each command has a page of its own, such as pushcrypt-keys-create(1). Each runbook is a page of
section 7, such as pushcrypt-after-a-mishap(7). The pages are in FOLDER/man1 and FOLDER/man7.
"""
from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from make_cli import PAGE
from tool_help import command_tree, commands, paragraphs, shown, spelling, usage

EXIT_STATUS = "Exit status:"
RUNBOOKS = PAGE.parent / "runbooks"


def escaped(text: str) -> str:
    """Text of the help in roff. A hyphen of an option stays one that can be copied, `code` is bold."""
    text = text.replace("\\", "\\e")
    text = re.sub(r"(?<![\w/])--?[A-Za-z][\w-]*", lambda match: match[0].replace("-", "\\-"), text)
    text = re.sub(r"`([^`]+)`", r"\\fB\1\\fR", text)
    return re.sub(r"^([.'])", r"\\&\1", text)


def spelled(argument: dict[str, Any]) -> str:
    """`--topic <TOPIC>` with the option in bold and the value in italics."""
    words = spelling(argument).replace("\\", "\\e").replace("-", "\\-")
    words = re.sub(r"<([^>]*)>", r"\\fI\1\\fR", words)
    return re.sub(r"(?<![\w\\])(\\-[\w\\-]+)", r"\\fB\1\\fR", words)


def options(command: dict[str, Any]) -> Iterator[str]:
    for title in dict.fromkeys(argument.get("sectionTitle") for argument in shown(command)):
        if title:
            yield f".SS {escaped(title.capitalize())}"
        for argument in (each for each in shown(command) if each.get("sectionTitle") == title):
            text = " ".join(argument.get("abstract", "").split())
            default = argument.get("defaultValue")
            if default is not None and argument["kind"] == "option":
                text += f" (default: {default})"
            yield from (".TP", spelled(argument), escaped(text) or "\\&")


def table(heading: str) -> list[tuple[str, str]]:
    """The rows of the first table under a heading of docs/cli.md, without its links."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [re.findall(r"(?:^|\|) (.+?) (?=\|)", line[1:]) for line in section.splitlines() if line.startswith("| ")]
    if len(rows) < 3:
        raise SystemExit(f"make_man.py: docs/cli.md has no table under {heading}")
    return [(name.strip("`"), re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", meaning)) for name, meaning in rows[2:]]


def section(title: str, texts: list[str]) -> list[str]:
    """A section of paragraphs; nothing without paragraphs."""
    lines = [line for text in texts for line in (".PP", escaped(text))]
    return [f".SH {title}", *lines[1:]] if lines else []


def divided(discussion: str) -> tuple[list[str], list[str]]:
    """The paragraphs, and those about the exit status, which have a section of their own."""
    parts = paragraphs(discussion)
    statuses = [part.removeprefix(EXIT_STATUS).strip() for part in parts if part.startswith(EXIT_STATUS)]
    return [part for part in parts if not part.startswith(EXIT_STATUS)], statuses


def page_of(path: list[str], command: dict[str, Any]) -> list[str]:
    description, statuses = divided(command.get("discussion") or "")
    return [
        ".SH NAME", f"{'-'.join(path)} \\- {escaped(command['abstract'].rstrip('.'))}",
        ".SH SYNOPSIS", escaped(re.sub(r"[<>]", "", usage(path, command))),
        *section("DESCRIPTION", description),
        *([".SH OPTIONS", *options(command)] if shown(command) else []),
        *section("EXIT STATUS", statuses),
        ".SH SEE ALSO", ".BR pushcrypt (1),", "which has the exit statuses and the environment variables",
    ]


def overview(root: dict[str, Any]) -> list[str]:
    names = [("-".join(path), command["abstract"]) for path, command in commands(root)]
    entries = [line for name, abstract in names for line in (".TP", f".BR {name} (1)", escaped(abstract))]
    # The environment has a section of its own.
    description = [part for part in divided(root["discussion"])[0] if not part.startswith("Environment:")]

    def rows(heading: str) -> list[str]:
        return [line for name, text in table(heading) for line in (".TP", f".B {escaped(name)}", escaped(text))]

    return [
        ".SH NAME", f"pushcrypt \\- {escaped(root['abstract'].rstrip('.'))}",
        ".SH SYNOPSIS", ".B pushcrypt", ".I COMMAND", "[options]", ".br", ".B pushcrypt \\-\\-version",
        *section("DESCRIPTION", description),
        ".SH COMMANDS", *entries,
        ".SH EXIT STATUS", *rows("Exit statuses"),
        ".SH ENVIRONMENT", *rows("Environment variables"),
        ".SH SEE ALSO", *(f".BR pushcrypt-{runbook.stem} (7)," for runbook in sorted(RUNBOOKS.glob("*.md"))),
        "which say what to do when something happened",
    ]


def linked(text: str) -> str:
    """A link to another runbook names its manual page; other links are only their text. `**bold**` and `*italic*` too."""
    text = re.sub(r"\[([^\]]*)\]\(([a-z-]+)\.md[^)]*\)", r"\1 (**pushcrypt-\2**(7))", text)
    text = escaped(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text))
    text = re.sub(r"\*\*([^*]+)\*\*", r"\\fB\1\\fR", text)
    return re.sub(r"\*([^*]+)\*", r"\\fI\1\\fR", text)


def parts(path: Path) -> Iterator[list[str]]:
    """The lines of each heading, paragraph, list, table and block of commands."""
    part: list[str] = []
    for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
        is_code = part[:1] != [] and part[0].startswith("```") and (len(part) == 1 or part[-1] != "```")
        if line or is_code:
            part.append(line)
        elif part:
            yield part
            part = []


def code(lines: list[str]) -> list[str]:
    return [".PP", ".RS 4", ".nf", ".ft CR", *(line.replace("\\", "\\e").replace("-", "\\-") for line in lines), ".ft", ".fi", ".RE"]


def rows(lines: list[str]) -> Iterator[str]:
    """The first cell of each row of a table, and below it the others with their headings."""
    heads, _, *cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    for first, *others in cells:
        named = [f"{head.capitalize()}: {cell}" for head, cell in zip(heads[1:], others) if cell]
        yield from (".TP", f"\\fB{linked(first)}\\fR", linked(". ".join(named)))


def runbook(path: Path) -> list[str]:
    (title,), *rest = parts(path)
    title = title.removeprefix("# ")
    page = [".SH NAME", f"pushcrypt-{path.stem} \\- {escaped(title[0].lower() + title[1:])}", ".SH DESCRIPTION"]
    for part in rest:
        text = " ".join(part)
        if text.startswith("```"):
            page += code(part[1:-1])
        elif text.startswith("#"):
            page.append(f".SH {escaped(text.lstrip('# ').upper())}")
        elif text.startswith("|"):
            page += rows(part)
        elif re.match(r"(-|\d+\.) ", text):
            for item in re.split(r"\n(?=(?:-|\d+\.) )", "\n".join(part)):
                mark, text = item.split(" ", 1)
                page += [f".IP {mark.replace('-', '*')} 4", linked(" ".join(text.split()))]
        else:
            page += ([] if page[-1].startswith(".SH") else [".PP"]) + [linked(text)]
    return [*page, ".SH SEE ALSO", ".BR pushcrypt (1)"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the built pushcrypt")
    parser.add_argument("--into", required=True, type=Path, help="the folder for the pages")
    parser.add_argument("--version", default="", help="the version for the foot of the pages")
    parser.add_argument("--date", default=str(date.today()), help="the date for the foot of the pages (today)")
    arguments = parser.parse_args()
    root = command_tree(arguments.tool)
    pages = {("pushcrypt", 1): overview(root)}
    pages |= {("-".join(path), 1): page_of(path, command) for path, command in commands(root)}
    pages |= {(f"pushcrypt-{path.stem}", 7): runbook(path) for path in RUNBOOKS.glob("*.md")}
    for (name, number), lines in pages.items():
        head = f'.TH {name.upper()} {number} "{arguments.date}" "pushcrypt {arguments.version}" "pushcrypt"'
        folder = arguments.into / f"man{number}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.{number}").write_text("\n".join([head, *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
