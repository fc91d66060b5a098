import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@testable import PushCryptKeysets

/// Tests/Vectors/keyset-at-rest-v1.json and keyset-at-rest-refused-v1.json. Every later version opens these keysets.
@Suite("Vectors of encrypted keysets")
struct KeysetVectorTests {
    struct Vectors: Decodable, Sendable {
        let passphrase: String
        let keys: [[String: String]]
        let keysets: [Written]

        static let shared = Result {
            try PushCryptTestSupport.Vectors.loadOwn("keyset-at-rest-v1.json", as: Vectors.self)
        }
    }

    struct Written: Decodable, Sendable, CustomStringConvertible {
        let by: String
        let text: String

        var description: String { by }
    }

    struct Refused: Decodable, Sendable {
        let passphrase: String
        let keys: [[String: String]]
        let vectors: [Changed]

        static let shared = Result {
            try PushCryptTestSupport.Vectors.loadOwn("keyset-at-rest-refused-v1.json", as: Refused.self)
        }
    }

    /// An encrypted keyset with one thing changed.
    struct Changed: Decodable, Sendable, CustomStringConvertible {
        let name: String
        /// nil for a file that opens.
        let failure: String?
        let text: String

        var description: String { failure.map { "\(name): \($0)" } ?? name }
    }

    @Test(
        "An encrypted keyset of each implementation opens with the passphrase and has the keys of the vector",
        arguments: try Vectors.shared.get().keysets)
    func open(_ written: Written) throws {
        let vectors = try Vectors.shared.get()
        let text = EditedText(written.text)
        let stored = try text.unlocked(SealedSample.passphrase(vectors.passphrase))
        #expect(try jwks(stored) == vectors.keys)
        #expect(stored.metadata.sequence == 4)
        #expect(stored.metadata.timeline.keys.map { $0.lifecycle.destroyedAt != nil } == [false, true, false])
        #expect(KeystoreError.Code.thrown { try text.unlocked() } == .wrongSecret)
    }

    @Test(
        "An encrypted keyset with one change opens, or is refused with the code that the vector names",
        arguments: try Refused.shared.get().vectors)
    func changed(_ vector: Changed) throws {
        let vectors = try Refused.shared.get()
        do {
            let stored = try EditedText(vector.text).unlocked(SealedSample.passphrase(vectors.passphrase))
            #expect(vector.failure == nil)
            #expect(try jwks(stored) == vectors.keys)
        } catch let error as KeystoreError {
            let codes = ["wrongSecret": KeystoreError.Code.wrongSecret, "damaged": .damaged]
            #expect(vector.failure.flatMap { codes[$0] } == error.code)
        } catch let error as KeyError {
            #expect(error.code.description == vector.failure)
        }
    }

    @Test("The file of refused keysets has more than 130 vectors, and every code at least once")
    func changes() throws {
        let vectors = try Refused.shared.get().vectors
        #expect(vectors.count > 130)
        #expect(vectors.filter { $0.failure == nil }.count == 6)
        let codes: Set<String> = [
            "malformed", "wrongSecret", "damaged", "duplicateKey", "kidMismatch", "unsupportedKey", "invalidKey",
        ]
        #expect(Set(vectors.compactMap(\.failure)) == codes)
    }

    struct SeveralSecrets: Decodable, Sendable {
        let passphrases: [String]
        let keys: [[String: String]]
        let text: String
    }

    @Test("The keyset with several secrets opens with each of its passphrases", arguments: 0..<2)
    func severalSecrets(_ number: Int) throws {
        let vector = try PushCryptTestSupport.Vectors.loadOwn("keyset-at-rest-v2.json", as: SeveralSecrets.self)
        let stored = try EditedText(vector.text).unlocked(SealedSample.passphrase(vector.passphrases[number]))
        #expect(try jwks(stored) == vector.keys)
        let names = ["first", "second", "kms"]
        #expect(stored.protection.secrets.map(\.name?.description) == names)
    }

    /// The keys in the order of the file.
    private func jwks(_ stored: StoredKeyset) throws -> [[String: String]] {
        let jwks = try stored.jwks().mapValues { try JSONDecoder().decode([String: String].self, from: Data($0.utf8)) }
        return stored.metadata.timeline.keys.compactMap { jwks[$0.kid] }
    }

    @Test("The file of keysets has one keyset from Swift and one from Python")
    func complete() throws {
        #expect(try Vectors.shared.get().keysets.map(\.by) == ["Swift", "Python"])
    }
}
