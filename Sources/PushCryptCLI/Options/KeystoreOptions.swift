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

/// The options of the commands that change keysets of this host.
struct HostOptions: ParsableArguments {
    @OptionGroup var keystores: KeystoreOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func keysets(servedFolder: String? = nil, triesAllSecrets: Bool = false) throws -> HostKeysets {
        try HostKeysets(
            keystores, confirmsClock: clock.isConfirmed, at: times.time, secrets, servedFolder: servedFolder,
            triesAllSecrets: triesAllSecrets)
    }
}
