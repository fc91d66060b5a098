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

    @Test(
        "a command line with a secret is found",
        arguments: [
            "PUSHCRYPT_PASSPHRASE=horse pushcrypt rotate", "pushcrypt rotate --passphrase horse",
            "pushcrypt keys passwd --new-passphrase=horse", "pushcrypt rotate --passphrase-fd 0 <<< horse",
            "echo horse > passphrase", "printf horse | pushcrypt rotate --passphrase-fd 0",
            #"echo '{"k": "AAAA"}' > key.json"#,
        ])
    func examples(_ line: String) {
        #expect(Self.isForbidden(line))
    }
}
