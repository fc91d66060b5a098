import Foundation
import Testing

/// A command line is in the shell's history and in the list of processes.
@Suite("secrets in the documents' commands")
struct ExampleSecrecyTests {
    /// What would put a secret on a command line: the variable with a literal value, a text as the input of a command that
    /// reads a passphrase, and a private member of a JWK.
    private static var forbidden: [any RegexComponent] {
        [
            #/PUSHCRYPT_(PASSPHRASE|KEYSET)=['"]?[^$\s'"]/#, #/--[a-z-]*passphrase[= ](?!-)/#, #/<<<\s*['"]?[^$\s]/#,
            #/(echo|printf)\s[^|>]*[|>].*pass/#, #/"(d|k|psk)"\s*:\s*"/#,
        ]
    }

    private static func isForbidden(_ line: String) -> Bool { forbidden.contains { line.contains($0) } }

    @Test("no example puts a secret on a command line or into the shell's history")
    func commandLines() throws {
        let blocks = try Documents.tested.flatMap { try Documents.blocks(of: "sh", in: $0) }
        #expect(blocks.count > 15)
        for block in blocks {
            for line in block.lines {
                #expect(!Self.isForbidden(line), "\(line)")
            }
        }
    }

    /// The files that a command line writes secrets to: a registration record, a private key, or the reference of a blob.
    private static func secretFiles(_ line: String) -> [String] {
        let written =
            #/(?:keys export[^>|;]*(?:--registration|--private|--device)[^>|;]*> *|--reference +|--[a-z-]*passphrase-file +)([^\s)]+)/#
        return line.matches(of: written).map { String($0.1) }
    }

    @Test(
        "a command of a document or guide writes secrets to Keys or outside the repository, and a record under umask 077"
    )
    func places() throws {
        let guides = try FileManager.default.subpathsOfDirectory(
            atPath: Documents.packageRoot.appendingPathComponent("Sources").path
        ).filter { $0.hasSuffix(".md") }.map { "Sources/\($0)" }
        var count = 0
        for document in Documents.tested + guides {
            for block in try Documents.blocks(of: "sh", in: document) {
                let lines = block.text.replacing("\\\n", with: " ").components(separatedBy: "\n")
                for line in lines {
                    for file in Self.secretFiles(line) {
                        count += 1
                        let isPrivate = file.hasPrefix("Keys/") || file.hasPrefix("/") || file == "FILE"
                        #expect(isPrivate, "\(document): \(line)")
                    }
                    guard line.contains("keys export"), !Self.secretFiles(line).isEmpty, line.contains(">") else {
                        continue
                    }
                    #expect(
                        line.contains("umask 077") || block.text.hasPrefix("umask 077"), "\(document): \(line)")
                }
            }
        }
        #expect(count > 5)
    }

    @Test(
        "a command line with a secret is found",
        arguments: [
            "PUSHCRYPT_PASSPHRASE=horse pushcrypt rotate", "pushcrypt rotate --passphrase horse",
            "pushcrypt keys secret add --new-passphrase=horse",
            "pushcrypt rotate --passphrase-file /dev/fd/0 <<< horse",
            "echo horse > passphrase", "printf horse | pushcrypt rotate --passphrase-file /dev/fd/0",
            #"echo '{"k": "AAAA"}' > key.json"#,
        ])
    func examples(_ line: String) {
        #expect(Self.isForbidden(line))
    }
}
