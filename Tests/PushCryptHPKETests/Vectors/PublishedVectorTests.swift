import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

/// The vectors of draft-irtf-cfrg-hpke for the algorithms offered here.
@Suite(.enabled(if: Vectors.isAvailable, Comment(rawValue: Vectors.missing))) struct PublishedVectorTests {
    @Test(arguments: try HPKEVector.allPublished(), Backends.all)
    func keys(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).keys()
    }

    @Test(arguments: try HPKEVector.allPublished(), Backends.all)
    func sharedSecrets(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).sharedSecrets()
    }

    @Test(arguments: try HPKEVector.allPublished(), Backends.all)
    func keySchedule(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).keySchedule()
    }

    @Test(arguments: try HPKEVector.allPublished(), Backends.all)
    func encryptions(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).encryptions()
    }

    @Test(arguments: try HPKEVector.allPublished(), Backends.all)
    func exports(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).exports()
    }

    @Test(arguments: try HPKEVector.published("trimmed"), Backends.all)
    func singleShot(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).singleShot()
    }

    /// What the tests above went through, on each backend.
    @Test(arguments: [("trimmed", 24, 144, 72), ("seq255-256", 24, 48, 72), ("exportonly", 8, 0, 24)])
    func counts(_ name: String, _ vectorCount: Int, _ encryptionCount: Int, _ exportCount: Int) throws {
        let vectors = try HPKEVector.published(name)
        #expect(vectors.count == vectorCount)
        #expect(Set(vectors.map(\.description)).count == vectorCount)
        #expect(vectors.map(\.encryptions.count).reduce(0, +) == encryptionCount)
        #expect(vectors.map(\.exports.count).reduce(0, +) == exportCount)
    }
}
