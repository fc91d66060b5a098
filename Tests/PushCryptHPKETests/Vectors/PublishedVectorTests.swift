import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

/// RFC 9180 appendix A, from the project's own file: these run in every clone.
@Suite struct AppendixATests {
    @Test("each step of RFC 9180 appendix A returns its values", arguments: try HPKEVector.appendixA(), Backends.all)
    func steps(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).checkEachStep()
    }

    @Test func `the file has A.1, A.2, A.3, A.5 and A.7 in four modes each`() throws {
        let vectors = try HPKEVector.appendixA()
        let sections = ["A.1", "A.2", "A.3", "A.5", "A.7"].flatMap { section in (1...4).map { "\(section).\($0)" } }
        #expect(vectors.map(\.section) == sections)
        #expect(vectors.map(\.encryptions.count) == Array(repeating: 6, count: 16) + [0, 0, 0, 0])
        #expect(vectors.map(\.exports.count) == Array(repeating: 3, count: 20))
        #expect(vectors.prefix(16).allSatisfy { $0.encryptions.map(\.seq) == [0, 1, 2, 4, 255, 256] })
    }
}

/// The vectors of draft-irtf-cfrg-hpke for the algorithms offered here.
@Suite(.enabled(if: Vectors.isAvailable, Comment(rawValue: Vectors.missing))) struct PublishedVectorTests {
    @Test(
        "each step of a published vector, from the key pairs to the messages and exports, returns its values",
        arguments: try ["trimmed", "seq255-256", "exportonly"].flatMap(HPKEVector.published), Backends.all)
    func steps(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).checkEachStep()
    }

    @Test(
        "each file has the expected number of vectors, messages and exports",
        arguments: [("trimmed", 24, 144, 72), ("seq255-256", 24, 48, 72), ("exportonly", 8, 0, 24)])
    func counts(_ name: String, _ vectorCount: Int, _ encryptionCount: Int, _ exportCount: Int) throws {
        let vectors = try HPKEVector.published(name)
        #expect(vectors.count == vectorCount)
        #expect(Set(vectors.map(\.description)).count == vectorCount)
        #expect(vectors.map(\.encryptions.count).reduce(0, +) == encryptionCount)
        #expect(vectors.map(\.exports.count).reduce(0, +) == exportCount)
    }
}

/// Conformance/vectors/hpke-edges.json: the recipient's side of draft-ietf-hpke-hpke appendix D.
@Suite struct EdgeVectorTests {
    struct Vector: Decodable, Sendable, CustomStringConvertible {
        enum CodingKeys: String, CodingKey {
            case section, title, mode, info, ikmR, skRm, pkRm, enc, psk, encryptions, exports
            case kemID = "kem_id"
            case kdfID = "kdf_id"
            case aeadID = "aead_id"
            case pskID = "psk_id"
        }

        struct Encryption: Decodable, Sendable { let aad, pt, ct: HexBytes }

        let section, title: String
        let mode: UInt8
        let kemID, kdfID, aeadID: UInt16
        let info, ikmR, skRm, pkRm, enc: HexBytes
        let psk, pskID: HexBytes?
        let encryptions: [Encryption]
        let exports: [HPKEVector.Export]

        var description: String { "\(section): \(title)" }
    }

    private static func vectors() throws -> [Vector] { try Vectors.loadOwn("hpke-edges.json", as: [Vector].self) }

    @Test("key pair, plaintexts and exports are those of appendix D", arguments: try vectors(), Backends.all)
    func recipient(_ vector: Vector, _ named: NamedBackend) throws {
        let kem = try #require(KEM(rawValue: vector.kemID))
        let hpke = HPKE(kem: kem, aead: try #require(AEAD(rawValue: vector.aeadID)), backend: named.backend)
        let key = try hpke.deriveKeyPair(vector.ikmR.span)
        #expect(try key.serialized.revealed == vector.skRm.bytes)
        #expect(key.publicKey.serialized == vector.pkRm.bytes)
        let psk = try vector.psk.map { try PSK(SecretBytes(copying: $0.span), id: #require(vector.pskID).bytes) }
        var context = try hpke.setupRecipient(enc: vector.enc.span, with: key, info: vector.info.span, psk: psk)
        for encryption in vector.encryptions {
            let plaintext = try context.open(encryption.ct.span, aad: encryption.aad.span)
            #expect(plaintext == encryption.pt.bytes)
        }
        for export in vector.exports {
            let secret = try context.export(export.exporterContext.span, count: export.count)
            #expect(secret.revealed == export.value.bytes)
        }
    }

    @Test func `the file has D.1 to D.5: P-256's rejected candidate, empty and zero inputs, a psk with zeros`() throws {
        let vectors = try Self.vectors()
        #expect(vectors.map(\.section) == ["D.1", "D.2", "D.3", "D.4", "D.5"])
        #expect(vectors.map(\.kemID) == [0x0010, 0x0020, 0x0020, 0x0020, 0x0020])
        #expect(vectors.allSatisfy { $0.kdfID == HPKE.kdfID && ($0.psk != nil) == ($0.mode == Mode.psk.rawValue) })
    }
}
