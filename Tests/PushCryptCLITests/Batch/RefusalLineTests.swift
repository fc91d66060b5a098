import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// Tests/Vectors/sender-refusals-v1.json, through the tool: as lines, and those that no line can have as single payloads.
@Suite("refusals of every sender, through the tool", .ownThreads)
struct RefusalLineTests {
    struct File: Decodable, Sendable {
        let records: [String: String]
        let seal: [Sealing]

        static let shared = Result { try Vectors.loadOwn("sender-refusals-v1.json", as: File.self) }
    }

    struct Sealing: Decodable, Sendable {
        let name: String
        let failure: String?
        let payload: String
        let to: String
        let isSigned: Bool
        let placeholder: [String: String]
        let options: Options
    }

    struct Options: Codable, Sendable {
        let expiresAfter: Int?
        let limit: Int?
        let campaign: String?
        let exposed: [String]?
        let retract: [String]?
        let quiet: Bool?
        let badgeAdd: Int?
        let attachments: [Attachment]?
        let minimumSuite: Int?
        let requiresDevice: Bool?
    }

    struct Attachment: Codable, Sendable {
        let url, key, sha256, type: String
        let size: Int64
        let use: String?
    }

    private static func place() throws -> BatchPlace {
        let batch = try BatchPlace()
        for (name, record) in try File.shared.get().records {
            try batch.place.write(Data(record.utf8), to: "\(name).json")
        }
        return batch
    }

    private static func text(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    /// The line of a case; nil if the payload can't be in a line, which takes only objects, or an option is the command's.
    private static func line(_ vector: Sealing) throws -> String? {
        let options = vector.options
        guard options.limit == nil, options.attachments == nil, vector.payload.hasPrefix("{") else { return nil }
        let members = [
            #""payload":\#(vector.payload)"#, #""to":\#(try File.shared.get().records[vector.to] ?? "")"#,
            #""placeholder":\#(try text(vector.placeholder))"#,
            options.expiresAfter.map { #""expires":"PT\#($0)S""# },
            try options.exposed.map { #""expose":\#(try text($0))"# },
            try options.campaign.map { #""campaign":\#(try text($0))"# },
            try options.retract.map { #""retract":\#(try text($0))"# }, options.quiet.map { #""quiet":\#($0)"# },
            options.badgeAdd.map { #""badgeAdd":\#($0)"# },
        ]
        let line = "{\(members.compactMap(\.self).joined(separator: ","))}"
        return (try? JSONText(Array(line.utf8))) == nil ? nil : line
    }

    /// The options of the command.
    private static func arguments(_ vector: Sealing) -> [String] {
        let suites = [1: "p256", 2: "x25519", 3: "xwing", 4: "xwing"]
        return (vector.isSigned ? ["--sign-with", "sender.json"] : [])
            + (vector.options.minimumSuite.map { ["--minimum-suite", suites[$0] ?? ""] } ?? [])
            + (vector.options.requiresDevice == true ? [] : ["--bare"])
    }

    @Test("a line is sealed, or refused with the code of the list")
    func lines() throws {
        let cases = try File.shared.get().seal.map { (vector: $0, line: try Self.line($0)) }.filter { $0.line != nil }
        #expect(cases.count > 90)
        for (arguments, cases) in Dictionary(grouping: cases, by: { Self.arguments($0.vector) }) {
            let batch = try Self.place()
            let output = try batch.seal(
                cases.compactMap(\.line), arguments: arguments + ["--errors", "errors.jsonl"])
            let refused = cases.contains { $0.vector.failure != nil } ? try batch.refusedLines() : []
            for (index, one) in cases.enumerated() {
                let reason = refused.first { $0.line == index + 1 }?.reason
                #expect(reason == one.vector.failure, "\(one.vector.name): \(output)")
            }
        }
    }

    @Test("a payload, a limit or an attachment that no line can have is sealed, or refused with exit status 64 or 65")
    func single() throws {
        let cases = try File.shared.get().seal.filter { try Self.line($0) == nil }
        #expect(cases.count > 10)
        for vector in cases {
            let batch = try Self.place()
            var arguments = Self.arguments(vector) + (vector.options.quiet == true ? ["--quiet"] : [])
            if let limit = vector.options.limit { arguments += ["--limit", String(limit)] }
            for (index, attachment) in (vector.options.attachments ?? []).enumerated() {
                try batch.place.write(JSONEncoder().encode(attachment), to: "attachment-\(index).json")
                arguments += ["--attach", "attachment-\(index).json"]
            }
            let output = try batch.place.run(
                ["seal", "--to", "\(vector.to).json", "--topic", Workplace.topic, "--at", Workplace.now] + arguments,
                stdin: Data(vector.payload.utf8))
            if vector.failure == nil {
                #expect(output.exit == 0, "\(vector.name): \(output)")
            } else {
                #expect([64, 65].contains(output.exit) && output.stdout.isEmpty, "\(vector.name): \(output)")
            }
        }
    }
}

extension BatchPlace {
    fileprivate func seal(_ lines: [String], arguments: [String]) throws -> Output {
        try place.run(Self.seal + arguments, stdin: Self.data(lines))
    }
}
