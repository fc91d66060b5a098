import PushCryptCore
import PushCryptExtension
import PushCryptTestSupport
import Testing

/// Conformance/vectors/carriers-v1.json: one push, with its envelope at each place.
@Suite("carriers of the Python reference") struct CarrierVectorTests {
    struct File: Decodable, Sendable {
        let topic: String
        let at: Int64
        let key: [String: String]
        let inner: String
        let vectors: [Vector]

        static let shared = Result { try Vectors.loadOwn("carriers-v1.json", as: File.self) }
    }

    struct Vector: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let carriers: [String]
        /// nil for a push that opens.
        let failure: String?
        let payload: String

        var description: String { name }
    }

    @Test("a push opens or is refused as the carriers of the app say", arguments: try File.shared.get().vectors)
    func vector(_ vector: Vector) throws {
        let file = try File.shared.get()
        let jwk = "{" + file.key.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ",") + "}"
        let opener = try Opener(
            topic: file.topic, keyring: KeysetKeyring(Keyset(json: Array(jwk.utf8))), senders: .unsigned,
            carriers: Set(vector.carriers.map { try #require(Carrier(rawValue: $0)) }))
        switch opener.open(Array(vector.payload.utf8), at: UnixTime(file.at)) {
        case .success(let push):
            #expect(vector.failure == nil && push.payload == Array(file.inner.utf8))
        case .failure(let failure): #expect(failure.rawValue == vector.failure)
        }
    }
}
