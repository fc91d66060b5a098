#!/usr/bin/env python3
"""Says what a built tool contains: the notices of its parts, and a list in SPDX 2.3. Part of scripts/package.

The list is written here because the tools that make such lists read lock files, which also name what only the tests use;
they know nothing of Swift's standard library and OpenSSL in the tool. The linker's list of objects is what was linked.
"""
from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def linked_modules(scratch: Path) -> set[str]:
    objects = (scratch / "release/pushcrypt.product/Objects.LinkFileList").read_text(encoding="utf-8")
    return set(re.findall(r"/(\w+)\.build/", objects))


def linked_packages(scratch: Path) -> list[dict[str, str]]:
    """The packages of scripts/dependencies whose modules are linked. A module from elsewhere ends the program."""
    resolved = json.loads((ROOT / "Package.resolved").read_text(encoding="utf-8"))["pins"]
    pins = {pin["identity"]: pin for pin in resolved}
    own = {path.name for path in (ROOT / "Sources").iterdir()} | {"pushcrypt"}
    missing = linked_modules(scratch) - own
    packages = []
    for line in (ROOT / "scripts/dependencies").read_text(encoding="utf-8").splitlines():
        name, version, commit, licence = line.split(maxsplit=3)
        modules = {path.name for path in (scratch / "checkouts" / name / "Sources").iterdir()}
        if pins[name]["state"] != {"version": version, "revision": commit}:
            raise SystemExit(f"contents.py: {name} is resolved to another commit than that of {version}, {commit}")
        if missing & modules:
            packages.append({"name": name, "version": version, "licence": licence, "url": pins[name]["location"]})
        missing -= modules
    if missing:
        raise SystemExit(f"contents.py: scripts/dependencies lacks the packages of {', '.join(sorted(missing))}")
    return packages


def libraries(tool: Path, swift: str) -> list[dict[str, str]]:
    """Swift's libraries and, with `builtIn`, OpenSSL and SQLite, as the tool names them."""
    lines = subprocess.run([tool, "--version"], check=True, capture_output=True, text=True).stdout.splitlines()
    facts = dict(line.split(" ", 1) for line in lines)
    swift_url = f"https://github.com/swiftlang/swift@swift-{swift}-RELEASE"
    found = [{"name": "swift", "version": swift, "licence": "Apache-2.0 WITH Swift-exception", "url": swift_url}]
    for name, licence, url in [
        ("OpenSSL", "Apache-2.0", "https://github.com/openssl/openssl"),
        ("SQLite", "blessing", "https://sqlite.org/src"),
    ]:
        version, origin = facts[name].rsplit(", ", 1)
        link = "STATIC_LINK" if origin == "built in" else "DYNAMIC_LINK"
        found.append({"name": name, "version": version.split()[0], "licence": licence, "url": url, "link": link})
    return found


def spdx_package(part: dict[str, str]) -> dict[str, Any]:
    return {
        "SPDXID": f"SPDXRef-Package-{part['name']}",
        "name": part["name"],
        "versionInfo": part["version"],
        "downloadLocation": f"git+{part['url']}" if "github" in part["url"] else part["url"],
        "filesAnalyzed": False,
        "licenseConcluded": part["licence"],
        "licenseDeclared": part["licence"],
        "copyrightText": "NOASSERTION",
    }


def spdx(arguments: argparse.Namespace, parts: list[dict[str, str]]) -> dict[str, Any]:
    content = arguments.tool.read_bytes()
    created = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
    own = {"name": "pushcrypt", "version": arguments.version, "licence": "Apache-2.0", "url": "NOASSERTION"}
    tool_hash = hashlib.sha256(content).hexdigest()
    licences = sorted({own["licence"]} | {part["licence"] for part in parts if part.get("link") != "DYNAMIC_LINK"})
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"pushcrypt-{arguments.version}",
        # Has to be unique for each document; nothing is there to be read.
        "documentNamespace": f"https://spdx.org/spdxdocs/pushcrypt-{arguments.version}-{tool_hash}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: pushcrypt-scripts-package"]},
        "packages": [
            spdx_package(own) | {"sourceInfo": f"commit {arguments.commit}"},
            *(spdx_package(part) for part in parts),
        ],
        "files": [{
            "SPDXID": "SPDXRef-File-pushcrypt",
            "fileName": "./bin/pushcrypt",
            "fileTypes": ["BINARY"],
            "checksums": [
                {"algorithm": "SHA1", "checksumValue": hashlib.sha1(content).hexdigest()},
                {"algorithm": "SHA256", "checksumValue": tool_hash},
            ],
            "licenseConcluded": " AND ".join(licences),
            "copyrightText": "NOASSERTION",
        }],
        "relationships": [
            relationship("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Package-pushcrypt"),
            relationship("SPDXRef-Package-pushcrypt", "GENERATES", "SPDXRef-File-pushcrypt"),
            *(relationship("SPDXRef-File-pushcrypt", part.get("link", "STATIC_LINK"), f"SPDXRef-Package-{part['name']}")
              for part in parts),
        ],
    }


def relationship(element: str, kind: str, other: str) -> dict[str, str]:
    return {"spdxElementId": element, "relationshipType": kind, "relatedSpdxElement": other}


def notices(scratch: Path, parts: list[dict[str, str]]) -> str:
    """What the licences of the parts in the tool ask to be passed on with it. All but SQLite's are Apache's, as LICENSE."""
    texts = ["pushcrypt contains the following software. LICENSE is the text of the Apache License 2.0.\n"]
    for part in (part for part in parts if part.get("link") != "DYNAMIC_LINK"):
        texts.append(f"{part['name']} {part['version']}, {part['licence']}\n{part['url']}\n")
        notice = scratch / "checkouts" / part["name"] / "NOTICE.txt"
        if notice.exists():
            texts.append(notice.read_text(encoding="utf-8").strip() + "\n")
    return ("\n" + "-" * 79 + "\n\n").join(texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("version", "commit", "swift"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("scratch", "tool", "notices", "spdx"):
        parser.add_argument(f"--{name}", required=True, type=Path)
    arguments = parser.parse_args()
    parts = linked_packages(arguments.scratch) + libraries(arguments.tool, arguments.swift)
    arguments.notices.write_text(notices(arguments.scratch, parts), encoding="utf-8")
    arguments.spdx.write_text(json.dumps(spdx(arguments, parts), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
