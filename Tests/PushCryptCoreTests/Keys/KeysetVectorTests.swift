import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// Conformance/vectors/keysets-v1.json: key records, registration records, device keys and key sets.
@Suite("keys and key sets of the Python reference")
struct KeysetVectorTests {
    struct KeysetVectors: Decodable, Sendable {
        let vectors: [Text]
        let states: [States]
        let campaigns: [Campaign]

        static let shared = Result { try Vectors.loadOwn("keysets-v1.json", as: KeysetVectors.self) }
    }

    struct Text: Decodable, Sendable, CustomStringConvertible {
        /// What reads the text.
        enum Use: String, Decodable, Sendable {
            case keyset, recipient, signer, senders
        }

        let name: String
        let `as`: Use
        /// nil for a text that is read.
        let failure: String?
        let text: String
        let kids: [String]?

        var description: String { "\(name), as \(`as`)" + (failure.map { ": \($0)" } ?? "") }

        /// Whether a key of suite 3 is in the text, perhaps with a flaw.
        var isOfSuite3: Bool { name.hasPrefix("xwing") || text.contains("pushcrypt-3") }

        /// The ids of the keys that were read.
        func read(_ backend: any CryptoBackend) throws -> [KeyID] {
            let json = Array(text.utf8)
            switch self.as {
            case .keyset: return try Keyset(json: json, backend: backend).keyIDs
            case .recipient: return [try Recipient(jwk: json, backend: backend).kid]
            case .signer: return [try SenderKey(Keyset(json: json, backend: backend).onlyEntry()).kid]
            case .senders:
                let keyset = try Keyset(json: json, backend: backend)
                _ = try TrustedSenders(keyset)
                return keyset.keyIDs
            }
        }
    }

    struct States: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let text: String
        let at: Int64
        let primary: String?
        let states: [String: String]

        var description: String { name }
    }

    struct Campaign: Decodable, Sendable, CustomStringConvertible {
        let campaign: String
        /// A name in pushcrypt-v1.json or xwing-keys.json.
        let key: String
        let id: String

        var description: String { "\(campaign), \(key)" }
    }

    @Test(
        "A text of keys is read, or refused with the code that the vector names",
        arguments: Backends.pairs(with: try KeysetVectors.shared.get().vectors) { $0.isOfSuite3 })
    func text(_ vector: Text, _ named: NamedBackend) throws {
        do {
            let kids = try vector.read(named.backend).map(\.description)
            #expect(vector.failure == nil)
            #expect(kids == vector.kids)
        } catch let error as KeyError {
            #expect(error.code.description == vector.failure)
        }
    }

    @Test(
        "A key's state, and the key that seals, follow from the times", arguments: try KeysetVectors.shared.get().states
    )
    func states(_ vector: States) throws {
        let keyset = try Keyset(json: Array(vector.text.utf8))
        let time = UnixTime(vector.at)
        #expect(keyset.primary(at: time)?.record.kid.description == vector.primary)
        for (kid, state) in vector.states {
            #expect(keyset.state(of: try #require(KeyID(kid)), at: time)?.description == state, "\(kid)")
        }
    }

    @Test(
        "A campaign's message id follows from its name, the key and the device",
        arguments: Backends.pairs(with: try KeysetVectors.shared.get().campaigns) { $0.key.hasPrefix("xwing") })
    func campaign(_ vector: Campaign, _ named: NamedBackend) throws {
        let keyset = try TestJWK.named(vector.key).withoutPrivateKey.keyset(named.backend)
        let id = MessageHeader.id(campaign: vector.campaign, recipient: try Recipient(keyset.entries[0]))
        #expect(Base64URL.encode(id) == vector.id)
    }

    @Test("The file has texts of each use, and each code that a text of keys can be refused with")
    func counts() throws {
        let file = try KeysetVectors.shared.get()
        #expect(file.vectors.count > 620)
        #expect(file.vectors.filter { $0.failure == nil }.count > 50)
        #expect(Set(file.vectors.map(\.as)).count == 4)
        let codes: Set<String> = [
            "malformed", "unsupportedKey", "invalidKey", "kidMismatch", "noKeySeals", "duplicateKey", "wrongKind",
            "pskMissing",
            "invalidDeviceID",
        ]
        #expect(Set(file.vectors.compactMap(\.failure)) == codes)
        #expect(file.states.count == 64)
        #expect(file.campaigns.count == 32)
    }
}
