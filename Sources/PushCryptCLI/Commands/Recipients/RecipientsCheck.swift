import ArgumentParser
import PushCryptCore
import PushCryptRecipients

struct RecipientsCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Read every record of a recipient directory and say what is wrong with it.",
        discussion: """
            --json: recipients {"1", "2", "4"} by suite, collisions (ids with several keys), bad, problems [{reason, \
            isCollision}], of which the first are shown.

            Exit status: 0 nothing is wrong, 65 something is; anything else: see pushcrypt --help.
            """)

    @Argument(help: ArgumentHelp("The directory.", valueName: "FILE"))
    var path: String

    @Flag(help: "One object, for machines.")
    var json = false

    func run() throws {
        let check = try checkAll()
        if json {
            try StandardStreams.writeJSON(Report(check))
        } else {
            try StandardStreams.write(Self.text(check))
        }
        guard check.isClean else {
            throw Failure(
                .dataError,
                "\(path): \(counted(check.collisionCount, "collision")), \(counted(check.badCount, "bad record"))")
        }
    }

    private func checkAll() throws -> DirectoryCheck {
        let line = DirectoryProgressLine("checking")
        defer { line.clear() }
        return try DirectoryCheck(RecipientDirectory(path: path), progress: line.show)
    }

    private static func text(_ check: DirectoryCheck) -> String {
        let total = check.recipientCounts.values.reduce(0, +)
        var lines = [counted(total, "recipient")]
        for suite in Suite.allCases {
            guard let count = check.recipientCounts[suite] else { continue }
            lines.append("  suite \(suite.rawValue)  \(count)  \(suite)")
        }
        let shown = check.problems.map { TerminalText.harmless($0.reason.utf8) }
        let hidden = check.collisionCount + check.badCount - shown.count
        lines += shown + (hidden > 0 ? ["and \(hidden) more"] : [])
        return lines.map { $0 + "\n" }.joined()
    }

    private struct Report: Encodable {
        let recipients: [String: Int]
        let collisions: Int
        let bad: Int
        let problems: [Problem]

        struct Problem: Encodable {
            let reason: String
            let isCollision: Bool
        }

        init(_ check: DirectoryCheck) {
            recipients = Dictionary(
                uniqueKeysWithValues: Suite.allCases.map { suite in
                    ("\(suite.rawValue)", check.recipientCounts[suite] ?? 0)
                })
            collisions = check.collisionCount
            bad = check.badCount
            problems = check.problems.map { Problem(reason: $0.reason, isCollision: $0.isCollision) }
        }
    }
}

private func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
