import Foundation
import PushCryptCore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptKeysets

/// Conformance/vectors/keyset-log-v1.json, which the Python package wrote from docs/keyset-log.md alone.
@Suite("Vectors of keysets' logs")
struct KeysetLogVectorTests {
    struct File: Decodable, Sendable {
        let accepted: [Accepted]
        let refused: [Refused]
        let extends: [Extends]

        static let shared = Result { try Vectors.loadOwn("keyset-log-v1.json", as: File.self) }
    }

    struct Point: Decodable, Hashable, Sendable {
        let n: Int64
        let hash: String

        var point: LogPoint { LogPoint(number: n, hash: Base64URL.decode(Array(hash.utf8)[...])!) }
    }

    struct Accepted: Decodable, Sendable, CustomStringConvertible {
        struct State: Decodable, Sendable {
            let keys: [String: [String: Value]]
            let policy: [String: Value]?
            let publication: Publication?
            let epochs: [String: String]
            let writer: String?
            let secrets: [String]?
            let issuedAt: String?
            let revoked: [String: String]?
            let at: String
        }

        struct Publication: Decodable, Sendable {
            let topics: [String]
            let validFor: String
        }

        let name: String
        let keyset: String
        let passphrase: String?
        let id: String
        let kind: String
        let head: Point
        let state: State
        let points: [Point]

        var description: String { name }
    }

    /// A member of a key or a policy.
    enum Value: Decodable, Hashable, Sendable {
        case text(String)
        case number(Double)
        case flag(Bool)

        /// The value, and a duration as its number of seconds: it has several forms.
        var inSeconds: Value {
            if case .text(let text) = self, let seconds = DurationText.seconds(text) {
                .number(Double(seconds))
            } else {
                self
            }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }
    }

    struct Refused: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let keyset: String
        let passphrase: String?
        let code: String
        let row: Int

        var description: String { name }
    }

    struct Extends: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let log: String
        let point: Point?
        let other: String?
        let extends: Bool

        var description: String { name }
    }

    @Test(
        "A keyset is read with the state, the head and the points of its vector",
        arguments: try File.shared.get().accepted)
    func accepted(_ vector: Accepted) throws {
        let rows = try KeysetRows(Array(vector.keyset.utf8))
        let state = rows.log.state
        #expect("\(state.id)" == vector.id)
        #expect(state.kind.rawValue == vector.kind)
        #expect(state.head == vector.head.point)
        #expect(rows.log.allPoints == Set(vector.points.map(\.point)))
        #expect("\(state.at)" == vector.state.at)
        #expect(
            Dictionary(uniqueKeysWithValues: state.keys.map { ("\($0.kid)", Self.members($0)) }) == vector.state.keys)
        #expect(state.publication?.topics.map(\.description) == vector.state.publication?.topics)
        #expect(
            state.publication?.validForInSeconds
                == vector.state.publication.flatMap { DurationText.seconds($0.validFor) })
        let epochs = state.epochs.map { ("\($0.key)", "\($0.value)") }
        #expect(Dictionary(uniqueKeysWithValues: epochs) == vector.state.epochs)
        #expect(state.writer == vector.state.writer)
        #expect(state.secrets.map(\.description) == vector.state.secrets ?? [])
        #expect(state.issuedAt.map { "\($0)" } == vector.state.issuedAt)
        let revoked = state.revokedElsewhere.map { ("\($0.key)", "\($0.value)") }
        #expect(Dictionary(uniqueKeysWithValues: revoked) == vector.state.revoked ?? [:])
        if let policy = vector.state.policy {
            let own = try JSONDecoder().decode([String: Value].self, from: Data(state.policy.json.utf8))
            #expect(own.mapValues(\.inSeconds) == policy.mapValues(\.inSeconds))
        }
        // A log is read without a secret.
        guard vector.passphrase != nil || !rows.isEncrypted else { return }
        let material = try rows.unlocked(vector.passphrase.map(Self.secret))
        #expect(Set(material.records.keys) == Set(state.keys.filter(\.hasMaterial).map(\.kid)))
    }

    @Test(
        "A keyset that breaks a rule is refused with the code and the row of its vector",
        arguments: try File.shared.get().refused)
    func refused(_ vector: Refused) throws {
        let error = #expect(throws: KeysetLogError.self) {
            _ = try KeysetRows(Array(vector.keyset.utf8)).unlocked(vector.passphrase.map(Self.secret))
        }
        #expect(error?.code.rawValue == vector.code)
        #expect(error?.row == vector.row)
    }

    @Test(
        "A log extends a point or another log, or doesn't, as its vector says", arguments: try File.shared.get().extends
    )
    func extends(_ vector: Extends) throws {
        let log = try KeysetLog(Array(vector.log.utf8))
        if let point = vector.point { #expect(log.extends(point.point) == vector.extends) }
        if let other = vector.other { #expect(try log.extends(KeysetLog(Array(other.utf8))) == vector.extends) }
    }

    private static func secret(_ passphrase: String) -> KeysetSecret {
        .passphrase(SecretBytes(copying: Array(passphrase.utf8).bytes))
    }

    private static func members(_ key: KeysetState.Key) -> [String: Value] {
        var members: [String: Value] = ["algorithm": .text(key.algorithm.rawValue)]
        for moment in KeysetChanges.Moment.allCases {
            if let time = key.lifecycle[keyPath: moment.path] { members[moment.rawValue] = .text("\(time)") }
        }
        if key.demandsPSK { members["psk"] = .flag(true) }
        if key.isLost { members["lost"] = .flag(true) }
        return members
    }
}
