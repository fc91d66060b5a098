import PushCryptPrimitives
import PushCryptTestSupport
import Testing

protocol WycheproofTest: Sendable {
    /// A group of the file: its tests, with what they have in common.
    associatedtype Group: WycheproofGroup where Group.Test == Self

    static var file: String { get }
    /// How many tests of the file have each category.
    static var counts: [WycheproofCategory: Int] { get }
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
struct WycheproofList<Test: WycheproofTest & Decodable>: WycheproofGroup {
    let tests: [Test]
}

enum WycheproofResult: String, Decodable {
    case valid, invalid, acceptable
}

enum WycheproofCategory: Hashable {
    case matches
    case refused
    /// Good input with a parameter that pushcrypt doesn't offer; it must be refused too.
    case outside(String)
}

/// The argument of a parameterised test: a failure names the file and the test.
struct WycheproofVector: Sendable, CustomStringConvertible {
    let description: String
    let check: @Sendable (any CryptoBackend) throws -> Void
}

private struct WycheproofFile<Group: WycheproofGroup>: Decodable {
    let numberOfTests: Int
    let testGroups: [Group]
}

extension WycheproofTest {
    static func load() throws -> [Self] {
        let content = try Vectors.load("wycheproof/\(file)", as: WycheproofFile<Group>.self)
        let tests = content.testGroups.flatMap(\.tests)
        try WycheproofMismatch.unless(tests.count == content.numberOfTests, "\(tests.count) tests in \(file)")
        return tests
    }

    static func vectors() throws -> [WycheproofVector] {
        try load().map { test in
            WycheproofVector(description: "\(file) \(test.tcId) \(test.comment)") { try test.check($0) }
        }
    }

    /// Runs every test and counts the passed tests of each category. All tests must pass.
    static func tally(_ backend: any CryptoBackend) throws -> [WycheproofCategory: Int] {
        let tests = try load()
        let passed = tests.filter { test in (try? test.check(backend)) != nil }
        #expect(Set(passed.map(\.tcId)).count == tests.count)
        return passed.reduce(into: [:]) { counts, test in counts[test.category, default: 0] += 1 }
    }
}

struct WycheproofMismatch: Error {
    let what: String

    static func unless(_ condition: Bool, _ what: @autoclosure () -> String) throws {
        if !condition { throw WycheproofMismatch(what: what()) }
    }
}

extension Trait where Self == ConditionTrait {
    static var needsPublicVectors: Self { .enabled(if: Vectors.isAvailable, Comment(rawValue: Vectors.missing)) }
}
