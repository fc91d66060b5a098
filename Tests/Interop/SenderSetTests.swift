import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// Signed sender sets: each implementation accepts and refuses what the other signed.
@Suite("signed sender sets, against the Python reference", .enabled(if: Python.isAvailable, Python.missing))
struct SenderSetTests {
    private static let now = UnixTime(1_800_000_000)
    private static let topics = ["com.example.app", "com.example.other"]

    private static func publishers(_ count: Int) throws -> KeysetFiles {
        try (1..<count).reduce(KeysetFiles(.publisher)) { keyset, _ in try keyset.rotated() }
    }

    /// Three keys, the second of which is revoked, with a set of epoch 2 in the last line.
    private static func senders(_ publishers: KeysetFiles) throws -> KeysetFiles {
        let keyset = try KeysetFiles(.sender).rotated().rotated()
        return try keyset.setting(.revokedAt, of: keyset.kids[1], to: now)
            .appending(.policy) { changes in
                changes.epochs = [2: publishers.id]
                changes.publication = .init(topics: try topics.map { try Topic($0) }, validForInSeconds: 60 * 86_400)
            }
            .appending(.published) { ($0.issuedAt, $0.validUntil, $0.epoch) = (now, now + 60 * 86_400, 2) }
    }

    /// Both implementations' results; the codes of the errors have the same names.
    private static func outcomes(
        _ document: [UInt8], _ pins: [UInt8], topic: String = topics[0], _ stored: Answer.SetState? = nil,
        at time: UnixTime = now
    ) throws -> (swift: Result<Answer.SetState, Refused>, python: Result<Answer.SetState, Refused>) {
        let answer = try Reference.ask(
            Request.AcceptSet(
                pins: String(decoding: pins, as: UTF8.self), topic: topic,
                document: String(decoding: document, as: UTF8.self), stored: stored, now: "\(time)"))
        let python: Result<Answer.SetState, Refused> =
            try answer.error.map { .failure(Refused(code: $0)) } ?? .success(#require(answer.state))
        do {
            return (.success(try accepted(document, pins, topic, stored, at: time)), python)
        } catch let error as KeyError {
            return (.failure(Refused(code: error.code.description)), python)
        }
    }

    private struct Refused: Error, Equatable {
        let code: String
    }

    private static func accepted(
        _ document: [UInt8], _ pins: [UInt8], _ topic: String, _ stored: Answer.SetState?, at time: UnixTime
    ) throws -> Answer.SetState {
        let pins = try SenderSetPins(json: pins)
        let known = stored.map { stored in
            SenderSetState(
                epoch: stored.epoch, sequence: stored.seq,
                digest: Base64URL.decode(Array(stored.digest.utf8)[...]) ?? [],
                revoked: Set(stored.revoked.compactMap { Base64URL.decode(Array($0.utf8)[...]) }))
        }
        let set = try SignedSenderSet.verify(document, publishers: pins.publishers)
        let state = try SenderSetState(
            accepting: set, pins: pins, topic: Topic(topic), stored: known,
            storedIssuedAt: stored.flatMap { UnixTime(rfc3339: $0.issuedAt) }, at: time)
        return Answer.SetState(
            epoch: state.epoch, seq: state.sequence, digest: Base64URL.encode(state.digest),
            issuedAt: "\(set.publication.issuedAt)", revoked: state.revoked.map { Base64URL.encode($0) }.sorted())
    }

    /// The document and the pins, signed by Swift or by Python.
    private static func signed(
        _ senders: KeysetFiles, _ publishers: KeysetFiles, byPython: Bool
    ) throws -> (document: [UInt8], pins: [UInt8]) {
        let pins = try senders.opened.pins(epoch: nil) { _ in publishers.opened }
        let records = publishers.kids.compactMap { publishers.material.records[$0] }
        guard byPython else {
            return (try SignedSenderSet.sign(payload: ServedPayload.json(senders.log), by: records), pins)
        }
        let jwks = try records.map { record in
            var jwk = [UInt8]()
            try record.appendJWK(to: &jwk)
            return try JSONDecoder().decode(JWK.self, from: Data(jwk))
        }
        let published = try Keyset(unauthenticatedPublicKeysOf: senders.log).jwkSet(withHistory: false)
        let answer = try Reference.ask(
            Request.SignSet(
                keyset: String(decoding: published, as: UTF8.self), set: "\(senders.id)", topics: topics, epoch: 2,
                seq: senders.log.state.head.number, issuedAt: now.seconds, validUntil: (now + 60 * 86_400).seconds,
                publishers: jwks))
        return (Array(try #require(answer.text).utf8), pins)
    }

    @Test("both accept what Swift and Python sign, with the same state", arguments: [false, true], [1, 4])
    func accepted(byPython: Bool, count: Int) throws {
        let publishers = try Self.publishers(count)
        let senders = try Self.senders(publishers)
        let (document, pins) = try Self.signed(senders, publishers, byPython: byPython)
        let first = try Self.outcomes(document, pins)
        let state = try first.swift.get()
        #expect(first.python == .success(state))
        #expect(state.epoch == 2 && state.seq == senders.log.state.head.number && state.revoked.count == 1)
        let again = try Self.outcomes(document, pins, state)
        #expect(again.swift == .success(state) && again.python == .success(state))
    }

    @Test("the set has the keyset's id and the hash of the last line, as Python reads the log")
    func head() throws {
        let publishers = try Self.publishers(1)
        let senders = try Self.senders(publishers)
        let document = try Self.signed(senders, publishers, byPython: false).document
        let payload = try #require(SignedSenderSet.unverifiedPayload(of: document))
        let set = try #require(JSONText(payload).root["pushcrypt"])
        let log = try Reference.ask(Request.OpenKeyset(text: String(decoding: senders.file, as: UTF8.self)))
        #expect(set["head"]?.string == log.head && set["set"]?.string == log.id && log.head != nil)
    }

    @Test("both refuse the same documents for the same reason", arguments: [false, true])
    func refused(byPython: Bool) throws {
        let (publishers, others) = (try Self.publishers(2), try Self.publishers(2))
        let (document, pins) = try Self.signed(Self.senders(publishers), publishers, byPython: byPython)
        let foreign = try Self.signed(Self.senders(others), others, byPython: byPython)
        let state = try Self.outcomes(document, pins).swift.get()
        func stored(
            epoch: Int64 = 2, seq: Int64 = state.seq, digest: String = state.digest, issuedAt: UnixTime = Self.now
        ) -> Answer.SetState {
            Answer.SetState(epoch: epoch, seq: seq, digest: digest, issuedAt: "\(issuedAt)", revoked: [])
        }
        let otherDigest = Base64URL.encode([UInt8](repeating: 0, count: 32))
        let end = Self.now + 60 * 86_400
        let text = String(decoding: document, as: UTF8.self)
        let cases = [
            ("notSigned", try Self.outcomes(document, foreign.pins)),
            ("otherTopic", try Self.outcomes(document, pins, topic: "com.example.third")),
            ("rolledBack", try Self.outcomes(document, pins, stored(seq: state.seq + 1))),
            ("rolledBack", try Self.outcomes(document, pins, stored(epoch: 3, seq: 0))),
            ("conflict", try Self.outcomes(document, pins, stored(digest: otherDigest))),
            ("expired", try Self.outcomes(document, pins, at: end)),
            ("expired", try Self.outcomes(document, pins, stored(issuedAt: end))),
            ("malformed", try Self.outcomes(Array((text + "x").utf8), pins)),
            ("malformed", try Self.outcomes(Array(text.replacing("\"payload\"", with: "\"pay\"").utf8), pins)),
        ]
        for (code, outcomes) in cases {
            #expect(outcomes.swift == .failure(Refused(code: code)))
            #expect(outcomes.python == .failure(Refused(code: code)))
        }
    }
}
