"""Reports: a table for people, JSON for programs, JUnit's XML for CI, and a line to quote for each level."""
from __future__ import annotations

import json
from collections import Counter
from typing import Any, Sequence
from xml.etree import ElementTree

from . import __version__
from .cases import LEVELS, Level, Outcome, Result

_MAX_SHOWN = 600  # characters of a request in the table
_MAX_FAILURES = 40  # in the table
_OUTCOMES: tuple[Outcome, ...] = ("passed", "failed", "unsupported")
#: Characters that XML 1.0 doesn't allow.
_NOT_XML = {code: "\ufffd" for code in (*range(9), 11, 12, *range(14, 32), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF)}


def counts(results: Sequence[Result]) -> Counter[str]:
    return Counter(result.outcome for result in results)


def of_level(results: Sequence[Result], level: Level) -> list[Result]:
    return [result for result in results if result.case.level in LEVELS[level]]


def line(results: Sequence[Result], level: Level) -> str:
    """sender-full 1,204 of 1,204, 0 unsupported"""
    own = of_level(results, level)
    count = counts(own)
    return f"{level} {count['passed']:,} of {len(own):,}, {count['unsupported']:,} unsupported"


def table(results: Sequence[Result], levels: Sequence[Level], digest: str) -> str:
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.case.group, []).append(result)
    width = max([len(group) for group in groups] + [5])
    lines = [f"{'':{width}}  {'passed':>7}  {'failed':>7}  unsupported"]
    for group, own in groups.items():
        count = counts(own)
        lines.append(f"{group:{width}}  {count['passed']:>7,}  {count['failed']:>7,}  {count['unsupported']:>11,}")
    failures = [result for result in results if result.outcome == "failed"]
    for result in failures[:_MAX_FAILURES]:
        lines += ["", f"FAILED {result.case.name} ({result.case.rule})"]
        lines += [f"  request   {_short(request)}" for request in result.requests[:1]]
        lines += [f"  expected  {_cut(result.expected)}", f"  got       {_cut(result.got)}"]
    if len(failures) > _MAX_FAILURES:
        lines += ["", f"{len(failures) - _MAX_FAILURES:,} more failures; --json has all of them"]
    reasons: dict[str, list[str]] = {}
    for result in results:
        if result.outcome == "unsupported":
            reasons.setdefault(result.got, []).append(result.case.name)
    if reasons:
        most = sorted(reasons.items(), key=lambda reason: -len(reason[1]))[:20]
        lines += ["", "unsupported:", *(f"  {len(names):>5,}  {_cut(reason)}: {_cut(names[0])}{' ...' * (len(names) > 1)}" for reason, names in most)]
    lines += ["", f"pushcrypt-conformance {__version__}, vectors {digest}", *(line(results, level) for level in levels)]
    return "\n".join(lines)


def _short(request: dict[str, Any]) -> str:
    return _cut(json.dumps(request, ensure_ascii=False))


def _cut(text: str) -> str:
    """For a terminal: what isn't printable is an escape."""
    left_out = len(text) - _MAX_SHOWN
    if left_out > 0:  # The end often says more than the middle.
        text = f"{text[:_MAX_SHOWN * 2 // 3]} ...{left_out:,} characters... {text[-_MAX_SHOWN // 3:]}"
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def as_json(results: Sequence[Result], levels: Sequence[Level], digest: str, command: Sequence[str]) -> str:
    summary = {level: {"cases": len(of_level(results, level)), **{name: counts(of_level(results, level))[name] for name in _OUTCOMES}}
               for level in levels}
    refusals = {level: [result.case.name for result in of_level(results, level) if "refused" in result.case.flags] for level in levels}
    return json.dumps({
        "version": 1, "kit": __version__, "vectors": digest, "program": list(command), "levels": summary, "refusals": refusals,
        "cases": [_members(result) for result in results]}, indent=1) + "\n"


def _members(result: Result) -> dict[str, Any]:
    case = result.case
    members: dict[str, Any] = {"name": case.name, "level": case.level, "rule": case.rule, "suite": case.suite, "flags": list(case.flags),
                               "outcome": result.outcome, "seconds": round(result.seconds, 4)}
    if result.outcome == "failed":
        members.update(expected=result.expected, got=result.got, requests=list(result.requests[:1]))
    elif result.outcome == "unsupported":
        members.update(reason=result.got, requests=list(result.requests[:1]))
    return members


def as_junit(results: Sequence[Result]) -> str:
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.case.group, []).append(result)
    root = ElementTree.Element("testsuites", _totals("pushcrypt-conformance", results))
    for group, own in groups.items():
        suite = ElementTree.SubElement(root, "testsuite", _totals(group, own))
        for result in own:
            case = ElementTree.SubElement(suite, "testcase", {
                "classname": _xml(group), "name": _xml(result.case.name.split("/", 1)[1]), "time": f"{result.seconds:.4f}"})
            if result.outcome == "failed":
                failure = ElementTree.SubElement(case, "failure", {"message": _xml(_cut(f"expected {result.expected}, got {result.got}"))})
                failure.text = _xml("\n".join([result.case.rule, *(_short(request) for request in result.requests[:1])]))
            elif result.outcome == "unsupported":
                ElementTree.SubElement(case, "skipped", {"message": _xml(result.got)})
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _totals(name: str, results: Sequence[Result]) -> dict[str, str]:
    count = counts(results)
    return {"name": _xml(name), "tests": str(len(results)), "failures": str(count["failed"]), "errors": "0",
            "skipped": str(count["unsupported"]), "time": f"{sum(result.seconds for result in results):.3f}"}


def _xml(text: str) -> str:
    return text.translate(_NOT_XML)
