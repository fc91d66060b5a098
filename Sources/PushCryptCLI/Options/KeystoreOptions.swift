import ArgumentParser

/// Where the keysets of a host are.
struct KeystoreOptions: ParsableArguments {
    @Option(
        name: .customLong("settings"),
        help: .init(
            "The settings. (default: PUSHCRYPT_SETTINGS, /etc/pushcrypt/pushcrypt.json, ~/.config/pushcrypt/pushcrypt.json)",
            "FILE"))
    var settingsFile: String?
}
