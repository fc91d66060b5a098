import Foundation
import PushCryptTestSupport
import Testing

/// Tests/Vectors/alerts-v1.json, through the lines of the tool.
@Suite("visible text in a batch's lines", .ownThreads)
struct AlertLineTests {
    struct File: Decodable {
        let keyset: String
        let vectors: [Vector]
    }

    struct Vector: Decodable {
        let alert: String
        let isVisible: Bool
        let inner: String
        let outer: String
    }

    /// The time of the vectors.
    private static let now = "2027-01-15T08:00:00Z"

    /// The numbers of the lines of `input` that are refused with `code`.
    private static func refused(_ command: [String], _ input: [String], as code: String) throws -> [Int] {
        let batch = try BatchPlace()
        try batch.place.write(Data(try Vectors.loadOwn("alerts-v1.json", as: File.self).keyset.utf8), to: "device.json")
        let output = try batch.place.run(command + ["--errors", "errors.jsonl"], stdin: BatchPlace.data(input))
        let refused = try batch.refusedLines()
        #expect(refused.allSatisfy { $0.reason == code }, "\(output)")
        return refused.map(\.line)
    }

    private static func numbers(_ vectors: [Vector], isVisible: Bool) -> [Int] {
        vectors.enumerated().filter { $0.element.isVisible == isVisible }.map { $0.offset + 1 }
    }

    @Test("lines whose payload or placeholder has no visible character are refused, and the others are sealed")
    func sealing() throws {
        let vectors = try Vectors.loadOwn("alerts-v1.json", as: File.self).vectors
        let command = BatchPlace.seal + ["--to", "device.json"]
        let payloads = vectors.map { #"{"payload":{"aps":{"alert":\#($0.alert)}}}"# }
        #expect(try Self.refused(command, payloads, as: "invalidPayload") == Self.numbers(vectors, isVisible: false))
        let placeholders = vectors.map { vector in
            let alert = vector.alert.hasPrefix("{") ? vector.alert : #"{"body":\#(vector.alert)}"#
            return #"{"payload":{"aps":{"alert":"x"}},"placeholder":\#(alert)}"#
        }
        #expect(
            try Self.refused(command, placeholders, as: "invalidPlaceholder") == Self.numbers(vectors, isVisible: false)
        )
    }

    @Test("open refuses lines whose inner or outer alert has no visible character as malformed")
    func opening() throws {
        let vectors = try Vectors.loadOwn("alerts-v1.json", as: File.self).vectors
        for payload in [\Vector.inner, \Vector.outer] {
            let lines = vectors.map { #"{"payload":\#($0[keyPath: payload])}"# }
            let command = ["open", "--batch", "--topic", Workplace.topic, "--at", Self.now, "--keys", "device.json"]
            #expect(try Self.refused(command, lines, as: "malformed") == Self.numbers(vectors, isVisible: false))
        }
    }

    @Test("a visible alert of spaces, outside, makes open fail as malformed, and the reason names the alert")
    func reason() throws {
        let file = try Vectors.loadOwn("alerts-v1.json", as: File.self)
        let place = try Workplace()
        try place.write(Data(file.keyset.utf8), to: "device.json")
        let push = try #require(file.vectors.first { $0.alert == "\"   \"" })
        let output = try place.run(
            "open", "--keys", "device.json", "--topic", Workplace.topic, "--at", Self.now,
            stdin: Data(push.outer.utf8))
        #expect(output.exit == 65)
        #expect(output.stderr.contains("malformed: the push has no alert with a visible text"), "\(output)")
    }
}
