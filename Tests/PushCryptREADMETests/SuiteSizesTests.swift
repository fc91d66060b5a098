import PushCryptCore
import PushCryptPrimitives
import PushCryptSender
import Testing

/// The sizes in docs/registration.md.
@Testing.Suite("the documented sizes of the suites")
struct SuiteSizesTests {
    /// The bytes of a message by the number of its suite, as documented.
    private static func documented() throws -> [UInt8: Int] {
        let text = try Documents.text(of: "docs/registration.md").replacing(/\s+/, with: " ")
        let sentence = try #require(text.firstMatch(of: /A signed push with the standard placeholder [^.]*\./)).output
        let sizes = sentence.matches(of: /([\d,]+) (?:bytes )?in suite (\d)/).compactMap { match in
            UInt8(match.2).flatMap { suite in Int(match.1.replacing(",", with: "")).map { (suite, $0) } }
        }
        return Dictionary(uniqueKeysWithValues: sizes)
    }

    private static func record(_ suite: PushCryptCore.Suite) throws -> KeyRecord {
        let kind: KeyKind = suite == .shared ? .shared : .recipient
        return try KeyRecord.generate(kind, type: suite.keyPairType ?? .p256, backend: DefaultBackend.shared)
    }

    private static func jwk(_ record: KeyRecord) throws -> [UInt8] {
        var bytes = [UInt8]()
        try record.appendJWK(to: &bytes)
        return bytes
    }

    @Test("the page has a size for each suite")
    func complete() throws {
        #expect(try Set(Self.documented().keys) == Set(PushCryptCore.Suite.allCases.map(\.rawValue)))
    }

    @Test(
        "a message of the documented size fits into a signed push of the suite, and one of a byte more is tooLarge",
        arguments: PushCryptCore.Suite.allCases.filter(\.isAvailable))
    func fits(_ suite: PushCryptCore.Suite) throws {
        let size = try #require(try Self.documented()[suite.rawValue])
        let signer = try SenderKey(jwk: Self.jwk(KeyRecord.generate(.sender, backend: DefaultBackend.shared)))
        let sealer = try Sealer(
            topic: "com.example.app", signer: .key(signer), options: .init(padding: .none),
            clock: { UnixTime(1_800_000_000) })
        let recipient = try Recipient(jwk: Self.jwk(Self.record(suite).publicRecord(keepingPSK: true)))
        // The member that sealing adds to the payload.
        let member = #","pushcrypt":{"id":"1234567890123456789012","iat":1800000000,"exp":1802592000}"#
        func payload(_ count: Int) -> String {
            let empty = #"{"aps":{"alert":""}}"#
            let text = String(repeating: "a", count: count - empty.utf8.count - member.utf8.count)
            return empty.replacing(#""""#, with: "\"\(text)\"")
        }
        #expect(try sealer.seal(payload(size), to: recipient).byteCount <= 4_096)
        let error = #expect(throws: SenderError.self) { try sealer.seal(payload(size + 1), to: recipient) }
        #expect(error?.code == .tooLarge)
    }
}
