import ArgumentParser
import PushCryptCore
import PushCryptRecipients

struct Recipients: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recipients",
        abstract: "Import and check recipient directories: the keys of many devices, for seal --batch.",
        discussion: """
            A directory is a SQLite database. recipients import creates one from JSON lines; a backend can also write it:

            CREATE TABLE recipients (kid TEXT NOT NULL, device TEXT NOT NULL DEFAULT '', record TEXT NOT NULL, \
            PRIMARY KEY (kid, device)) WITHOUT ROWID

            A record is a JWK that an app uploads: a registration record, a device's key (with its id in device) or a \
            shared key. Records contain secrets, so only the owner may have access to the file.
            """,
        subcommands: [RecipientsCheck.self, RecipientsImport.self]
    )

    func run() throws { throw ValidationError("Name a command of recipients.") }
}

struct RecipientsImport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import recipients' records from JSON lines into a recipient directory.",
        discussion: """
            Each line is one record that an app uploads: a registration record, a device's key or a shared key. Either \
            all lines are imported or none: a bad line, a private key or a collision (an id with several keys, in the \
            file or in the database) imports nothing. No record in the database is replaced; a record that it already \
            has is accepted.

            The lines contain secrets, so only the owner may have access to the file. FILE may also be another recipient directory.

            Example: pushcrypt recipients import records.jsonl --into recipients.db
            """)

    @Argument(help: .init("The JSON lines, or another recipient directory.", "FILE")) var path: String
    @Option(name: .customLong("into"), help: .init("The recipient directory; created if it doesn't exist.", "FILE"))
    var database: String
    @Flag(help: "Refuse records without a secret: public keys that have no psk.") var requirePSK = false
    @Flag(help: "Print JSON, as docs/cli.md describes it.") var json = false
    @OptionGroup var messages: MessageOptions

    func run() throws {
        let result = try importAll()
        let counts = ["added": result.addedCount, "unchanged": result.unchangedCount]
        try StandardStreams.write(counts, asJSON: json) { _ in
            "\(result.addedCount) added, \(result.unchangedCount) unchanged\n"
        }
    }

    private func importAll() throws -> DirectoryImport {
        let line = ProgressLine()
        defer { line?.clear() }
        return try DirectoryImport(from: path, into: database, requiringPSK: requirePSK) {
            line?.show("copying: \($0.text)")
        }
    }
}

struct RecipientsCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Read every record of a recipient directory and report what is wrong.",
        discussion: """
            --json prints recipients {"1", "2", "3", "4"} by suite, collisions (ids with several keys), bad, and the first \
            problems [{reason, isCollision}].

            Exit status: 0 nothing is wrong, 65 something is wrong; anything else: see pushcrypt --help.

            Example: pushcrypt recipients check recipients.db
            """)

    @Argument(help: .init("The recipient directory.", "FILE")) var path: String
    @Flag(help: "Print JSON, as docs/cli.md describes it.") var json = false
    @OptionGroup var messages: MessageOptions

    func run() throws {
        let check = try checkAll()
        try StandardStreams.write(Self.json(check), asJSON: json) { _ in Self.text(check) }
        guard check.isClean else {
            throw Failure(
                .dataError,
                "\(path): \(NumberText.counted(check.collisionCount, "collision")), \(NumberText.counted(check.badCount, "bad record"))"
            )
        }
    }

    private func checkAll() throws -> DirectoryCheck {
        let line = ProgressLine()
        defer { line?.clear() }
        return try DirectoryCheck(RecipientDirectory(path: path)) { line?.show("checking: \($0.text)") }
    }

    private static func text(_ check: DirectoryCheck) -> String {
        let total = check.recipientCounts.values.reduce(0, +)
        var lines = [NumberText.counted(total, "recipient")]
        for suite in Suite.allCases {
            guard let count = check.recipientCounts[suite] else { continue }
            lines.append("  suite \(suite.rawValue)  \(count)  \(suite)")
        }
        let shown = check.problems.map { TerminalText.harmless($0.reason.utf8) }
        let hidden = check.collisionCount + check.badCount - shown.count
        lines += shown + (hidden > 0 ? ["and \(hidden) more"] : [])
        return lines.map { $0 + "\n" }.joined()
    }

    private static func json(_ check: DirectoryCheck) -> JSONObject {
        let recipients = Suite.allCases.map { ("\($0.rawValue)", check.recipientCounts[$0] ?? 0) }
        let problems = check.problems.map { problem -> JSONObject in
            ["reason": problem.reason, "isCollision": problem.isCollision]
        }
        return [
            "recipients": JSONObject(recipients), "collisions": check.collisionCount, "bad": check.badCount,
            "problems": problems,
        ]
    }
}

extension DirectoryProgress {
    fileprivate var text: String {
        guard let total else { return "\(NumberText.grouped(Int(done))) records" }
        let percent = "\(done * 100 / max(total, 1)) %"
        return phase == .reading ? "\(percent) read" : percent
    }
}
