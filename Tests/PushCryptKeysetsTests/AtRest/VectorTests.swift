import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@testable import PushCryptKeysets

/// Tests/Vectors/keyset-at-rest-v1.json: what was encrypted once opens for ever.
@Suite("keysets encrypted long ago")
struct VectorTests {
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

    @Test("open", arguments: try Vectors.shared.get().keysets)
    func open(_ written: Written) throws {
        let vectors = try Vectors.shared.get()
        let text = EditedText(written.text)
        let stored = try text.unlocked(SealedSample.passphrase(vectors.passphrase))
        let jwks = try stored.jwks().mapValues { try JSONDecoder().decode([String: String].self, from: Data($0.utf8)) }
        #expect(stored.metadata.timeline.keys.compactMap { jwks[$0.kid] } == vectors.keys)
        #expect(stored.metadata.sequence == 4)
        #expect(stored.metadata.timeline.keys.map { $0.lifecycle.destroyedAt != nil } == [false, true, false])
        #expect(KeystoreError.Code.thrown { try text.unlocked() } == .wrongSecret)
    }

    @Test("are one of each implementation")
    func complete() throws {
        #expect(try Vectors.shared.get().keysets.map(\.by) == ["Swift", "Python"])
    }
}
