import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptSender
import PushCryptTestSupport
import Testing

/// Conformance/vectors/alerts-v1.json: alerts with and without a text that a person can see, to seal and to open.
@Suite("visible text of the Python reference")
struct AlertVectorTests {
    struct File: Decodable, Sendable {
        let keyset: String
        let topic: String
        let at: Int64
        /// Inclusive ranges of code points, hexadecimal.
        let invisible: [String]
        let vectors: [Vector]

        static let shared = Result { try Vectors.loadOwn("alerts-v1.json", as: File.self) }
    }

    struct Vector: Decodable, Sendable, CustomStringConvertible {
        let name: String
        /// JSON.
        let alert: String
        let isVisible: Bool
        /// A payload whose message has the alert, and one whose outer payload has it.
        let inner: String
        let outer: String

        var description: String { name }

        /// The members with one text each.
        func texts() throws -> [String: String] {
            let alert = try JSONSerialization.jsonObject(with: Data(alert.utf8), options: .fragmentsAllowed)
            if let body = alert as? String { return ["body": body] }
            return (alert as? [String: Any] ?? [:]).compactMapValues { $0 as? String }
        }
    }

    private static func expect(
        _ code: SenderError.Code?, _ vector: Vector, _ seal: (Sealer, Recipient) throws -> Void
    ) throws {
        let file = try File.shared.get()
        let sealer = try Sealer(topic: file.topic, clock: { UnixTime(file.at) })
        let recipient = try Recipient(jwk: Array(file.keyset.utf8))
        do {
            try seal(sealer, recipient)
            #expect(code == nil, "\(vector.name)")
        } catch let error as SenderError {
            #expect(error.code == code, "\(vector.name): \(error)")
        }
    }

    @Test(
        "a payload whose alert has no visible character isn't sealed and isn't offloaded",
        arguments: try File.shared.get().vectors)
    func payload(_ vector: Vector) throws {
        let json = Array(#"{"aps":{"alert":\#(vector.alert)}}"#.utf8)
        try Self.expect(vector.isVisible ? nil : .invalidPayload, vector) { _ = try $0.seal(json, to: $1) }
        try Self.expect(vector.isVisible ? nil : .invalidPayload, vector) { _, _ in _ = try Sealer.offload(json) }
        #expect(((try? OffloadedPayload.innerPayload(plaintext: json)) != nil) == vector.isVisible)
    }

    @Test(
        "a placeholder without a visible character is refused, and another one is sealed",
        arguments: try File.shared.get().vectors)
    func placeholder(_ vector: Vector) throws {
        let texts = try vector.texts()
        let placeholder = Placeholder(
            title: texts["title"], subtitle: texts["subtitle"], body: texts["body"],
            titleLocKey: texts["title-loc-key"],
            subtitleLocKey: texts["subtitle-loc-key"], bodyLocKey: texts["loc-key"])
        try Self.expect(vector.isVisible ? nil : .invalidPlaceholder, vector) {
            _ = try $0.seal(#"{"aps":{"alert":"x"}}"#, to: $1, placeholder: placeholder)
        }
    }

    @Test(
        "a push whose inner or outer alert has no visible character is malformed",
        arguments: try File.shared.get().vectors)
    func opening(_ vector: Vector) throws {
        let file = try File.shared.get()
        let opener = try Opener(
            topic: file.topic, keyring: KeysetKeyring(Keyset(json: Array(file.keyset.utf8))), senders: .unsigned)
        for payload in [vector.inner, vector.outer] {
            switch opener.open(Array(payload.utf8), at: UnixTime(file.at)) {
            case .success: #expect(vector.isVisible)
            case .failure(let failure): #expect(failure == .malformed && !vector.isVisible)
            }
        }
    }

    private static func invisible() throws -> Set<UInt32> {
        var listed = Set<UInt32>()
        for plane: UInt32 in 0...16 {
            listed.formUnion([plane << 16 | 0xFFFE, plane << 16 | 0xFFFF])
        }
        for text in try File.shared.get().invisible {
            let ends = try text.split(separator: "-").map { try #require(UInt32($0, radix: 16)) }
            listed.formUnion(ends[0]...ends[ends.count - 1])
        }
        return listed
    }

    @Test("the characters that show nothing are those of the list, and all others are visible")
    func everyCharacter() throws {
        let listed = try Self.invisible()
        let found = (UInt32(0)...0x10FFFF).compactMap(Unicode.Scalar.init).filter { !$0.isVisible }.map(\.value)
        #expect(Set(found) == listed)
    }

    /// The list was made from these properties; the signs that Unicode puts before digits are format characters with a glyph.
    @Test("every white space, default ignorable, control and format character of this Unicode is in the list")
    func properties() throws {
        let listed = try Self.invisible()
        let signs: Set<UInt32> = [
            0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD,
        ]
        let missing = (UInt32(0)...0x10FFFF).compactMap(Unicode.Scalar.init).filter { scalar in
            let properties = scalar.properties
            return
                (properties.isWhitespace || properties.isDefaultIgnorableCodePoint
                || properties.isNoncharacterCodePoint || [.control, .format].contains(properties.generalCategory))
                && !listed.contains(scalar.value)
        }
        #expect(Set(missing.map(\.value)) == signs)
    }

    @Test("the protocol page has the ranges of the vectors")
    func page() throws {
        let page = try String(
            contentsOf: Vectors.own("../../docs/protocol.md").standardizedFileURL, encoding: .utf8)
        let start = try #require(page.range(of: "### Visible text")).upperBound
        let list = try #require(page[start...].split(separator: "```", maxSplits: 2).dropFirst().first)
        let ranges = list.prefix { !"a".contains($0) }.split { " \n".contains($0) }.map(String.init)
        #expect(try ranges == File.shared.get().invisible)
    }
}
