import PushCryptCore
import PushCryptPrimitives
import PushCryptSender

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A line of `registrations`: an object with strict JSON. No error repeats a part of it, because it may have a record.
struct RegistrationLine: BatchLine {
    let bytes: [UInt8]
    private let root: JSONValue

    init(_ line: [UInt8]) throws(LineRefusal) {
        bytes = line
        do { root = try JSONText(line).root } catch {
            throw .malformedLine(line.isEmpty ? "the line is empty" : "the line is not strict JSON: \(error)")
        }
        guard root.kind == .object else { throw .malformedLine("the line is not an object") }
    }

    fileprivate init(_ value: JSONValue, in line: RegistrationLine) { (bytes, root) = (line.bytes, value) }

    var hasError: Bool { root["error"] != nil }

    subscript(name: String) -> JSONValue? { root[name] }

    func text(_ name: String) throws(LineRefusal) -> String {
        guard let text = root[name]?.string else { throw .malformedLine("\"\(name)\" is missing or not a string") }
        return text
    }

    /// The unescaped bytes of a string, or the raw bytes of an object.
    func content(_ name: String) throws(LineRefusal) -> [UInt8] {
        guard let value = root[name], value.kind == .string || value.kind == .object else {
            throw .malformedLine("\"\(name)\" is missing, or neither a string nor an object")
        }
        return Array(value.utf8 ?? value.rawBytes)
    }

    func boolean(_ name: String) throws(LineRefusal) -> Bool? {
        guard let value = root[name] else { return nil }
        guard let boolean = value.boolean else { throw .malformedLine("\"\(name)\" is not true or false") }
        return boolean
    }

    func object(_ name: String) throws(LineRefusal) -> RegistrationLine {
        guard let value = root[name], value.kind == .object else {
            throw .malformedLine("\"\(name)\" is missing or not an object")
        }
        return RegistrationLine(value, in: self)
    }

    func objects(_ name: String) throws(LineRefusal) -> [RegistrationLine] {
        guard let value = root[name], value.kind == .array, value.elements.allSatisfy({ $0.kind == .object }) else {
            throw .malformedLine("\"\(name)\" is missing or not an array of objects")
        }
        return value.elements.map { RegistrationLine($0, in: self) }
    }
}

/// Answers the lines of `registrations`.
struct RegistrationWorker: LineWorker {
    enum Outcome: String, LineOutcome { case answered }

    private enum Operation: String, CaseIterable { case challenge, confirm, change, receipt }

    let sealer: Sealer
    let clock: @Sendable () -> UnixTime

    mutating func process(_ line: RegistrationLine, number: Int, into output: inout [UInt8]) throws -> Outcome {
        guard let operation = line["op"]?.choice(of: Operation.allCases) else {
            let names = Operation.allCases.map(\.rawValue).joined(separator: ", ")
            throw LineRefusal.malformedLine("\"op\" is not one of \(names)")
        }
        let answer: JSONObject
        do {
            answer =
                switch operation {
                case .challenge: try challenge(line)
                case .confirm: try confirm(line)
                case .change: try change(line)
                case .receipt: try receipt(line)
                }
        } catch let error as SenderError { throw LineRefusal(error) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        output += try encoder.encode(answer).dropLast()
        QueueLine.appendRepeatedMembers(of: line.bytes, to: &output)
        output += ",\"pushcrypt\":{\"line\":\(number)}}".utf8
        return .answered
    }

    private func challenge(_ line: RegistrationLine) throws -> JSONObject {
        var requirements: Registration.Requirements = [.psk, .asymmetric]
        if let value = line["requiring"] {
            let known: [String: Registration.Requirements] = ["psk": .psk, "asymmetric": .asymmetric]
            let names = try value.strings(orRefuse: "\"requiring\" is not an array of strings")
            guard names.allSatisfy({ known[$0] != nil }) else {
                throw LineRefusal.malformedLine("\"requiring\" has a name other than psk and asymmetric")
            }
            requirements = names.reduce([]) { $0.union(known[$1] ?? []) }
        }
        let registration = try Registration(json: line.text("record").utf8, requiring: requirements)
        let challenge = try sealer.challenge(registration, host: line.text("host"))
        return ["challenge": String(decoding: challenge.json, as: UTF8.self), "pending": challenge.pending]
    }

    private func confirm(_ line: RegistrationLine) throws -> JSONObject {
        let pending: PendingRegistration
        do {
            pending = try JSONDecoder().decode(PendingRegistration.self, from: Data(line.content("pending")))
        } catch is DecodingError {
            throw LineRefusal.malformedLine("\"pending\" isn't what a challenge was answered with")
        }
        let registration = try pending.confirm(answer: line.content("answer"), at: clock())
        return [
            "record": registration.recordText, "kid": "\(registration.kid)", "suite": registration.suite.rawValue,
        ]
    }

    private func change(_ line: RegistrationLine) throws -> JSONObject {
        guard let isProven = try line.boolean("proven") else {
            throw LineRefusal.malformedLine(
                "\"proven\" is missing: it says whether the device has answered a challenge")
        }
        let change = try RegistrationChange(
            storing: Self.row(line.object("upload")), over: line.objects("stored").map(Self.row), isProven: isProven,
            allowsLowerSuite: line.boolean("allowsLowerSuite") ?? false)
        return ["write": change.isWritten, "remove": change.removedKeyIDs.map(\.description)]
    }

    private static func row(_ row: RegistrationLine) throws -> StoredRegistration {
        var environment: APNsEnvironment?
        if let value = row["environment"] {
            environment = value.choice(of: APNsEnvironment.allCases)
            guard environment != nil else {
                throw LineRefusal.malformedLine("\"environment\" is neither sandbox nor production")
            }
        }
        return StoredRegistration(
            try Registration(json: row.text("record").utf8, requiring: []), account: try row.text("account"),
            deviceToken: try row.text("deviceToken"), environment: environment)
    }

    private func receipt(_ line: RegistrationLine) throws -> JSONObject {
        let body = Array(try line.text("body").utf8)
        let isJSON = body.first { !$0.isWhiteSpace } == UInt8(ascii: "{")
        let receipt = try isJSON ? Receipt(json: body) : Receipt(form: body)
        let fields: JSONObject = [
            "id": receipt.id, "name": receipt.name?.description, "push": receipt.pushID,
            "outcome": receipt.failure?.rawValue ?? "opened", "time": receipt.time.seconds,
            "kid": receipt.kid?.description, "skid": receipt.skid?.description, "suppressed": receipt.isSuppressed,
            "test": receipt.isSelfTest,
        ]
        return ["receipt": fields]
    }
}
