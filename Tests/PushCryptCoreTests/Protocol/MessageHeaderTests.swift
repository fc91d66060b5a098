import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct MessageHeaderTests {
    private static let id = "AAECAwQFBgcICQoLDA0ODw"
    private static let window = MessageHeader.windowInSeconds

    private static func header(_ json: String) throws -> MessageHeader? {
        MessageHeader(try JSONText(Array(json.utf8)).root, proof: .signature)
    }

    private static func json(id: String = "\"\(id)\"", iat: String = "1000", exp: String = "2000") -> String {
        #"{"id":\#(id),"iat":\#(iat),"exp":\#(exp)}"#
    }

    @Test("a header is read with id, iat and exp")
    func read() throws {
        let header = try #require(try Self.header(Self.json()))
        #expect(header.id == Array(0...15))
        #expect(header.issuedAt == UnixTime(1_000))
        #expect(header.expiresAt == UnixTime(2_000))
    }

    @Test("a header is written as its documented JSON")
    func written() throws {
        let header = MessageHeader(id: Array(0...15), issuedAt: UnixTime(1_000), expiresAt: UnixTime(2_000))
        let member = String(decoding: header.rawMember, as: UTF8.self)
        #expect(member == #""pushcrypt":{"id":"AAECAwQFBgcICQoLDA0ODw","iat":1000,"exp":2000}"#)
        let text = try JSONText(Array("{\(member)}".utf8))
        #expect(MessageHeader(text.root["pushcrypt"], proof: .signature) == header)
    }

    @Test(
        "a header with times at the limits is accepted",
        arguments: [
            json(iat: "0", exp: "1"), json(iat: "1999", exp: "2000"), json(iat: "0", exp: "\(window)"),
            json(iat: "1", exp: "\(window + 1)"), json(iat: "9007199254740990", exp: "9007199254740991"),
            #"{"exp":2,"more":{"id":1},"iat":1,"id":"AAAAAAAAAAAAAAAAAAAAAA"}"#,
            #"{"\u0069d":"\u0041AAAAAAAAAAAAAAAAAAAAA","iat":1,"exp":2}"#,
        ])
    func accepted(text: String) throws {
        #expect(try Self.header(text) != nil)
    }

    private static let notNumbers = [
        "null", "true", "false", "\"1500\"", "1500.0", "1500.5", "15e2", "1500E0", "0.15e4", "-1500", "-0", "[]", "{}",
        "9007199254740992", "99999999999999999999", "[1500]",
    ]

    @Test("a header whose time isn't a protocol integer is refused", arguments: notNumbers)
    func timeIsNoInteger(text: String) throws {
        #expect(try Self.header(Self.json(iat: text)) == nil)
        #expect(try Self.header(Self.json(iat: "0", exp: text)) == nil)
    }

    private static let outOfOrder: [(Int64, Int64)] = [
        (1_000, 1_000), (1_001, 1_000), (2_000, 0), (0, window + 1), (1_000, window + 1_001),
        (0, 9_007_199_254_740_991),
    ]

    @Test("a header whose exp isn't within 30 days after iat is refused", arguments: outOfOrder)
    func timesOutOfOrder(iat: Int64, exp: Int64) throws {
        #expect(try Self.header(Self.json(iat: "\(iat)", exp: "\(exp)")) == nil)
    }

    @Test(
        "a header whose id isn't 16 bytes of base64url is refused",
        arguments: [
            "null", "true", "1", "\"\"", "[]", "\"AAECAwQFBgcICQoLDA0O\"", "\"AAECAwQFBgcICQoLDA0ODxA\"",
            "\"AAECAwQFBgcICQoLDA0ODx\"", "\"AAECAwQFBgcICQoLDA0ODw==\"", "\"AAECAwQFBgcICQoLDA0ODw \"",
            "\"+AECAwQFBgcICQoLDA0ODw\"",
        ])
    func id(text: String) throws {
        #expect(try Self.header(Self.json(id: text)) == nil)
    }

    @Test("a header without id, iat or exp is refused", arguments: ["id", "iat", "exp"])
    func missing(name: String) throws {
        let text = Self.json().replacing("\"\(name)\"", with: "\"x\(name)\"")
        #expect(try Self.header(text) == nil)
    }

    @Test("a header that isn't an object is refused", arguments: ["null", "1", "\"x\"", "[]", "{}", "true"])
    func noObject(text: String) throws {
        #expect(try Self.header(text) == nil)
        #expect(MessageHeader(nil, proof: .signature) == nil)
    }

    @Test("new headers have different random ids", arguments: Backends.all)
    func freshIDs(backend: NamedBackend) throws {
        let recipient = try TestChannel.all[0].recipient(backend.backend)
        let headers = try (0..<20).map { _ in
            try MessageHeader.fresh(for: recipient, issuedAt: UnixTime(1), expiresAt: UnixTime(2))
        }
        #expect(Set(headers.map(\.id)).count == 20)
        #expect(headers.allSatisfy { $0.id.count == 16 })
    }
}
