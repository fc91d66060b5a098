import ArgumentParser

struct Recipients: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Recipient directories: the keys of many devices, for batches.",
        discussion: """
            A directory is a SQLite database. recipients import makes one from JSON lines; a backend can fill one itself:

            CREATE TABLE recipients (kid TEXT NOT NULL, device TEXT NOT NULL DEFAULT '', record TEXT NOT NULL, \
            PRIMARY KEY (kid, device)) WITHOUT ROWID

            A record is a JWK as apps upload them: a registration record, a device's key (with its id in device), a \
            shared key. Records hold secrets: the file must be its owner's alone.
            """,
        subcommands: [RecipientsCheck.self, RecipientsImport.self]
    )
}
