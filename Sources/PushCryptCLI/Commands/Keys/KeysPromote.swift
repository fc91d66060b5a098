import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

struct KeysPromote: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote",
        abstract: "Let a pending key seal from now on; the one that sealed retires.",
        discussion: """
            Refused before the key was published for the policy's publishLead and, where coverage is required, before \
            the devices' reports show it, unless forced.
            """)

    @Argument(help: ArgumentHelp("The keyset.", valueName: "Keys/NAME"))
    var path: String

    @OptionGroup var key: KeyIDArgument
    @Option(help: ArgumentHelp("Reports of the devices, as in keys coverage.", valueName: "FILE|-"))
    var reports: String?

    @Option(help: ArgumentHelp("The share of devices that must hold it; else the policy's.", valueName: "PERCENT"))
    var requireCoverage: CoverageArgument?

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        let change = try KeysetChange(path, options, secrets)
        try change.checkClock(clock)
        let losses =
            try change.losses { try $0.promote(key.kid, force: confirmation.force) }
            + uncovered(change.metadata(), change)
        if !losses.isEmpty { try confirmation.confirm("promoting key \(key.kid) loses:", losses) }
        try change.make { try $0.promote(key.kid, force: confirmation.force) }
    }

    /// What is lost where too few devices hold the key, which is refused unless forced.
    private func uncovered(_ keyset: KeysetMetadata, _ change: KeysetChange) throws -> [String] {
        guard let required = requireCoverage?.coverage ?? keyset.policy.requiredCoverage else { return [] }
        let verdict = try CoverageGate(reports: reports).verdict(
            on: key.kid, required, keyset.timeline, at: change.time)
        if verdict?.isEnough == true { return [] }
        let words =
            verdict?.explanation ?? "\(required) of the devices must hold it, and no reports were given (--reports)"
        guard confirmation.force else {
            throw Failure(.temporary, "\(path): key \(key.kid) is not promoted: \(words); or say --force")
        }
        return [words + "; the others show a placeholder until they fetch the key"]
    }
}
