import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

/// RFC 9180 appendix A, from the project's own file: these run in every clone.
@Suite struct AppendixATests {
    @Test(arguments: try HPKEVector.appendixA(), Backends.all)
    func keys(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).keys()
    }

    @Test(arguments: try HPKEVector.appendixA(), Backends.all)
    func sharedSecrets(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).sharedSecrets()
    }

    @Test(arguments: try HPKEVector.appendixA(), Backends.all)
    func keySchedule(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).keySchedule()
    }

    @Test(arguments: try HPKEVector.appendixA(), Backends.all)
    func encryptions(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).encryptions()
    }

    @Test(arguments: try HPKEVector.appendixA(), Backends.all)
    func exports(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).exports()
    }

    @Test(arguments: try HPKEVector.appendixA(), Backends.all)
    func singleShot(_ vector: HPKEVector, _ named: NamedBackend) throws {
        try VectorCheck(vector, named).singleShot()
    }

    /// A.1 and A.2 (X25519), A.3 and A.5 (P-256) and A.7 (export-only), four modes each.
    @Test func counts() throws {
        let vectors = try HPKEVector.appendixA()
        let sections = ["A.1", "A.2", "A.3", "A.5", "A.7"].flatMap { section in (1...4).map { "\(section).\($0)" } }
        #expect(vectors.map(\.section) == sections)
        #expect(vectors.map(\.encryptions.count) == Array(repeating: 6, count: 16) + [0, 0, 0, 0])
        #expect(vectors.map(\.exports.count) == Array(repeating: 3, count: 20))
        #expect(vectors.prefix(16).allSatisfy { $0.encryptions.map(\.seq) == [0, 1, 2, 4, 255, 256] })
    }
}
