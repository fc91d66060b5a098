import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

struct KeysPromote: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote", abstract: "Make a pending key primary now; the previous primary key retires.",
        discussion: """
            Refused, unless forced, before the key has been published for the policy's publishLead and, if the policy \
            requires coverage, before the devices' reports show it.

            Example: pushcrypt keys promote Keys/backend AVvUe-T2G40 --reports reports.jsonl
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @OptionGroup var key: KeyIDArgument
    @Option(help: .init("The devices' reports, as for keys coverage; - is stdin.", "FILE|-")) var reports: String?
    @Option(help: .init("The required share of devices. (default: the policy's)", "PERCENT"))
    var requireCoverage: CoverageArgument?
    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Restored copies") var expected: ExpectationOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        let change = try KeysetChange(path, options, clock, secrets, expected.state)
        try change.checkClock()
        let kid = try key.kid(in: change, mustBeWhole: confirmation.skipsQuestion)
        let losses =
            try change.losses { try $0.promote(kid, force: confirmation.force) }
            + uncovered(kid, change.metadata(), change)
        if !losses.isEmpty { try confirmation.confirm("promoting key \(kid) now:", losses) }
        try change.make { try $0.promote(kid, force: confirmation.force) }
    }

    /// The loss if too few devices hold the key.
    ///
    /// - Throws: `Failure` unless forced.
    private func uncovered(_ kid: KeyID, _ keyset: KeysetMetadata, _ change: KeysetChange) throws -> [String] {
        guard let required = requireCoverage?.coverage ?? keyset.policy.requiredCoverage else {
            if reports != nil {
                StandardStreams.writeNote(
                    "--reports has no effect: neither the policy nor --require-coverage requires coverage")
            }
            return []
        }
        let verdict = try reports.map { try DeviceReports(file: $0) }?.verdict(
            on: kid, required, keyset.timeline, at: change.time)
        if verdict?.isEnough == true { return [] }
        let reason =
            verdict?.explanation ?? "\(required) of the devices must hold it, and no reports were given (--reports)"
        guard confirmation.force else {
            throw Failure(
                .temporary, "\(path): key \(kid) is not promoted: \(reason); to promote it anyway, use --force")
        }
        return [reason + "; the others show a placeholder until they fetch the key"]
    }
}
