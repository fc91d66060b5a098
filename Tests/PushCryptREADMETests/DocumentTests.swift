import Foundation
import PushCryptTestSupport
import Testing

/// The files and types that the documents name exist, and the code that they show is compiled.
@Suite("the documents")
struct DocumentTests {
    private static let examples =
        Documents.files(in: "Tests/PushCryptREADMETests", withSuffix: "Example.swift")
        + ["NotificationService/NotificationService", "Shared/SharedConfiguration"].map { "Examples/iOS/\($0).swift" }
        + Documents.files(in: "Examples/notification-tests/Tests/AppNotificationsTests", withSuffix: ".swift")

    @Test("The documents show every example file once, and no other Swift code")
    func examples() throws {
        let shown = try Documents.tested.flatMap { document in
            try Documents.blocks(of: "swift", in: document).map { $0.text + "\n" }
        }
        let files = try Self.examples.map { try Documents.text(of: $0) }
        #expect(shown.sorted() == files.sorted())
    }

    @Test("The README has at most 250 lines, and seals a push in the first 100")
    func length() throws {
        let lines = try Documents.text(of: "README.md").components(separatedBy: "\n")
        #expect(lines.count <= 251)
        #expect(try #require(lines.firstIndex { $0.contains("pushcrypt seal --to") }) < 100)
    }

    @Test("A shell can parse the shell commands of a document", arguments: Documents.all)
    func shell(_ document: String) throws {
        for block in try Documents.blocks(of: "sh", in: document) {
            let shell = ChildProcess(executable: "/bin/sh", arguments: ["-n", "-c", block.text])
            #expect(try shell.run() == .exit(0), "\(block.text)")
        }
    }

    @Test("A link leads to a file that exists, and to a heading in it", arguments: Documents.all)
    func links(_ document: String) throws {
        let folder = Documents.packageRoot.appendingPathComponent(document).deletingLastPathComponent()
        for link in try Documents.prose(of: document).matches(of: #/\]\(([^)#\s]*)(?:#([^)\s]+))?\)/#) {
            let target = String(link.1)
            guard !target.hasPrefix("https://") else { continue }
            let file =
                target.isEmpty
                ? folder.appendingPathComponent(document.components(separatedBy: "/").last ?? "")
                : folder.appendingPathComponent(target)
            #expect(FileManager.default.fileExists(atPath: file.path), "\(target)")
            guard let anchor = link.2 else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(Self.anchors(of: text).contains(String(anchor)), "\(target)#\(anchor)")
        }
    }

    /// Headings as GitHub spells them in links.
    private static func anchors(of text: String) -> [String] {
        text.matches(of: #/(?m)^#+ (.*)$/#).map { heading in
            String(heading.1).lowercased().filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
                .replacing(" ", with: "-")
        }
    }

    @Test("A path in backticks exists", arguments: Documents.all)
    func paths(_ document: String) throws {
        let roots = ["Sources", "Tests", "Benchmarks", "Examples", "docs", ".ci"]
        let own = document.contains("/") ? document.split(separator: "/").dropLast().joined(separator: "/") + "/" : ""
        let folders = ["", "Sources/", "Tests/", own]
        for path in try Self.names(in: document) {
            guard path.wholeMatch(of: #/[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)+/?/#) != nil else { continue }
            let first = path.components(separatedBy: "/")[0]
            guard roots.contains(first) || first.hasPrefix("PushCrypt") || path.hasPrefix("Keys/demo") else { continue }
            let exists = folders.contains { folder in
                FileManager.default.fileExists(atPath: Documents.packageRoot.appendingPathComponent(folder + path).path)
            }
            #expect(exists, "\(path)")
        }
        guard Documents.named.contains(document) else { return }
        for file in try Self.names(in: document) where file.hasSuffix(".swift") {
            #expect(file == "Package.swift", "\(file): name the type or the target; files move")
        }
    }

    @Test("A target or type in backticks is declared", arguments: Documents.named)
    func types(_ document: String) throws {
        let elsewhere: Set = [
            "BoringSSL", "CryptoKit", "LibreSSL", "OpenSSL", "FlyingFox", "UserNotifications", "TaskExecutor",
            "FoundationEssentials", "OSAllocatedUnfairLock", "Synchronization", "NSExtensionPrincipalClass",
            "LoadCredential",
        ]
        for name in try Self.names(in: document) {
            guard name.wholeMatch(of: #/C?[A-Z][a-z]+[A-Z][A-Za-z0-9]*/#) != nil, !elsewhere.contains(name) else {
                continue
            }
            #expect(Sources.declared.contains(name) || Sources.targets.contains(name), "\(name)")
        }
    }

    @Test("CONTRIBUTING.md lists each target of the package once, and no other")
    func targets() throws {
        let rows = try Documents.text(of: "CONTRIBUTING.md").components(separatedBy: "\n")
            .filter { $0.hasPrefix("| `") }.compactMap { $0.split(separator: "|").first }
        let listed = rows.flatMap { row in row.matches(of: #/`(C?PushCrypt[A-Za-z]+)`/#).map { String($0.1) } }
        #expect(listed.sorted() == Sources.folders.sorted())
    }

    @Test("CONTRIBUTING.md names every target with unsafe code, and no other")
    func unsafeCode() throws {
        let text = try Documents.text(of: "CONTRIBUTING.md").replacing("\n  ", with: " ")
        let sentence = try #require(text.firstMatch(of: #/\*\*Unsafe code\*\* is in (.*?), and in no other target/#))
        let named = sentence.1.matches(of: #/`([A-Za-z]+)`/#).map { String($0.1) }
        #expect(named.sorted() == Sources.unsafeFolders.sorted())
    }

    /// The texts in backticks outside of code blocks.
    private static func names(in document: String) throws -> [String] {
        try Documents.prose(of: document).matches(of: #/`([^`\n]+)`/#).map { String($0.1) }
    }
}
