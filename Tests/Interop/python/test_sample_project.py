"""Compares the sample app's project with its files, and tests its script: python -m unittest test_sample_project

The script itself needs a Mac. Here it runs with programs that stand in for Xcode's.
"""
from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import plistlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Callable, Iterator
from unittest import mock
from xml.parsers import expat

import yaml

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "Examples" / "iOS"
TOOL = Path(os.environ.get("PUSHCRYPT_TEST_TOOL", ROOT / ".build" / "debug" / "pushcrypt"))
EXTENSION_POINTS = {
    "NotificationService": "com.apple.usernotifications.service",
    "NotificationContent": "com.apple.usernotifications.content-extension",
}
PRODUCTS = {
    "Sample": ["PushCryptApple"], "NotificationService": ["PushCryptApple"], "NotificationContent": ["PushCryptAppleUI"],
    "SampleUITests": [],
}
#: Code that the pages show, and that only the type-check compiles.
NOT_IN_PROJECT = {"Recipes", "Scenes"}
GROUPS = "com.apple.security.application-groups"


def load_check(folder: Path) -> Any:
    """The script as a module."""
    loader = importlib.machinery.SourceFileLoader("sample_check", str(folder / "check"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))  # type: ignore[arg-type]
    with mock.patch.dict(sys.modules, {loader.name: module}), mock.patch.object(sys, "dont_write_bytecode", True):
        loader.exec_module(module)
    return module


class Sample:
    """The sample app in a folder: the description of its project, and the files that this names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = yaml.safe_load((folder / "project.yml").read_text())
        self.targets: dict[str, Any] = self.project["targets"]
        self.extensions = [name for name, target in self.targets.items() if target["type"] == "app-extension"]
        self.bundles = ["Sample", *self.extensions]

    def setting(self, target: str, name: str) -> Any:
        """A build setting: that of the target, or else that of the project."""
        return self.targets[target].get("settings", {}).get(name, self.project["settings"].get(name))

    def plist(self, target: str, setting: str) -> Any:
        """A property list; empty if it can't be read, which the rule `property_lists` finds."""
        with contextlib.suppress(OSError, TypeError, ValueError, expat.ExpatError):
            return plistlib.loads((self.folder / self.setting(target, setting)).read_bytes())
        return {}

    def info(self, target: str) -> Any:
        return self.plist(target, "INFOPLIST_FILE")

    def entitlements(self, target: str) -> Any:
        return self.plist(target, "CODE_SIGN_ENTITLEMENTS")

    def swift(self, *folders: str) -> str:
        return "\n".join(path.read_text() for name in folders for path in sorted((self.folder / name).rglob("*.swift")))


# The rules. Each yields what is wrong.


def source_folders(sample: Sample) -> Iterator[str]:
    """Every target has its source folders, and no other folder is left out than the known ones."""
    used = {folder for target in sample.targets.values() for folder in target["sources"]}
    present = {path.relative_to(sample.folder).parts[0] for path in sample.folder.rglob("*.swift")}
    yield from (f"there are no sources in {name}" for name in used - present)
    yield from (f"no target has {name}" for name in present - used - NOT_IN_PROJECT)
    for name in sample.bundles:
        if sorted(sample.targets[name]["sources"]) != sorted(["App" if name == "Sample" else name, "Shared"]):
            yield f"the sources of {name}"
    yield from (["the UI tests contain code of the app"] if sample.targets["SampleUITests"]["sources"] != ["UITests"] else [])


def property_lists(sample: Sample) -> Iterator[str]:
    """Info.plist and entitlements exist and parse; XcodeGen doesn't overwrite them, and Xcode completes Info.plist."""
    for name, target in sample.targets.items():
        if sample.setting(name, "GENERATE_INFOPLIST_FILE") is not True:
            yield f"Xcode doesn't complete the Info.plist of {name}"
        yield from (f"XcodeGen overwrites {key} of {name}" for key in ("info", "entitlements") if key in target)
    for name in sample.bundles:
        yield from (f"{name} has no Info.plist" for _ in [0] if not sample.info(name))
        yield from (f"{name} has no entitlements" for _ in [0] if not sample.entitlements(name))


def extension_points(sample: Sample) -> Iterator[str]:
    """Each extension is of its kind, and its principal class is in its sources."""
    if set(sample.extensions) != set(EXTENSION_POINTS):
        yield f"the extensions are {sample.extensions}"
    for name in sample.extensions:
        extension = sample.info(name).get("NSExtension", {})
        if extension.get("NSExtensionPointIdentifier") != EXTENSION_POINTS.get(name):
            yield f"{name} is of another kind"
        principal = re.fullmatch(r"\$\(PRODUCT_MODULE_NAME\)\.(\w+)", extension.get("NSExtensionPrincipalClass", ""))
        if principal is None or not re.search(rf"\bclass {principal[1]}\b", sample.swift(*sample.targets[name]["sources"])):
            yield f"{name} has no principal class"


def app_group(sample: Sample) -> Iterator[str]:
    """App and extensions have the app group that the code names, and no keychain group of their own."""
    named = re.findall(r'AppGroup\("([^"]+)"\)', sample.swift("Shared"))
    for name in sample.bundles:
        if len(named) != 1 or sample.entitlements(name).get(GROUPS) != named:
            yield f"the app group of {name} isn't {named}"
        if "keychain-access-groups" in sample.entitlements(name):
            yield f"{name} has a keychain group, which the library doesn't use"


def capabilities(sample: Sample) -> Iterator[str]:
    """Only the app receives pushes. It declares messages between people."""
    for name in sample.bundles:
        for key in ("aps-environment", "com.apple.developer.usernotifications.communication"):
            if (key in sample.entitlements(name)) != (name == "Sample"):
                yield f"{key} of {name}"
    if "INSendMessageIntent" not in sample.info("Sample").get("NSUserActivityTypes", []):
        yield "the app doesn't declare INSendMessageIntent"


def categories(sample: Sample) -> Iterator[str]:
    """The content extension declares the categories of its code."""
    attributes = sample.info("NotificationContent").get("NSExtension", {}).get("NSExtensionAttributes", {})
    found = re.search(r"categories = \[([^]]*)\]", sample.swift("NotificationContent"))
    if found is None or attributes.get("UNNotificationExtensionCategory") != re.findall(r'"([^"]+)"', found[1]):
        yield "the categories differ"


def embedding(sample: Sample) -> Iterator[str]:
    """The app embeds the extensions, and the UI tests depend on the app."""
    app = {one.get("target"): one.get("embed", True) for one in sample.targets["Sample"]["dependencies"]}
    yield from (f"the app doesn't embed {name}" for name in sample.extensions if not app.get(name))
    if {"target": "Sample"} not in sample.targets["SampleUITests"]["dependencies"]:
        yield "the UI tests have no app"


def identifiers(sample: Sample) -> Iterator[str]:
    """The identifier of an extension begins with the app's, and it has the app's version."""
    app = sample.setting("Sample", "PRODUCT_BUNDLE_IDENTIFIER")
    for name in sample.extensions:
        if not re.fullmatch(re.escape(app) + r"\.[A-Za-z0-9-]+", sample.setting(name, "PRODUCT_BUNDLE_IDENTIFIER") or ""):
            yield f"the identifier of {name}"
        for version in ("MARKETING_VERSION", "CURRENT_PROJECT_VERSION"):
            if sample.setting(name, version) is None or sample.setting(name, version) != sample.setting("Sample", version):
                yield f"{version} of {name}"


def deployment_targets(sample: Sample) -> Iterator[str]:
    """The oldest system is that of the package."""
    oldest = re.findall(r"\.iOS\(\.v(\d+)\)", (ROOT / "Package.swift").read_text())
    default = sample.project["options"]["deploymentTarget"]["iOS"]
    for name, target in sample.targets.items():
        version = sample.setting(name, "IPHONEOS_DEPLOYMENT_TARGET") or target.get("deploymentTarget", default)
        if [str(version)] != [f"{one}.0" for one in oldest] or target["platform"] != "iOS":
            yield f"{name} is for iOS {version}"


def products(sample: Sample) -> Iterator[str]:
    """Each target links the package's product for it, and the package is this one."""
    if (sample.folder / sample.project["packages"]["pushcrypt"]["path"]) != sample.folder / ".." / "..":
        yield "the package is another one"
    for name, target in sample.targets.items():
        linked = [one.get("product") for one in target["dependencies"] if one.get("package") == "pushcrypt"]
        if linked != PRODUCTS[name]:
            yield f"{name} links {linked}"


def runpaths(sample: Sample) -> Iterator[str]:
    """An extension finds the app's libraries."""
    for name in sample.extensions:
        if "@executable_path/../../Frameworks" not in (sample.setting(name, "LD_RUNPATH_SEARCH_PATHS") or []):
            yield f"{name} doesn't find the app's libraries"


def texts(sample: Sample) -> Iterator[str]:
    """Each key in the code is in the app's catalogue, in every language."""
    strings = json.loads((sample.folder / "App" / "Localizable.xcstrings").read_text())["strings"]
    languages = {language for text in strings.values() for language in text["localizations"]}
    calls = re.findall(r"\.localized\(([^)]*)\)", sample.swift("App", "Shared", *sample.extensions))
    keys = {key for call in calls for key in re.findall(r'"([^"]*)"', call)}
    yield from (["the code has no key"] if not keys else [])
    yield from (f"the catalogue has no {key}" for key in keys - set(strings))
    for key, text in strings.items():
        for language in languages:
            unit = text["localizations"].get(language, {}).get("stringUnit", {})
            if unit.get("state") != "translated" or not unit.get("value", "").strip():
                yield f"{key} isn't translated to {language}"


def script(sample: Sample) -> Iterator[str]:
    """The script and the UI tests name what is in the project and in the app."""
    check, tests, app = load_check(sample.folder), sample.swift("UITests"), sample.swift("App")
    if check.APP != sample.setting("Sample", "PRODUCT_BUNDLE_IDENTIFIER"):
        yield f"the app isn't {check.APP}"
    if [check.GROUP] != sample.entitlements("Sample").get(GROUPS):
        yield f"the app group isn't {check.GROUP}"
    scheme = sample.project["schemes"]["Sample"]
    if scheme["test"]["targets"] != ["SampleUITests"] or f"{scheme['test']['config']}-iphonesimulator" != check.PRODUCTS.name:
        yield "the scheme doesn't run the UI tests in the configuration of the script"
    text = (sample.folder / "check").read_text()
    for target, name, method in re.findall(r"-only-testing:(\w+)/(\w+)/(\w+)", text):
        if target not in sample.targets or not re.search(rf"class {name}\b.*func {method}\(\)", tests, re.DOTALL):
            yield f"there is no UI test {target}/{name}/{method}"
    for variable in ("SHOWN", "HIDDEN"):
        if f'environment["{variable}"]' not in tests or f"TEST_RUNNER_{variable}=" not in text:
            yield f"script and UI test don't share {variable}"
    for subsystem in re.findall(r'Logger\(subsystem: "(\w+)"', tests) or ["?"]:
        if f'subsystem == "{subsystem}"' not in text:
            yield f"the script doesn't read the log of {subsystem}"
    for label in re.findall(r'\bapp\.\w+\["([^"]+)"\]|expect\("([^"]+)"', tests):
        if f'"{"".join(label)}"' not in app:
            yield f"the app doesn't show '{''.join(label)}'"
    for file in re.findall(r'"Documents" / "([^"]+)"', text) or ["?"]:
        if f'"{file}"' not in app:
            yield f"the app doesn't write {file}"


Rule = Callable[[Sample], Iterator[str]]
RULES: list[Rule] = [
    source_folders, property_lists, extension_points, app_group, capabilities, categories, embedding, identifiers,
    deployment_targets, products, runpaths, texts, script]

#: A rule, a file, a text in it, and what replaces the text. None in place of the text creates the file.
MUTATIONS: list[tuple[Rule, str, Any, str]] = [
    (source_folders, "project.yml", "sources: [NotificationService, Shared]", "sources: [NotificationService]"),
    (source_folders, "project.yml", "sources: [App, Shared]", "sources: [App, Shared, Scenes]"),
    (source_folders, "project.yml", "sources: [UITests]", "sources: [UITests, App]"),
    (source_folders, "project.yml", "sources: [UITests]", "sources: [Tests]"),
    (source_folders, "Widget/Widget.swift", None, "import UIKit\n"),
    (property_lists, "project.yml", "INFOPLIST_FILE: App/Info.plist", "INFOPLIST_FILE: Info.plist"),
    (property_lists, "project.yml", "CODE_SIGN_ENTITLEMENTS: App/App.entitlements", "X: 1"),
    (property_lists, "project.yml", "GENERATE_INFOPLIST_FILE: YES", "GENERATE_INFOPLIST_FILE: NO"),
    (property_lists, "project.yml", "sources: [App, Shared]", "sources: [App, Shared]\n    info: {path: App/Info.plist}"),
    (property_lists, "NotificationContent/Info.plist", "</plist>", ""),
    (extension_points, "NotificationService/Info.plist", "usernotifications.service", "usernotifications.content-extension"),
    (extension_points, "NotificationService/Info.plist", "MessageService", "ChatService"),
    (extension_points, "NotificationContent/Info.plist", "$(PRODUCT_MODULE_NAME).", ""),
    (extension_points, "NotificationContent/NotificationViewController.swift", "class Notif", "struct Notif"),
    (app_group, "NotificationService/NotificationService.entitlements", "group.com.example.app", "group.com.example"),
    (app_group, "Shared/SharedConfiguration.swift", "group.com.example.app", "group.com.example"),
    (app_group, "App/App.entitlements", "aps-environment", "keychain-access-groups"),
    (capabilities, "App/App.entitlements", "aps-environment", "aps"),
    (capabilities, "App/App.entitlements", "usernotifications.communication", "usernotifications.filtering"),
    (capabilities, "NotificationContent/NotificationContent.entitlements", "<dict>",
     "<dict><key>aps-environment</key><string>development</string>"),
    (capabilities, "App/Info.plist", "INSendMessageIntent", "INStartCallIntent"),
    (categories, "NotificationContent/Info.plist", "PICTURE", "PICTURES"),
    (categories, "NotificationContent/PictureMessages.swift", '["PICTURE"]', '["PICTURE", "VIDEO"]'),
    (embedding, "project.yml", "- target: NotificationContent\n", "- sdk: Intents.framework\n"),
    (embedding, "project.yml", "- target: NotificationService\n", "- target: NotificationService\n        embed: false\n"),
    (embedding, "project.yml", "- target: Sample\n", "- target: NotificationContent\n"),
    (identifiers, "project.yml", "com.example.app.NotificationService", "com.example.appNotificationService"),
    (identifiers, "project.yml", "com.example.app.NotificationContent", "com.example.app.Notification.Content"),
    (identifiers, "project.yml", "LD_RUNPATH_SEARCH_PATHS: *runpath",
     'LD_RUNPATH_SEARCH_PATHS: *runpath\n      CURRENT_PROJECT_VERSION: "2"'),
    (identifiers, "project.yml", 'MARKETING_VERSION: "1.0"', "X: 1"),
    (deployment_targets, "project.yml", 'iOS: "16.0"', 'iOS: "17.0"'),
    (deployment_targets, "project.yml", "sources: [UITests]", 'sources: [UITests]\n    deploymentTarget: "18.0"'),
    (deployment_targets, "project.yml", "LD_RUNPATH_SEARCH_PATHS: *runpath",
     'LD_RUNPATH_SEARCH_PATHS: *runpath\n      IPHONEOS_DEPLOYMENT_TARGET: "15.0"'),
    (products, "project.yml", "product: PushCryptAppleUI", "product: PushCryptApple"),
    (products, "project.yml", "product: PushCryptApple\n", "product: PushCryptAppleUI\n"),
    (products, "project.yml", "path: ../..", "path: .."),
    (runpaths, "project.yml", ', "@executable_path/../../Frameworks"', ""),
    (runpaths, "project.yml", "LD_RUNPATH_SEARCH_PATHS: *runpath", "X: 1"),
    (texts, "Shared/SharedConfiguration.swift", "NEW_MESSAGE", "NEW_TEXT"),
    (texts, "App/Localizable.xcstrings", '"state" : "translated"', '"state" : "new"'),
    (texts, "App/Localizable.xcstrings", "Neue Nachricht", " "),
    (script, "check", 'APP, GROUP = "com.example.app"', 'APP, GROUP = "com.example.sample"'),
    (script, "check", "group.com.example.app", "group.com.example"),
    (script, "check", "SampleUITests/testShows", "SampleUITests/testShow"),
    (script, "check", "TEST_RUNNER_HIDDEN=", "TEST_RUNNER_ABSENT="),
    (script, "check", 'subsystem == "SampleUITests"', 'subsystem == "Sample"'),
    (script, "check", '"record.json").read_bytes', '"registration.json").read_bytes'),
    (script, "project.yml", "config: Release\n      targets", "config: Debug\n      targets"),
    (script, "App/ContentView.swift", '"Sign in"', '"Log in"'),
    (script, "App/ContentView.swift", '"Registered"', '"Known"'),
]


def mutated(folder: Path, file: str, old: Any, new: str) -> Sample:
    """A copy of the sample with a change."""
    copy = folder / "iOS"
    shutil.copytree(SAMPLE, copy, ignore=shutil.ignore_patterns("*.xcodeproj", "__pycache__"))
    if old is None:
        (copy / file).parent.mkdir()
        (copy / file).write_text(new)
    else:
        text = (copy / file).read_text()
        assert old in text, f"{file} has no {old!r}"
        (copy / file).write_text(text.replace(old, new, 1))
    return Sample(copy)


class ProjectTests(unittest.TestCase):
    def test_the_project_agrees_with_the_files(self) -> None:
        for rule in RULES:
            with self.subTest(rule.__doc__):
                self.assertEqual(list(rule(Sample(SAMPLE))), [])

    def test_each_rule_finds_its_mutations_and_no_rule_has_none(self) -> None:
        for rule, file, old, new in MUTATIONS:
            with self.subTest(rule=rule.__name__, file=file, new=new), tempfile.TemporaryDirectory() as folder:
                self.assertNotEqual(list(rule(mutated(Path(folder), file, old, new))), [])
        self.assertEqual({rule for rule, *_ in MUTATIONS}, set(RULES))


class ScriptTests(unittest.TestCase):
    """The functions of the script that need no Mac."""

    def setUp(self) -> None:
        self.check = load_check(SAMPLE)
        self.cases = self.check.cases("New message", "2026-06-01T00:00:00Z")

    def test_the_first_words_are_those_of_the_lines_in_the_documentation_of_delivery_log(self) -> None:
        source = next((ROOT / "Sources" / "PushCryptExtension").rglob("DeliveryLog.swift")).read_text()
        lines = re.findall(r"^/// (\w.* in \d+ ms: .*)$", source, re.MULTILINE)
        self.assertEqual(
            [(self.check.outcome(line), self.check.failed_stages(line)) for line in lines],
            [("opened", []), ("attachmentFailed", ["attachments"]), ("undecryptable", []), ("opened", [])])

    def test_a_configuration_that_throws_is_an_outcome_and_another_line_is_none(self) -> None:
        self.assertEqual(self.check.outcome("internalError: configure() threw ExtensionSetupError: <private>"), "internalError")
        self.assertEqual(self.check.outcome("attachmentFailed, text opened, suppressed, in 4 ms: open 2 ms"), "attachmentFailed")
        for line in ["ready", "", "opened", "opened in 3 s: open 2 ms"]:
            self.assertIsNone(self.check.outcome(line), line)

    def test_the_outcomes_of_the_cases_are_names_of_the_protocol(self) -> None:
        source = next((ROOT / "Sources" / "PushCryptCore").rglob("FailureClass.swift")).read_text()
        names = set(re.findall(r"static let (\w+) = FailureClass", source))
        self.assertEqual({case.outcome for case in self.cases} - names, {"opened"})

    def test_a_line_of_the_log_is_read_and_its_header_is_not(self) -> None:
        line = json.dumps({"eventMessage": "ready", "subsystem": "SampleUITests", "processID": 7})
        self.assertEqual(self.check.log_event(line), ("SampleUITests", "ready"))
        for other in ["Filtering the log data using ...", "", "7", '{"finished":1}', "[]"]:
            self.assertIsNone(self.check.log_event(other), other)

    def test_the_peak_of_the_footprint_is_in_bytes(self) -> None:
        peaks = {"6734592 B": 6734592, "6 MB": 6291456, "6832 KB": 6995968, "1.5 MB": 1572864, "1 GB": 2**30}
        for text, peak in peaks.items():
            output = f"Auxiliary data:\n    phys_footprint: 1 B\n    phys_footprint_peak: {text}\n"
            self.assertEqual(self.check.footprint_peak(output), peak)
        self.assertIsNone(self.check.footprint_peak("phys_footprint: 5 MB"))

    def test_the_newest_iphone_of_the_newest_available_runtime_is_chosen(self) -> None:
        def runtime(version: str, names: list[str], system: str = "iOS", available: bool = True) -> dict[str, Any]:
            return {"isAvailable": available, "version": version,
                    "identifier": f"com.apple.CoreSimulator.SimRuntime.{system}-{version.replace('.', '-')}",
                    "supportedDeviceTypes": [{"name": name, "identifier": name.replace(" ", "-")} for name in names]}

        runtimes = [
            runtime("9.3", ["iPhone 6"]), runtime("26.2", ["iPhone SE (3rd generation)", "iPhone 9", "iPhone 17", "iPad Air"]),
            runtime("27.0", ["iPhone 18"], available=False), runtime("28.0", ["iPhone 19"], system="watchOS")]
        chosen = self.check.newest_iphone(json.dumps({"runtimes": runtimes}))
        self.assertEqual(chosen, ("com.apple.CoreSimulator.SimRuntime.iOS-26-2", "iPhone-17"))
        with self.assertRaises(self.check.Failure):
            self.check.newest_iphone(json.dumps({"runtimes": runtimes[2:]}))

    def test_the_placeholder_is_the_english_text_of_the_catalogue(self) -> None:
        self.assertEqual(self.check.placeholder_text((SAMPLE / "App" / "Localizable.xcstrings").read_text()), "New message")

    def test_a_case_passes_only_with_its_lines_and_its_screen(self) -> None:
        case, burst = self.cases[0], self.cases[3]
        line, check = "opened in 3 ms: open 2 ms, store 1 ms", self.check
        verdicts = [
            (case, [line], 0, check.PASSED), (case, [line], 65, check.WRONG), (case, [line], None, check.WRONG),
            (case, [], 0, check.SILENT), (case, ["another line"], 0, check.SILENT),
            (case, [line, line], 0, check.WRONG), (case, ["expired in 3 ms: open 2 ms"], 0, check.WRONG),
            (case, ["opened in 3 ms: open 2 ms, communication 1 ms failed"], 0, check.WRONG),
            (case, ["internalError: configure() threw E: x"], 0, check.WRONG),
            (burst, [line] * 3, 0, check.PASSED), (burst, [line] * 2, None, check.SILENT),
            (self.cases[1], ["undecryptable in 3 ms: open 2 ms"], 0, check.PASSED), (self.cases[1], [line], 0, check.WRONG)]
        for given, lines, screen, status in verdicts:
            with self.subTest(lines=lines, screen=screen):
                self.assertEqual(check.verdict(given, lines, screen)[0], status)

    def test_the_worst_status_decides_and_unknown_memory_fails(self) -> None:
        check = self.check
        limit = check.MEMORY_LIMIT_IN_BYTES
        for statuses, peak, status in [
                ([check.PASSED], limit, check.PASSED), ([check.PASSED], limit + 1, check.MEMORY),
                ([check.PASSED], None, check.MEMORY), ([check.WRONG, check.PASSED], 1, check.WRONG),
                ([check.WRONG, check.SILENT], None, check.SILENT)]:
            self.assertEqual(check.final_status(statuses, peak), status)

    def test_a_payload_without_ciphertext_is_not_changed(self) -> None:
        for sealed in ["", "A"]:
            with self.assertRaises(self.check.Failure):
                self.check.changed_payload(json.dumps({"aps": {}, "pushcrypt": {"sealed": sealed}}))

    def test_the_copy_of_the_sample_trusts_the_new_sender_and_no_other(self) -> None:
        source = (SAMPLE / "Shared" / "SharedConfiguration.swift").read_text()
        changed = self.check.with_sender_key(source, "a+/b=")
        self.assertEqual(re.findall(r'\.key\("(.*?)"\)', changed), ["a+/b="])
        self.assertEqual([line for line in source.splitlines() if ".key(" not in line],
                         [line for line in changed.splitlines() if ".key(" not in line])
        for other in ["", changed * 2]:
            with self.assertRaises(self.check.Failure):
                self.check.with_sender_key(other, "a+/b=")


@unittest.skipUnless(TOOL.exists(), "pushcrypt isn't built")
class ToolTests(unittest.TestCase):
    """The script's pushes, with the tool in the place of the extension."""

    def setUp(self) -> None:
        self.check, self.folder = load_check(SAMPLE), Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.run_tool("keys", "create", "Keys/phone", "--kind", "recipient", "--psk", "--insecure-plaintext")
        (self.folder / "Documents").mkdir()
        record = self.folder / "Documents" / "record.json"
        record.touch(mode=0o600)
        record.write_text(self.run_tool("keys", "export", "Keys/phone", "--registration"))

    def run_tool(self, *arguments: str) -> str:
        done = subprocess.run([TOOL, *arguments], cwd=self.folder, check=True, capture_output=True, text=True, timeout=60)
        return done.stdout

    def test_a_changed_character_makes_a_sealed_payload_unreadable(self) -> None:
        self.run_tool("keys", "create", "Keys/sender", "--kind", "sender", "--insecure-plaintext")
        (self.folder / "push.json").write_text('{"aps":{"alert":{"title":"Hello"}}}')
        sealed = self.run_tool("seal", "push.json", "--to", "Documents/record.json", "--topic", self.check.APP,
                               "--sign-with", "Keys/sender")
        changed = self.check.changed_payload(sealed)
        self.assertEqual(sum(one != other for one, other in zip(sealed, changed, strict=True)), 1)
        command = [TOOL, "open", "--keys", "Keys/phone", "--topic", self.check.APP, "--trust", "Keys/sender"]
        opened = [subprocess.run(command, cwd=self.folder, input=text, capture_output=True, text=True, timeout=60)
                  for text in (sealed, changed)]
        self.assertEqual([done.returncode for done in opened], [0, 65])
        self.assertEqual(json.loads(opened[0].stdout), {"aps": {"alert": {"title": "Hello"}}})
        self.assertEqual(json.loads(opened[1].stdout)["pushcrypt"], {"status": "failed", "reason": "undecryptable"})

    def simulate(self, mode: str = "") -> tuple[int, str, list[str]]:
        """Runs the script with programs in the place of Xcode's: its status, its output, and the commands of simctl."""
        for name in [*self.check.TOOLS, "xcrun"]:
            path = self.folder / "bin" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"#!{sys.executable}\n{STAND_IN}")
            path.chmod(0o755)
        check, self.check.LINE_LIMIT_IN_SECONDS = self.check, 1
        check.COPY, check.DERIVED = self.folder / "copy", self.folder / "derived"
        check.PRODUCTS = check.DERIVED / "Build" / "Products" / "Release-iphonesimulator"
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        environment = {"PATH": path, "STAND_IN": str(self.folder), "MODE": mode, "TOOL": str(TOOL)}
        output = io.StringIO()
        with mock.patch.dict(os.environ, environment), mock.patch.object(sys, "argv", ["check", "--pushcrypt", str(TOOL)]), \
                contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            try:
                status = check.main()
            except SystemExit as end:
                status = end.code
        calls = self.folder / "calls"
        return status, output.getvalue(), calls.read_text().splitlines() if calls.exists() else []

    def test_every_case_passes_with_an_extension_that_opens_as_the_tool_does(self) -> None:
        status, output, calls = self.simulate()
        self.assertEqual((status, output.count("passed: ")), (0, 4), output)
        self.assertIn("largest memory is 9.0 MB", output)
        self.assertEqual(calls.count(f"push {self.check.OUTER_TITLE}"), 6)

    def test_each_kind_of_failure_has_its_status_and_the_device_is_deleted(self) -> None:
        check, cases = self.check, self.check.cases
        # Each failure is visible in the first case.
        check.cases = lambda *arguments: cases(*arguments)[:1]
        for mode, status, said in [
                ("silent", check.SILENT, "wrote 0 of 1 lines"), ("timedOut", check.WRONG, "but wrote: timedOut in 3 ms"),
                ("blank", check.WRONG, "the screen doesn't show"), ("heavy", check.MEMORY, "largest memory is 25.0 MB"),
                ("unmeasured", check.MEMORY, "largest memory is unknown"), ("build", check.FAILED, "no such module"),
                ("openssl", check.FAILED, "names OpenSSL"), ("entitlements", check.FAILED, "get_app_container"),
                ("signIn", check.FAILED, "Not registered")]:
            with self.subTest(mode), contextlib.ExitStack() as stack:
                for name in ["calls", "log", "screen"]:
                    stack.callback((self.folder / name).unlink, missing_ok=True)
                found, output, calls = self.simulate(mode)
                self.assertEqual(found, status, output)
                self.assertIn(said, output)
                self.assertEqual(calls[-2:], ["shutdown DEVICE", "delete DEVICE"])

    def test_a_missing_tool_is_bad_usage(self) -> None:
        self.check.TOOLS = ["xcodegen-is-missing"]
        with mock.patch.dict(os.environ, {"PATH": "/nonexistent"}), mock.patch.object(sys, "argv", ["check"]), \
                contextlib.redirect_stderr(io.StringIO()) as output, self.assertRaises(SystemExit) as end:
            self.check.main()
        self.assertEqual(end.exception.code, 64)
        self.assertIn("xcodegen-is-missing", output.getvalue())


#: Stands in for Xcode's programs: for the one whose name it has. `MODE` says what goes wrong.
STAND_IN = r'''
import base64, hashlib, json, os, pathlib, re, subprocess, sys, time
name, arguments, mode = os.path.basename(sys.argv[0]), sys.argv[1:], os.environ["MODE"]
folder = pathlib.Path(os.environ["STAND_IN"])
log, screen = folder / "log", folder / "screen"

def write(path, *lines):
    with open(path, "a") as file:
        file.write("".join(line + "\n" for line in lines))

def say(subsystem, message):
    write(log, json.dumps({"subsystem": subsystem, "eventMessage": message}))

def build():
    if mode == "build":
        sys.exit("error: no such module 'PushCryptApple'")
    app = pathlib.Path(arguments[arguments.index("-derivedDataPath") + 1], "Build/Products/Release-iphonesimulator/Sample.app")
    # The extension trusts the sender whose key is in the copy.
    key = re.search(r'\.key\("(.*)"\)', pathlib.Path("Shared/SharedConfiguration.swift").read_text())[1]
    x = key.translate({43: "-", 47: "_", 61: None})
    thumbprint = hashlib.sha256(('{"crv":"Ed25519","kty":"OKP","x":"%s"}' % x).encode()).digest()
    kid = base64.urlsafe_b64encode(thumbprint[:8]).decode().rstrip("=")
    (folder / "senders").write_text(json.dumps({"kty": "OKP", "crv": "Ed25519", "alg": "Ed25519", "x": x, "kid": kid}))
    for program in ["Sample", "PlugIns/A.appex/NotificationService", "PlugIns/B.appex/NotificationContent"]:
        (app / program).parent.mkdir(parents=True, exist_ok=True)
        (app / program).touch()

def test():
    screen.write_text("")
    if mode == "signIn":
        sys.exit("Not registered")
    say("SampleUITests", "ready")
    shown, hidden = (os.environ["TEST_RUNNER_" + name].split("\n") for name in ["SHOWN", "HIDDEN"])
    end = time.monotonic() + (1 if mode == "blank" else 60)
    while time.monotonic() < end:
        if set(shown) <= set(screen.read_text().split("\n")):
            sys.exit(1 if set(hidden) & set(screen.read_text().split("\n")) else 0)
        time.sleep(0.05)
    sys.exit("the texts aren't on the screen")

def push(file):
    write(folder / "calls", "push " + json.loads(pathlib.Path(file).read_text())["aps"]["alert"]["title"])
    done = subprocess.run(
        [os.environ["TOOL"], "open", file, "--keys", "Keys/phone", "--topic", "com.example.app", "--trust", "senders"],
        cwd=folder, capture_output=True, text=True)
    payload = json.loads(done.stdout)
    word = "opened" if done.returncode == 0 else payload["pushcrypt"]["reason"]
    texts = [text for key, text in payload["aps"]["alert"].items()] if word == "opened" else ["New message"]
    if mode != "silent":
        write(screen, *texts if mode != "blank" else [])
        say("pushcrypt", (mode if mode == "timedOut" else word) + " in 3 ms: open 2 ms, store 0 ms")

def stream():
    print("Filtering the log data", flush=True)
    log.touch()
    with open(log) as file:
        while True:
            print(file.read(), end="", flush=True)
            time.sleep(0.05)

def simctl(command, *rest):
    if command != "push":
        write(folder / "calls", " ".join((command,) + rest))
    if command == "list":
        print(json.dumps({"runtimes": [{
            "isAvailable": True, "version": "26.2", "identifier": "com.apple.CoreSimulator.SimRuntime.iOS-26-2",
            "supportedDeviceTypes": [{"name": "iPhone 17", "identifier": "iPhone-17"}]}]}))
    elif command == "create":
        print("DEVICE")
    elif command == "get_app_container":
        if mode == "entitlements" and rest[2] != "data":
            sys.exit("no such container")
        print(folder)
    elif command == "spawn":
        stream()
    elif command == "push":
        push(rest[2])

if name == "xcodebuild":
    build() if arguments[0] == "build-for-testing" else test()
elif name == "xcrun":
    simctl(*arguments[1:])
elif name == "otool":
    print("program:\n\t" + ("/opt/lib/libcrypto.3.dylib" if mode == "openssl" else "/usr/lib/libSystem.B.dylib"))
elif name == "pgrep":
    print(4711)
elif name == "footprint" and mode != "unmeasured":
    print("phys_footprint_peak: %d B" % ((25 if mode == "heavy" else 9) * 1024 * 1024))
'''


if __name__ == "__main__":
    unittest.main()
