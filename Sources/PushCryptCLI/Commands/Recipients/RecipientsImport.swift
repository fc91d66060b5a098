import ArgumentParser
import PushCryptRecipients

struct RecipientsImport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Put the records of a recipient directory into a SQLite database.",
        discussion: """
            All of them or none: a bad line, a private key or a collision, also with what the database has already, \
            imports nothing. Nothing in the database is replaced; the same record again is fine.
            """)

    @Argument(help: ArgumentHelp("The directory, JSON lines as a rule.", valueName: "FILE"))
    var path: String

    @Option(name: .customLong("into"), help: ArgumentHelp("The database, new or there.", valueName: "FILE"))
    var database: String

    @Flag(help: "One object, for machines.")
    var json = false

    func validate() throws {
        guard !database.isEmpty else { throw ValidationError("--into names no file.") }
    }

    func run() throws {
        let result = try DirectoryImport(
            showingProgressOf: RecipientDirectory(showingProgressOf: path), into: database)
        if json {
            try StandardStreams.writeJSON(["added": result.addedCount, "unchanged": result.unchangedCount])
        } else {
            try StandardStreams.write("\(result.addedCount) added, \(result.unchangedCount) unchanged\n")
        }
    }
}
