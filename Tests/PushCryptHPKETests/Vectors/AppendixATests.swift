import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

/// RFC 9180 appendix A, from the project's own file: these run in every clone.
@Suite struct AppendixATests {
    @Test(
        "the key pairs of RFC 9180 appendix A are derived from their ikm", arguments: try HPKEVector.appendixA(),
        Backends.all)
    func keys(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).keys()
    }

    @Test(
        "Encap and Decap return the shared secret of RFC 9180 appendix A", arguments: try HPKEVector.appendixA(),
        Backends.all)
    func sharedSecrets(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).sharedSecrets()
    }

    @Test(
        "the key schedule returns the values of RFC 9180 appendix A", arguments: try HPKEVector.appendixA(),
        Backends.all)
    func keySchedule(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).keySchedule()
    }

    @Test(
        "Seal returns the ciphertexts of RFC 9180 appendix A, and Open the plaintexts",
        arguments: try HPKEVector.appendixA(), Backends.all)
    func encryptions(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).encryptions()
    }

    @Test("Export returns the values of RFC 9180 appendix A", arguments: try HPKEVector.appendixA(), Backends.all)
    func exports(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).exports()
    }

    @Test(
        "a single-shot Seal returns the first message of RFC 9180 appendix A", arguments: try HPKEVector.appendixA(),
        Backends.all)
    func singleShot(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).singleShot()
    }

    @Test("the file has A.1, A.2, A.3, A.5 and A.7 in four modes each")
    func counts() throws {
        let vectors = try HPKEVector.appendixA()
        let sections = ["A.1", "A.2", "A.3", "A.5", "A.7"].flatMap { section in (1...4).map { "\(section).\($0)" } }
        #expect(vectors.map(\.section) == sections)
        #expect(vectors.map(\.encryptions.count) == Array(repeating: 6, count: 16) + [0, 0, 0, 0])
        #expect(vectors.map(\.exports.count) == Array(repeating: 3, count: 20))
        #expect(vectors.prefix(16).allSatisfy { $0.encryptions.map(\.seq) == [0, 1, 2, 4, 255, 256] })
    }
}
