import PushCryptCore
import PushCryptTestSupport
import Testing

/// Processes that change one keyset, and one that watches it, in every order of their locks and system calls. One of them may
/// be killed at each step.
@Suite("A keyset's files in every order", .enabled(if: KeysetWalk.isPossible, "only Linux can replace system calls"))
struct KeysetWalkTests {
    /// With the orders of a long run and the number of preemptions in a normal one.
    private static let walks: [(KeysetWalk, long: Interleavings.Extent, short: Int)] = [
        (.init(writers: ["rotate", "revoke"]), .all, 1),
        (.init(writers: ["rotate", "rotate"]), .all, 0),
        (.init(writers: ["add", "revoke"], isKilled: true), .all, 0),
        (.init(writers: ["rotate", "rotate"], isKilled: true), .all, 1),
        (.init(writers: ["add"], checkCount: 2), .all, 1),
        (.init(writers: ["rotate", "add"], checkCount: 2, isKilled: true), .preemptions(1), 0),
        (.init(writers: ["create", "create"]), .preemptions(2), 0),
        (.init(writers: ["create", "create"], isKilled: true), .preemptions(2), 0),
    ]

    @Test(
        "the file is always one whole version that goes on from the last, and history and watcher never go back",
        arguments: walks)
    func keyset(_ walk: KeysetWalk, long: Interleavings.Extent, short: Int) throws {
        let extent = LongTests.value(long, short: .preemptions(short))
        let processes = SteppedProcesses()
        let before = try KeysetFiles(.shared)
        let count = try Interleavings(extent).walk { try walk.run($0, processes, before) }
        print("keyset, \(walk.testDescription): \(count); \(extent)")
    }

    @Test("two changes that write the file without the lock are found writing the same line twice")
    func brokenChange() throws {
        let processes = SteppedProcesses()
        let before = try KeysetFiles(.shared)
        let walk = KeysetWalk(writers: ["add-unlocked", "add-unlocked"])
        let violation = try #require(try Interleavings.simplestViolation { try walk.run($0, processes, before) })
        #expect("\(violation.cause)".contains("line 2 is followed by another line 2"), "\(violation)")
        #expect(violation.steps.filter { $0.label == "rename-to push.keyset" }.count == 2, "\(violation)")
    }
}
