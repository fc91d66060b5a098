import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// Conformance/vectors/sender-sets-v1.json: what an app pins, and signed sets that a device accepts or refuses.
@Suite("signed sender sets of the Python reference")
struct SenderSetVectorTests {
    struct SenderSetVectors: Decodable, Sendable {
        let sets: [String: String]
        let pins: [Pins]
        let cases: [Case]

        static let shared = Result { try Vectors.loadOwn("sender-sets-v1.json", as: SenderSetVectors.self) }
    }

    struct Pins: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let text: String
        let failure: String?

        var description: String { name + (failure.map { ": \($0)" } ?? "") }
    }

    struct State: Decodable, Sendable, Equatable {
        let epoch: Int64
        let seq: Int64
        let digest: String
        let issuedAt: String
        let revoked: [String]

        init(_ state: SenderSetState, issuedAt: UnixTime) {
            epoch = state.epoch
            seq = state.sequence
            digest = Base64URL.encode(state.digest)
            self.issuedAt = issuedAt.description
            revoked = state.revoked.map { Base64URL.encode($0) }.sorted()
        }

        func state() throws -> SenderSetState {
            SenderSetState(
                epoch: epoch, sequence: seq, digest: try decoded(digest), revoked: Set(try revoked.map(decoded)))
        }
    }

    struct Case: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let pins: String
        let topic: String
        let document: String
        let padding: Int
        let stored: State?
        let now: String
        let failure: String?
        let state: State?

        var description: String { name + (failure.map { ": \($0)" } ?? "") }

        func accepted(_ backend: any CryptoBackend) throws -> State {
            let text = try #require(try SenderSetVectors.shared.get().sets[pins])
            let pins = try SenderSetPins(json: Array(text.utf8), backend: backend)
            let document = try decoded(document) + [UInt8](repeating: UInt8(ascii: " "), count: padding)
            let set = try SignedSenderSet.verify(document, publishers: pins.publishers, backend: backend)
            let state = try SenderSetState(
                accepting: set, pins: pins, topic: Topic(topic), stored: stored?.state(),
                storedIssuedAt: stored.map { try #require(UnixTime(rfc3339: $0.issuedAt)) },
                at: #require(UnixTime(rfc3339: now)))
            return State(state, issuedAt: set.publication.issuedAt)
        }
    }

    @Test(
        "A device accepts a document with the state that the vector names, or refuses it with its code",
        arguments: Backends.pairs(with: try SenderSetVectors.shared.get().cases) { $0.name.contains("suite 3") })
    func document(_ vector: Case, _ named: NamedBackend) throws {
        do {
            let state = try vector.accepted(named.backend)
            #expect(vector.failure == nil)
            #expect(state == vector.state)
        } catch let error as KeyError {
            #expect(error.code.description == vector.failure, "\(error)")
        }
    }

    @Test(
        "An app's pins are read and written again, or refused with the code that the vector names",
        arguments: Backends.pairs(with: try SenderSetVectors.shared.get().pins) { $0.name.contains("suite 3") })
    func pins(_ vector: Pins, _ named: NamedBackend) throws {
        do {
            let pins = try SenderSetPins(json: Array(vector.text.utf8), backend: named.backend)
            #expect(vector.failure == nil)
            let again = try SenderSetPins(json: pins.json, backend: named.backend)
            #expect(again.publishers.map(\.kid) == pins.publishers.map(\.kid))
            #expect(again.set == pins.set && again.epoch == pins.epoch)
        } catch let error as KeyError {
            #expect(error.code.description == vector.failure, "\(error)")
        }
    }

    @Test("The file has documents for each code that a signed set can be refused with")
    func counts() throws {
        let file = try SenderSetVectors.shared.get()
        #expect(file.cases.count == 227)
        #expect(file.cases.filter { $0.failure == nil }.count == 37)
        #expect(file.pins.count == 46)
        let codes: Set<String> = [
            "malformed", "tooLarge", "notSigned", "wrongKind", "otherSet", "otherTopic", "otherEpoch", "rolledBack",
            "conflict", "expired", "invalidTopic", "unsupportedKey", "duplicateKey", "kidMismatch",
        ]
        #expect(Set(file.cases.compactMap(\.failure)) == codes)
    }
}

private func decoded(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(Array(text.utf8)[...])) }
