import CPushCryptSteppedCalls

/// A program that receives jobs on standard input, one per line, and ends each with the line `done RESULT`. Its system calls
/// during a job are steps, which the test continues one by one.
///
/// ```
/// claim FOLDER CLOCK ID@IAT…     claims messages in a store, marks them as seen and shows them; ID@IAT+N@OTHER adds N to the
///                                badge, and retracts the message OTHER if it is given
/// syncs FOLDER CLOCK ID@IAT…     the same; ends with the number of calls that waited for the disk
/// claim-unlocked FILE ID         the same in a file without a lock: a race that the tests must find
/// add KEYSET CLOCK               adds a key that waits to be promoted
/// revoke KEYSET CLOCK            revokes the primary, which makes its successor
/// rotate KEYSET CLOCK            carries out the due steps of the plan
/// create KEYSET CLOCK            makes a keyset
/// add-unlocked KEYSET CLOCK      adds a key without the lock: a race that the tests must find
/// watch KEYSET CLOCK COUNT       watches a keyset and checks it so many times
/// ```
@main
enum SteppedProcess {
    static func main() {
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            unsafe pushcrypt_report("done \(result(words))")
        }
    }

    private static func result(_ words: [String]) -> String {
        guard let name = words.first, let job = jobs[name] else { return "error: no such job" }
        pushcrypt_steps_begin()
        defer { pushcrypt_steps_end() }
        do {
            unsafe pushcrypt_step("begins", name)
            return try job(Array(words.dropFirst())).joined(separator: " ")
        } catch {
            return "error: \(error)".split(separator: "\n").joined(separator: " ")
        }
    }

    private typealias Job = @Sendable ([String]) throws -> [String]

    private static let jobs: [String: Job] = [
        "claim": StoreJobs.claim,
        "syncs": StoreJobs.syncs,
        "claim-unlocked": StoreJobs.claimUnlocked,
        "add": KeysetJobs.add,
        "revoke": KeysetJobs.revoke,
        "rotate": KeysetJobs.rotate,
        "create": KeysetJobs.create,
        "add-unlocked": KeysetJobs.addUnlocked,
        "watch": KeysetJobs.watch,
    ]
}
