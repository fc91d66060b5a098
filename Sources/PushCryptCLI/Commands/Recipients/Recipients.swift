import ArgumentParser

struct Recipients: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Recipient directories: the keys of many devices, for batches.",
        discussion: """
            A directory is a file of JSON lines, one record on each as apps upload them (a registration record, a device's \
            key, a shared key), or a SQLite database:

            CREATE TABLE recipients (kid TEXT NOT NULL, device TEXT NOT NULL DEFAULT '', record TEXT NOT NULL, \
            PRIMARY KEY (kid, device)) WITHOUT ROWID

            Records hold secrets: the file must be its owner's alone. JSON lines get an index at their first use, \
            FILE.index, which holds ids and places and no keys.
            """,
        subcommands: [RecipientsCheck.self, RecipientsImport.self]
    )
}
