import ArgumentParser
import PushCryptRecipients

struct RecipientsImport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import recipients' records from JSON lines into a recipient directory.",
        discussion: """
            Each line is one record as apps upload them: a registration record, a device's key, a shared key. All of \
            them are imported or none: a bad line, a private key or a collision (an id with several keys, in the file \
            or in the database) imports nothing. Nothing in the database is replaced; the same record again is fine.

            The lines hold secrets: the file must be its owner's alone. Another directory can be imported too.
            """)

    @Argument(help: ArgumentHelp("The JSON lines.", valueName: "FILE"))
    var path: String

    @Option(name: .customLong("into"), help: ArgumentHelp("The database, new or there.", valueName: "FILE"))
    var database: String

    @Flag(help: "One object, for machines.")
    var json = false

    func validate() throws {
        guard !database.isEmpty else { throw ValidationError("--into names no file.") }
    }

    func run() throws {
        let result = try importAll()
        if json {
            try StandardStreams.writeJSON(["added": result.addedCount, "unchanged": result.unchangedCount])
        } else {
            try StandardStreams.write("\(result.addedCount) added, \(result.unchangedCount) unchanged\n")
        }
    }

    private func importAll() throws -> DirectoryImport {
        let line = DirectoryProgressLine("copying")
        defer { line.clear() }
        return try DirectoryImport(from: path, into: database, progress: line.show)
    }
}
