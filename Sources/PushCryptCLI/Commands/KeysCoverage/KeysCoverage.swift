import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

struct KeysCoverage: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coverage", abstract: "Show the share of devices that hold each key, from the devices' reports.",
        discussion: """
            A report is one line of JSON: {"device": ID, "kid": KID, "seenAt": TIME}. kid is the newest key that the \
            device holds; it also holds all earlier keys. A device counts once, by its newest report, and only if that \
            report is at most 30 days old.

            With JSON: at, devices, seen, unseen (for 30 days), ahead (reports from the future, which don't count), \
            outdated (seen, but the newest key no longer opens), unknownKid (seen, but the newest key is not in the \
            keyset), keys [{kid, state, suite, newest (devices whose newest key it is), holding, seen}]; if the policy requires coverage, also \
            requireCoverage and isCovered of each key.

            Example: pushcrypt keys coverage Keys/fleet --reports reports.jsonl
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @Option(help: .init("The devices' reports; - is stdin.", "FILE|-")) var reports: String
    @Flag(help: "Print JSON, as docs/cli.md describes it.") var json = false
    @OptionGroup var keystore: KeystoreOptions
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var messages: MessageOptions

    func run() throws {
        let keysets = try HostKeysets(keystore, at: timeOptions.time, SecretOptions.parse([]))
        let state = try keysets.read(keysets.location(path)).state
        guard state.kind != .publisher else {
            throw Failure(.usage, "\(path) contains publisher keys, which apps bundle and devices don't fetch")
        }
        let table = CoverageTable(try DeviceReports(file: reports), state, at: timeOptions.time)
        try StandardStreams.write(table.json, asJSON: json, text: table.text)
    }
}

extension DeviceReports {
    init(file: String) throws {
        self.init()
        let lines = try InputLines(file, limitInBytes: 65_536)
        do {
            while let line = try lines.next() { try add(line: Array(line.bytes)) }
        } catch let error as KeystoreError {
            throw Failure(.dataError, "\(lines.name): \(error.reason)")
        }
    }
}
