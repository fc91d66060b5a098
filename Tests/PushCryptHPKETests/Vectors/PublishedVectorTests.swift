import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

/// The vectors of draft-irtf-cfrg-hpke for the algorithms offered here.
@Suite(.enabled(if: Vectors.isAvailable, Comment(rawValue: Vectors.missing))) struct PublishedVectorTests {
    @Test(
        "the key pairs of a published vector are derived from their ikm", arguments: try HPKEVector.allPublished(),
        Backends.all)
    func keys(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).keys()
    }

    @Test(
        "Encap and Decap return the shared secret of a published vector", arguments: try HPKEVector.allPublished(),
        Backends.all)
    func sharedSecrets(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).sharedSecrets()
    }

    @Test(
        "the key schedule returns the values of a published vector", arguments: try HPKEVector.allPublished(),
        Backends.all)
    func keySchedule(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).keySchedule()
    }

    @Test(
        "Seal returns the ciphertexts of a published vector, and Open the plaintexts",
        arguments: try HPKEVector.allPublished(), Backends.all)
    func encryptions(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).encryptions()
    }

    @Test("Export returns the values of a published vector", arguments: try HPKEVector.allPublished(), Backends.all)
    func exports(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).exports()
    }

    @Test(
        "a single-shot Seal returns the first message of a published vector",
        arguments: try HPKEVector.published("trimmed"), Backends.all)
    func singleShot(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).singleShot()
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
