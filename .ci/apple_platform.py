"""Compiles Swift code for one of Apple's systems on Linux, against the stub modules or against a real SDK."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import manifest

ROOT = manifest.ROOT
STUBS = ROOT / "Tests" / "AppleStubs"
CACHE = ROOT / ".build" / "apple"
STANDARD_LIBRARY = ["Swift", "SwiftOnoneSupport", "_Concurrency", "_StringProcessing", "Synchronization"]
SYSTEMS = {"macos": "macosx", "visionos": "xros", "maccatalyst": "ios"}
# The stub of UIKit isn't for watchOS, which has another part of it.
FRAMEWORKS = ["Security", "UserNotifications", "UserNotificationsUI", "Intents"]
UIKIT_SYSTEMS = ["ios", "maccatalyst", "tvos", "visionos"]
# What the standard library has on Apple's systems only, and the compiler needs for their headers.
OBJECTIVE_C = """
@frozen public struct AutoreleasingUnsafeMutablePointer<Pointee> : Swift._Pointer {
  public let _rawValue: Builtin.RawPointer
  public init(_ _rawValue: Builtin.RawPointer)
  public var pointee: Pointee { get nonmutating set }
}
"""
# The names of SDKs, and the platforms of the manifest that each is for.
SDKS = {
    "iphoneos": ["ios"], "macosx": ["macos", "maccatalyst"], "watchos": ["watchos"], "appletvos": ["tvos"],
    "xros": ["visionos"],
}


class Failure(Exception):
    def __init__(self, what, errors=""):
        super().__init__("\n".join([what, *errors.splitlines()[:40]]))


def target_info(*arguments):
    command = ["swiftc", "-print-target-info", *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def with_vision(attribute):
    """Adds visionOS 1 or 2, as Apple's SDK does for an attribute that names iOS and not visionOS."""
    version = int(re.search(r"iOS (\d+)", attribute[0])[1])
    vision = 1 if version < 18 else 2 if version < 26 else version
    return attribute[0] if "visionOS" in attribute[0] else attribute[0].replace(", *)", f", visionOS {vision}, *)")


def sdk_platforms(sdk):
    """Returns the platforms that an SDK is for, by the file that every SDK has."""
    settings = sdk / "SDKSettings.json"
    if not settings.exists():
        raise Failure(f"{sdk} is no SDK: it has no SDKSettings.json")
    name = re.match("[a-z]*", json.loads(settings.read_text())["CanonicalName"])[0]
    if name not in SDKS:
        raise Failure(f"{sdk} is an SDK for {name}; this script knows those for {', '.join(SDKS)}")
    return SDKS[name]


class Platform:
    """The modules and the compiler's options for one system at its oldest version.

    With an SDK, its frameworks and its C library take the place of the declarations and stubs. The standard library is the
    toolchain's in both cases, because an older SDK's lacks types that the code uses.
    """

    def __init__(self, platform, host, sdk=None):
        self.description, self.host, self.sdk = platform, host, sdk
        self.name, self.version = platform["platformName"], platform["version"]
        self.triple = f"arm64-apple-{SYSTEMS.get(self.name, self.name)}{self.version}"
        self.triple += "-macabi" if self.name == "maccatalyst" else ""
        self.title = f"{self.name} {self.version}"
        self.folder = CACHE / ("sdk" if sdk else "stubs") / self.triple
        self.module = target_info("-target", self.triple)["target"]["moduleTriple"]
        for name in STANDARD_LIBRARY:
            self.write_interface(name, self.standard_library(name))
        if sdk is None:
            self.write_stubs()

    def write_stubs(self):
        for path in (STUBS / "Declarations" / "Swift").iterdir():
            self.write_interface(path.stem, self.header(path.stem) + path.read_text())
        self.emit_stubs(self.folder)

    def emit_stubs(self, folder):
        # On these systems app groups, extension contexts and security scopes are a part of Foundation.
        in_foundation = ["FileManager+AppGroups.swift", "Foundation+Extensions.swift"]
        for name in FRAMEWORKS + ["UIKit", "SwiftUI", "XCTest"] * (self.name in UIKIT_SYSTEMS):
            sources = {path for path in (STUBS / name).glob("*.swift") if path.name not in in_foundation}
            self.emit_module(
                name, sources, "-module-alias", "Crypto=CryptoKit", "-experimental-skip-all-function-bodies",
                "-disable-availability-checking", "-enable-upcoming-feature", "InternalImportsByDefault", folder=folder)

    def write_sdk(self, sdk):
        """Writes the declarations and the stubs in the form of an SDK, for a test of the option for real ones."""
        modules = sdk / "usr" / "lib" / "swift"
        shutil.copytree(STUBS / "Declarations" / "C", sdk / "usr" / "include")
        name = next(name for name, platforms in SDKS.items() if self.name in platforms)
        (sdk / "SDKSettings.json").write_text(json.dumps(
            {"CanonicalName": name + self.version, "Version": self.version, "MaximumDeploymentTarget": self.version}))
        for path in (STUBS / "Declarations" / "Swift").iterdir():
            interface = modules / f"{path.stem}.swiftmodule" / f"{self.module}.swiftinterface"
            interface.parent.mkdir(parents=True)
            interface.write_text(self.header(path.stem).replace(" -disable-objc-interop", "") + path.read_text())
        platform = Platform(self.description, self.host, sdk)
        platform.emit_stubs(modules)
        return platform

    def standard_library(self, name):
        for folder in self.host["paths"]["runtimeLibraryImportPaths"]:
            path = pathlib.Path(folder, f"{name}.swiftmodule", self.host["target"]["moduleTriple"] + ".swiftinterface")
            if path.exists():
                break
        else:
            raise Failure(f"the toolchain has no textual interface of {name}")
        text = path.read_text().replace(self.host["target"]["triple"], self.triple)
        # Function bodies aren't needed here, and some call Linux. Some declarations use newer ones within the library.
        options = "-disable-availability-checking -experimental-skip-all-function-bodies"
        text = text.replace("// swift-module-flags: ", f"// swift-module-flags: {options} ", 1)
        if self.sdk is not None:
            text = text.replace(" -disable-objc-interop", "") + (OBJECTIVE_C if name == "Swift" else "")
        return re.sub(r"(?m)^ *@backDeployed\(.*\)$|^import Glibc$", "", text)

    def header(self, name):
        return f"""// swift-interface-format-version: 1.0
// swift-compiler-version: {self.host["compilerVersion"]}
// swift-module-flags: -target {self.triple} -module-name {name} -enable-library-evolution -disable-objc-interop
import Swift
"""

    def write_interface(self, name, text):
        if self.name == "visionos":
            text = re.sub(r"@available\([^()\n]*\biOS \d[^()\n]*, \*\)", with_vision, text)
        path = self.folder / f"{name}.swiftmodule" / f"{self.module}.swiftinterface"
        # The compiler compiles an interface again when its file has changed.
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def frameworks(self):
        """The options with which the compiler finds what isn't in the standard library."""
        if self.sdk is None:
            return ["-I", STUBS / "Declarations" / "C", "-disable-objc-interop", "-Xcc", "-ffreestanding"]
        options = ["-sdk", self.sdk]
        if self.name == "maccatalyst":
            support = self.sdk / "System" / "iOSSupport"
            options += ["-I", support / "usr" / "lib" / "swift", "-Fsystem", support / "System" / "Library" / "Frameworks"]
        return options

    def compile(self, *arguments):
        """Returns the compiler's errors and warnings."""
        return self.frontend("-parse-as-library", *arguments).stderr

    def frontend(self, *arguments):
        command = [
            "swiftc", "-frontend", "-target", self.triple, "-I", self.folder, *self.frameworks(),
            "-module-cache-path", self.folder / "cache",
            "-plugin-path", pathlib.Path(self.host["paths"]["runtimeResourcePath"], "host", "plugins"),
            "-diagnostic-style", "llvm", *arguments]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0 and not result.stderr:
            raise Failure(f"the compiler failed with exit status {result.returncode}")
        return result

    def emit_module(self, name, sources, *options, folder=None):
        path = (folder or self.folder) / f"{name}.swiftmodule" / f"{self.module}.swiftmodule"
        path.parent.mkdir(parents=True, exist_ok=True)
        errors = self.compile("-emit-module", "-o", path, "-module-name", name, *options, *sorted(sources))
        if errors:
            raise Failure(f"{self.title}: {name}", errors)

    def errors(self, name, sources, *options):
        # Unlike -typecheck, it also checks initialisation, exclusive access and data races.
        return self.compile("-emit-sil", "-o", os.devnull, "-module-name", name, *options, *sources)
