import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// One test of a file of C2SP/wycheproof's testvectors_v1.
protocol WycheproofTest: Sendable {
    /// A group of the file: its tests, with what they have in common.
    associatedtype Group: WycheproofGroup where Group.Test == Self

    var tcId: Int { get }
    var comment: String { get }
    var category: WycheproofCategory { get }
    /// Throws unless `backend` does what the category requires.
    func check(_ backend: any CryptoBackend) throws
}

protocol WycheproofGroup: Decodable {
    associatedtype Test

    var tests: [Test] { get }
}

/// A group whose tests are complete in themselves.
struct WycheproofTests<Test: WycheproofTest & Decodable>: WycheproofGroup {
    let tests: [Test]
}

enum WycheproofResult: String, Decodable {
    case valid, invalid, acceptable
}

enum WycheproofCategory: Hashable {
    /// The output must be the published one.
    case matches
    /// Bad input that must be refused.
    case refused
    /// Good input with a parameter that pushcrypt doesn't offer; it must be refused too.
    case outside(String)
}

/// The argument of a parameterised test: a failure names the file and the test.
struct WycheproofVector<Test: WycheproofTest>: Sendable, CustomStringConvertible {
    let file: String
    let test: Test

    var description: String { "\(file) \(test.tcId) \(test.comment)" }
}

struct WycheproofFile<Test: WycheproofTest>: Decodable {
    let numberOfTests: Int
    private let testGroups: [Test.Group]

    var tests: [Test] { testGroups.flatMap(\.tests) }

    static func load(_ name: String) throws -> WycheproofFile {
        try Vectors.load("wycheproof/\(name)", as: WycheproofFile.self)
    }

    static func vectors(_ name: String) throws -> [WycheproofVector<Test>] {
        try load(name).tests.map { WycheproofVector(file: name, test: $0) }
    }

    /// Runs every test and counts the passed tests of each category. All tests must pass.
    func tally(_ backend: any CryptoBackend) -> [WycheproofCategory: Int] {
        let passed = tests.filter { test in (try? test.check(backend)) != nil }
        #expect(passed.count == numberOfTests)
        #expect(Set(passed.map(\.tcId)).count == numberOfTests)
        return passed.reduce(into: [:]) { counts, test in counts[test.category, default: 0] += 1 }
    }
}

/// A result that the category doesn't allow.
struct WycheproofMismatch: Error {
    let what: String

    static func unless(_ condition: Bool, _ what: @autoclosure () -> String) throws {
        if !condition { throw WycheproofMismatch(what: what()) }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the suite by name where the public vectors are missing.
    static var needsPublicVectors: Self {
        .enabled(if: Vectors.isAvailable, Comment(rawValue: Vectors.missing))
    }
}
