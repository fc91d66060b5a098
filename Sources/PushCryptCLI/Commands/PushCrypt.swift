import ArgumentParser

struct PushCrypt: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pushcrypt", abstract: "End-to-end encrypted push notifications: keys, sealing, opening.",
        discussion: """
            Data goes to stdout, messages go to stderr. A TIME is RFC 3339 (2026-03-01T09:00:00Z) or Unix seconds. A \
            DURATION has s, m, h, d and w (30d, 36h, 1d12h). A FILE with keys is one JWK or a JWK set; Keys/NAME is a keyset. \
            Every command accepts -q, which writes no notes to stderr.

            Exit status: 0 done, 10 --dry-run: something is due, 64 bad usage, \
            65 bad data, 66 missing input, 69 another program failed or is missing, or OpenSSL is too old, 70 internal error, 73 can't create, 74 reading or writing \
            failed, 75 waiting helps, 77 permission, 78 a person must act, 130 and 143 interrupted. status is an exception, for monitors: 0 ok, \
            1 warning, 2 critical, 3 unknown.

            Environment:
            PUSHCRYPT_SETTINGS: the settings; otherwise /etc/pushcrypt/pushcrypt.json, else ~/.config/pushcrypt/pushcrypt.json
            PUSHCRYPT_KEYS: the keystore of keys list; otherwise Keys
            PUSHCRYPT_HISTORY: the folder for what this host has seen of keysets that the settings don't have; otherwise nothing
            PUSHCRYPT_TOPIC: the app's bundle identifier, without --topic
            PUSHCRYPT_PASSPHRASE or PUSHCRYPT_WRAP_COMMAND: the secret of encrypted keysets
            PUSHCRYPT_WRITER: the name of this host in keysets; otherwise a hash of its machine id or host name
            NO_COLOR, or TERM=dumb: no colour
            COLUMNS: the width of text
            LC_ALL, LC_CTYPE, LANG: with C or POSIX, text is ASCII
            SUDO_USER: with sudo, the name in the logs of keysets

            To begin: pushcrypt demo
            """,
        subcommands: [Demo.self],
        groupedSubcommands: [
            CommandGroup(
                name: "Pushes",
                subcommands: [Seal.self, Open.self, Reseal.self, Blob.self, Registrations.self, Recipients.self]),
            CommandGroup(name: "Examination", subcommands: [Inspect.self, Simulate.self, Diagnose.self, Migrate.self]),
            CommandGroup(
                name: "Keys",
                subcommands: [
                    Init.self, Keys.self, Rotate.self, Publish.self, Revoke.self, Restore.self, Status.self,
                ]),
        ])

    @Flag(help: "Show the version.") var version = false

    func validate() throws {
        if version { throw CleanExit.message(Version.text) }
    }

    func run() throws { throw ValidationError("Name a command; to begin: pushcrypt demo") }
}

struct Keys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Create, show and change keysets.",
        groupedSubcommands: [
            CommandGroup(
                name: "Look",
                subcommands: [
                    KeysList.self, KeysLog.self, KeysCoverage.self, KeysRehearse.self,
                ]),
            CommandGroup(
                name: "Make and move",
                subcommands: [
                    KeysCreate.self, KeysImport.self, KeysExport.self,
                ]),
            CommandGroup(
                name: "Change",
                subcommands: [
                    KeysPolicy.self, KeysDestroy.self, KeysSecret.self,
                ]),
        ])

    func run() throws { throw ValidationError("Name a command of keys.") }
}
