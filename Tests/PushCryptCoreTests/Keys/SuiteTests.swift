import Foundation
import PushCryptHPKE
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// A row of the table of suites in docs/protocol.md.
struct ProtocolSuite: Sendable, CustomStringConvertible {
    let number: UInt8
    let key: String
    let scheme: String
    /// `enc(65) ‖ ct`
    let sealed: String

    var description: String { "suite \(number)" }

    static let all: [ProtocolSuite] = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        guard let text = try? String(contentsOf: root.appendingPathComponent("docs/protocol.md"), encoding: .utf8),
            let table = text.components(separatedBy: "| suite | key | scheme | `sealed` |").last, table != text
        else { return [] }
        let lines = table.split(separator: "\n").prefix { $0.hasPrefix("|") }
        return lines.compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard cells.count >= 4, let number = UInt8(cells[0]) else { return nil }
            return ProtocolSuite(number: number, key: cells[1], scheme: cells[2], sealed: cells[3])
        }
    }()

    /// The names with their identifiers of RFC 9180: `DHKEM(P-256, HKDF-SHA256) 0x0010`, ...
    var identifiers: [(name: String, id: UInt16)] {
        scheme.matches(of: /([A-Za-z0-9-]+(?:\([^)]*\))?) 0x([0-9a-f]{4})/).compactMap { match in
            UInt16(match.2, radix: 16).map { (String(match.1), $0) }
        }
    }

    /// The bytes before the ciphertext.
    var headerByteCount: Int? { sealed.firstMatch(of: /\(([0-9]+)\)/).flatMap { Int($0.1) } }

    var suite: PushCryptCore.Suite? { PushCryptCore.Suite(rawValue: number) }
}

/// The vectors show that messages are sealed with these algorithms.
@Suite("The suites and the protocol's table of them")
struct SuiteTests {
    @Test("Suite has the numbers of the protocol's table and no others")
    func numbers() {
        #expect(ProtocolSuite.all.map(\.number) == PushCryptCore.Suite.allCases.map(\.rawValue))
        for number in UInt8.min ... .max {
            let isInTheTable = ProtocolSuite.all.contains { $0.number == number }
            #expect((PushCryptCore.Suite(rawValue: number) != nil) == isInTheTable)
        }
    }

    @Test("Suite's algorithms, identifiers and lengths are those of the protocol's table", arguments: ProtocolSuite.all)
    func algorithms(row: ProtocolSuite) throws {
        let suite = try #require(row.suite)
        #expect(suite.headerByteCount == row.headerByteCount)
        #expect(suite.overheadByteCount == (row.headerByteCount ?? 0) + 16)
        guard let kem = suite.kem else {
            #expect(row.key == "shared secret, 256 bits")
            #expect(row.scheme.hasPrefix("\(HPKE.kdfName) and \(suite.aead)"))
            return
        }
        #expect(row.key == "\(kem.keyPairType)")
        #expect(row.identifiers.map(\.name) == ["\(kem)", HPKE.kdfName, "\(suite.aead)"])
        #expect(row.identifiers.map(\.id) == [kem.rawValue, HPKE.kdfID, suite.aead.rawValue])
    }

    @Test("A key algorithm's name reads back, and names outside the list are refused")
    func names() {
        #expect(
            KeyAlgorithm.allCases.map(\.rawValue) == [
                "p256", "x25519", "xwing", "shared", "ed25519", "ed25519-publisher",
            ])
        for algorithm in KeyAlgorithm.allCases { #expect(KeyAlgorithm(rawValue: algorithm.rawValue) == algorithm) }
        for name in ["", "P256", "p256 ", "ed448", "1"] { #expect(KeyAlgorithm(rawValue: name) == nil) }
    }

    @Test("Every key of the test vectors has the algorithm that its JWK names", arguments: TestJWK.all)
    func algorithmOfARecord(jwk: TestJWK) throws {
        let algorithm = try jwk.record().algorithm
        #expect(algorithm.kty == jwk.text("kty"))
        #expect(algorithm.crv == (jwk.members["crv"] == nil ? nil : jwk.text("crv")))
        #expect(algorithm.alg == jwk.text("alg"))
    }
}
