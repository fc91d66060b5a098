import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make keystores, keysets, passphrases, settings and the app's pins.",
        discussion: """
            It changes nothing that exists, so an interrupted run is repeated, and a run with another name adds a keyset. Without a KEYSET option it makes the sender keyset \
            `senders` and its publisher `app`. On a terminal it shows what will be made, and asks.

            Folders are those of the system for root and for the user who owns /etc/pushcrypt, and below ~/pushcrypt for others.

            Example: sudo -u pushcrypt pushcrypt init --topic com.example.app
            """)

    @Option(help: .init("The folder for the keysets.", "FOLDER")) var keystore: String?
    @Option(help: .init("The folder for the publisher keyset.", "FOLDER")) var publisherKeystore: String?
    @Option(help: .init("A keyset that signs pushes; may be repeated.", "NAME")) var sender: [String] = []
    @Option(help: .init("A keyset that opens pushes; may be repeated.", "NAME")) var recipient: [String] = []
    @Option(help: .init("A keyset that is shared with devices; may be repeated.", "NAME")) var shared: [String] = []
    @Option(help: .init("The app's bundle identifier; may be repeated.", "TOPIC")) var topic: [String] = []
    @Option(help: .init("How long a signed set is valid: 14d to 90d. (default: 60d)", "DURATION"))
    var validFor: DurationArgument?
    @Option(help: .init("The folder that a web server serves.", "FOLDER")) var publishTo: String?
    @Option(help: .init("The folder for what this host has seen of each keyset.", "FOLDER")) var history: String?
    @Option(name: .customLong("settings"), help: .init("The settings to write.", "FILE")) var settingsFile: String?
    @Option(
        help: .init(
            "The app's pins. (default: beside the settings, sender-pins.json or NAME-pins.json)", "FILE"))
    var pins: String?
    @Flag(
        name: .customLong("insecure-plaintext"),
        help: "Don't encrypt the keys. Without it new passphrase files encrypt them.")
    var allowsPlaintext = false
    @OptionGroup var agreement: AgreementOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var messages: MessageOptions

    private func requireUsedOptions() throws {
        guard signs || (topic.isEmpty && validFor == nil && publisherKeystore == nil && pins == nil) else {
            throw Failure(
                .usage,
                "--topic, --valid-for, --publisher-keystore and --pins are for keysets of senders: add --sender senders."
            )
        }
        guard signs || !recipient.isEmpty || publishTo == nil else {
            throw Failure(
                .usage,
                "--publish-to is for keysets of senders and recipients: nothing is published of others.")
        }
    }

    func run() throws {
        try requireUsedOptions()
        let terminal = StandardStreams.isInteractive ? Terminal() : nil
        var topics = topic.isEmpty ? [Defaults.topic].compactMap(\.self) : topic
        if topics.isEmpty, signs, let terminal { topics = [terminal.answer("The app's bundle identifier: ")] }
        let setup = try self.setup(topics)
        do {
            let settings = setup.newSettings
            let storage = FileStorage(histories: HistoryFolder(setup.history), servedFolder: setup.served) {
                try settings.secret(for: $0, id: $1.log.state.id)
            }
            let host = try KeystoreHost(
                storage, name: Writer.ofThisHost(), who: HostKeysets.actor, clock: times.time)
            let new = try setup.plan(host).filter(\.isNew).map(\.part.text)
            if !new.isEmpty, !agreement.isAgreed { try agreement.confirm("init makes:", new) }
            try report(setup, setup.run(host))
        } catch { throw Failure(error, of: setup.settings) }
    }

    private var signs: Bool { !sender.isEmpty || recipient.isEmpty && shared.isEmpty }

    /// Also for the user whose folders the Debian package makes.
    private static let usesSystem = FileSystem.ownUser == 0 || FileSystem.canChangeFolder("/etc/pushcrypt")

    private static func folder(_ system: String, _ own: String) throws -> String {
        guard !usesSystem else { return system }
        guard let home = ProcessEnvironment.variable("HOME"), home.hasPrefix("/") else {
            throw Failure(.usage, "HOME isn't set: name all folders, see `pushcrypt init --help`")
        }
        return "\(home)/\(own)"
    }

    /// Options that are missing are those of the settings, if there are settings.
    private func setup(_ topics: [String]) throws -> Setup {
        let settings = try Settings.absolute(settingsFile ?? Self.settings())
        let present = FileSystem.exists(settings) ? try Settings(reading: settings) : nil
        func keystore(ofPublisher isOfPublisher: Bool) -> String? {
            present?.keystores.first { FileSystem.exists("\($0)/app\(KeysetLocation.suffix)") == isOfPublisher }
        }
        func keysets(_ names: [String], _ kind: KeyKind) throws -> [Setup.NewKeyset] {
            guard !names.isEmpty else { return [] }
            let folder =
                try self.keystore ?? keystore(ofPublisher: false) ?? Self.folder("/srv/push/Keys", "pushcrypt/Keys")
            return try names.map { name -> Setup.NewKeyset in
                guard !name.contains("/"), !name.hasPrefix("-"), !name.hasPrefix(".") else {
                    throw Failure(.usage, "\(name): a keyset's name has no slash, and no dot at its beginning")
                }
                return .init(KeysetLocation("\(folder)/\(name)"), kind)
            }
        }
        let senders = signs && sender.isEmpty ? ["senders"] : sender
        let made =
            try keysets(senders, .sender) + keysets(recipient, .recipient) + keysets(shared, .shared)
        let standard = Self.usesSystem ? "/var/lib/pushcrypt" : nil
        guard let history = HistoryFolder.standard(given: history ?? present?.history ?? standard)?.path else {
            throw Failure(.usage, "HOME isn't set: use --history FOLDER")
        }
        var setup = Setup(made, history: history, settings: settings)
        let folder = FileSystem.parent(of: settings)
        if !allowsPlaintext { setup.passphrase = "\(folder)/passphrase" }
        if signs || !recipient.isEmpty {
            setup.served = try publishTo ?? present?.publishTo ?? Self.folder("/srv/www/push", "pushcrypt/www")
        }
        guard signs else { return setup }
        let publishers =
            try publisherKeystore ?? keystore(ofPublisher: true)
            ?? Self.folder("/srv/push/Publisher", "pushcrypt/Publisher")
        setup.publisher = KeysetLocation("\(publishers)/app")
        if !allowsPlaintext { setup.publisherPassphrase = "\(folder)/publisher-passphrase" }
        if !topics.isEmpty {
            let validFor = validFor?.seconds ?? 60 * 86_400
            setup.publication = .init(topics: try topics.map { try Topic(option: $0) }, validForInSeconds: validFor)
        }
        let name = senders == ["senders"] ? "sender" : senders[0]
        if senders.count == 1 { setup.pins = pins ?? "\(folder)/\(name)-pins.json" }
        return setup
    }

    private static func settings() throws -> String {
        if let path = ProcessEnvironment.variable("PUSHCRYPT_SETTINGS") { return path }
        guard !usesSystem else { return "/etc/pushcrypt/pushcrypt.json" }
        if let folder = ProcessEnvironment.variable("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            return "\(folder)/pushcrypt/pushcrypt.json"
        }
        return try folder("", ".config/pushcrypt/pushcrypt.json")
    }

    private func report(_ setup: Setup, _ items: [Setup.Item]) throws {
        var lines = items.map { ($0.isNew ? "made   " : "there  ") + $0.part.text }
        let isNamed = settingsFile != nil || ProcessEnvironment.variable("PUSHCRYPT_SETTINGS") != nil
        let option = isNamed ? " --settings \(ShellArgument.quoted(setup.settings))" : ""
        if let pins = setup.pins, let location = setup.keysets.first(where: { $0.kind == .sender })?.location {
            let id = (try? KeysetRows(at: location, .reading))?.log.state.id.description ?? "ID"
            lines.append("the app needs \(pins) in its bundle, and fetches https://HOST/\(id).\(Setup.epoch).json")
        }
        lines.append("cron: 17 * * * * pushcrypt rotate\(option)")
        lines.append("or systemd: systemctl enable --now pushcrypt-rotate.timer pushcrypt-status.timer")
        let settings = try Settings(reading: setup.settings)
        let unnamed = setup.newSettings.expected.filter { !settings.expected.contains($0) }
        if !unnamed.isEmpty { lines.append("add to expected in \(setup.settings): \(unnamed.joined(separator: ", "))") }
        let places = settings.keystores.map { ShellArgument.quoted($0) + "/*.keyset" }
        lines.append("backup, with the passphrases elsewhere: cp -p \(places.joined(separator: " ")) BACKUP/")
        try StandardStreams.write(TerminalText.harmless(lines: lines.joined(separator: "\n")) + "\n")
    }
}

extension Setup.Part {
    fileprivate var text: String {
        switch self {
        case .folder(let path, _): "folder \(path)"
        case .passphrase(let path): "passphrase \(path)"
        case .keyset(let location): "keyset \(location)"
        case .epoch(let location): "epoch \(Setup.epoch) of \(location)"
        case .pins(let path): "pins \(path)"
        case .settings(let path): "settings \(path)"
        }
    }
}
