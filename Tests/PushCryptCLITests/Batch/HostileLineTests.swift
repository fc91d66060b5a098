import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import Testing

@testable import pushcrypt

/// The cost of a line is linear in its length, so that no line delays the lines after it.
@Suite("hostile lines of a batch", .ownThreads, .enabled(if: FaultPoints.exist, "a release build counts no steps"))
struct HostileLineTests {
    struct Shape: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Returns a line with `count` pieces.
        let line: @Sendable (_ count: Int) -> String

        init(_ name: String, _ line: @escaping @Sendable (Int) -> String) {
            (testDescription, self.line) = (name, line)
        }
    }

    private static func joined(_ count: Int, _ separator: String = ",", _ piece: (Int) -> String) -> String {
        (0..<count).map(piece).joined(separator: separator)
    }

    private static func payload(aps: String = "", alert: String = #""x""#, root: String = "") -> String {
        #""payload":{"aps":{"alert":\#(alert)\#(aps)}\#(root)}"#
    }

    /// A name with the length of a known name and other last characters.
    private static func alike(_ name: String, _ index: Int) -> String {
        let digits = String(index)
        return name.dropLast(min(digits.count, name.count)) + digits
    }

    static let shapes: [Shape] = [
        Shape("exposes as many names as aps has members") { count in
            let names = joined(count) { "\"n\($0)\"" }
            return "{\(payload(aps: "," + joined(count) { "\"n\($0)\":0" })),\"expose\":[\(names)]}"
        },
        Shape("exposes 32 names of many members") { count in
            let names = joined(min(count, 32)) { "\"n\(count - 1 - $0)\"" }
            return "{\(payload(aps: "," + joined(count) { "\"n\($0)\":0" })),\"expose\":[\(names)]}"
        },
        Shape("many members") { "{\(payload()),\(joined($0) { #""n\#($0)":0"# })}" },
        Shape("many members whose names are nearly placeholder") {
            "{\(payload()),\(joined($0) { "\"\(alike("placeholder", $0))\":0" })}"
        },
        Shape("one member with a long name") {
            "{\(payload()),\"\(String(repeating: "n", count: 8 * $0))\":0}"
        },
        Shape("many members of aps with escapes") { #"{\#(payload(aps: "," + joined($0) { #""\u006e\#($0)":0"# }))}"# },
        Shape("many members of aps whose names are nearly content-available") {
            "{\(payload(aps: "," + joined($0) { "\"\(alike("content-available", $0))\":0" }))}"
        },
        Shape("many members of the alert") {
            "{\(payload(alert: "{" + joined($0) { #""n\#($0)":0"# } + #","body":"x"}"#))}"
        },
        Shape("many members of to") { #"{\#(payload()),"to":{"kty":"EC",\#(joined($0) { #""n\#($0)":0"# })}}"# },
        Shape("a long expires") { #"{\#(payload()),"expires":"P\#(String(repeating: "1", count: 8 * $0))D"}"# },
        Shape("objects of 32 names that differ in their end") { count in
            let prefix = String(repeating: "n", count: 200)
            return
                "{\(payload()),\"x\":[\(joined(max(count / 800, 1)) { _ in "{" + joined(32) { "\"\(prefix)\($0 + 10)\":0" } + "}" })]}"
        },
        Shape("objects in objects") { count in
            let chain = String(repeating: #"{"n":"#, count: 60) + "0" + String(repeating: "}", count: 60)
            return "{\(payload()),\"x\":[\(joined(max(count / 60, 1)) { _ in chain })]}"
        },
        Shape("a payload of many values") { "{\(payload(root: #","x":["# + joined(4 * $0) { _ in "0" } + "]"))}" },
    ]

    private static func steps<Worker: LineWorker>(_ line: String, _ worker: inout Worker) -> Int {
        let counter = Locked(0)
        var output: [UInt8] = []
        JSONSteps.$counter.withValue(counter) {
            guard let line = try? Worker.Line(Array(line.utf8)) else { return }
            _ = try? worker.process(line, number: 1, into: &output)
        }
        return counter.withLock { $0 }
    }

    private static func expectLinear(
        _ shape: Shape, _ worker: inout some LineWorker, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let lines = [2_000, 4_000].map(shape.line)
        let counts = lines.map { steps($0, &worker) }
        let perByte = zip(lines, counts).map { line, count in Double(count) / Double(line.utf8.count) }
        #expect(perByte.allSatisfy { $0 > 0 && $0 < 24 }, "\(perByte) steps", sourceLocation: sourceLocation)
        // With quadratic work each byte of a line twice as long would cost twice as much.
        #expect(perByte[1] < 1.5 * perByte[0], "\(perByte) steps", sourceLocation: sourceLocation)
    }

    @Test("sealing a hostile line takes steps in proportion to its length", arguments: shapes)
    func sealed(shape: Shape) throws {
        let keyset = try Keyset(json: Array(BatchPlace.jwk("shared").utf8))
        var worker = SealWorker(
            sealer: try Sealer(topic: Workplace.topic), retractedCampaigns: [], extras: MessageExtras(),
            keys: .fixed(keyset, clock: { UnixTime(0) }), allowsBare: true, allowsDemoKeys: false, lookup: nil)
        Self.expectLinear(shape, &worker)
    }

    @Test("opening a hostile line takes steps in proportion to its length", arguments: shapes)
    func opened(shape: Shape) throws {
        var worker = try Self.openWorker()
        Self.expectLinear(shape, &worker)
    }

    private static func openWorker() throws -> OpenWorker {
        let keyset = try Keyset(json: Array(BatchPlace.jwk("shared").utf8))
        return OpenWorker(
            topic: Workplace.topic, keys: { keyset }, senders: { nil }, carriers: [.apns],
            time: UnixTime(1_800_000_000))
    }

    /// An attacker with the key can seal any message. These members are read after decryption.
    static let messages: [Shape] = [
        Shape("many members of the header") { count in joined(count) { #""n\#($0)":0"# } },
        Shape("many attachments") { count in #""attachments":["# + joined(count / 4) { _ in "{}" } + "]" },
        Shape("an attachment of many members") { count in
            #""attachments":[{"# + joined(count) { #""n\#($0)":0"# } + "}]"
        },
        Shape("a long offload") { count in #""offload":{"url":"https://\#(String(repeating: "a", count: 8 * count))"}"#
        },
    ]

    @Test("opening a hostile message takes steps in proportion to its length", arguments: messages)
    func message(shape: Shape) throws {
        let keyset = try Keyset(json: Array(BatchPlace.jwk("shared").utf8))
        let recipient = try keyset.recipient(at: UnixTime(0))
        let sealed = Shape(shape.testDescription) { count in
            let header = #""id":"AAECAwQFBgcICQoLDA0ODw","iat":1800000000,"exp":1800000060,"# + shape.line(count)
            let message = #"{"aps":{"alert":"x"},"pushcrypt":{\#(header)}}"#
            guard let topic = try? Topic(Workplace.topic),
                let sealed = try? Envelope.seal(Array(message.utf8), to: recipient, signer: nil, topic: topic)
            else { return "" }
            let frame = OuterFrame(
                placeholder: Array(#""x""#.utf8), exposed: [], kid: recipient.kid, skid: nil)
            return #"{"payload":"# + String(decoding: frame.payload(sealed: sealed), as: UTF8.self) + "}"
        }
        var worker = try Self.openWorker()
        Self.expectLinear(sealed, &worker)
    }
}
