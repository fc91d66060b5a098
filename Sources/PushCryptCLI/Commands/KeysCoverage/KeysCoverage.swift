import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

struct KeysCoverage: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coverage",
        abstract: "Show which share of the devices holds each key, by the devices' own reports.",
        discussion: """
            A report is one line of JSON: {"device": ID, "kid": KID, "seenAt": TIME}, where kid is the newest key that \
            the device holds. A device counts once, with its newest report, and only if that is of the last 30 days. \
            It holds its newest key and all that come before it.

            --json: at, devices, seen, unseen (for 30 days), ahead (reports from the future, which don't count), \
            outdated (seen, but their newest key opens no more), unknownKid (seen, but their newest key is none of \
            the keyset), keys [{kid, state, newest (devices whose newest key it is), holding, seen}]; where the policy \
            demands coverage also requireCoverage, and isCovered of each key.
            """)

    @Argument(help: ArgumentHelp("The keyset.", valueName: "Keys/NAME"))
    var path: String

    @Option(help: ArgumentHelp("The devices' reports; - is stdin.", valueName: "FILE|-"))
    var reports: String

    @Flag(help: "One object, for machines.")
    var json = false

    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var pictureOptions: PictureOptions

    func run() throws {
        let keyset = try KeySource.metadata(of: path)
        let table = CoverageTable(
            try DeviceReports(file: reports), keyset.timeline, required: keyset.policy.requiredCoverage,
            at: timeOptions.time)
        if let file = pictureOptions.file {
            try CoveragePicture(table, name: path).picture.write(to: file)
        }
        if json {
            try StandardStreams.writeJSON(CoverageReport(table))
        } else {
            let terminal = TerminalText(isColourful: StandardStreams.isColourful)
            try StandardStreams.write(table.text(terminal))
        }
    }
}

extension DeviceReports {
    /// - Parameter file: `-` is stdin.
    init(file: String) throws {
        self.init()
        let reader = try LineReader(file, limitInBytes: 65_536)
        do {
            while let line = try reader.next() {
                guard case .complete(let bytes) = line else {
                    throw Failure(.dataError, "\(reader.name): line \(lineCount + 1) is longer than 65536 bytes")
                }
                try add(line: bytes)
            }
        } catch let error as KeystoreError {
            throw Failure(.dataError, "\(reader.name): \(error.reason)")
        }
    }
}

/// Whether enough devices hold a key, by their own reports, for it to seal.
struct CoverageGate {
    private let reports: DeviceReports?

    /// - Parameter file: the reports; `-` is stdin, nil for none.
    init(reports file: String?) throws {
        reports = try file.map { file in try DeviceReports(file: file) }
    }

    /// - Returns: nil where there are no reports.
    func verdict(
        on kid: KeyID, _ required: RotationPolicy.Coverage, _ timeline: KeyTimeline, at time: UnixTime
    ) -> RotationPlan.CoverageVerdict? {
        guard let coverage = reports?.coverage(of: kid, in: timeline, at: time) else { return nil }
        let counts = "\(coverage.holding) of \(coverage.seen) devices seen in the last 30 days hold it"
        let isEnough = coverage.meets(required)
        return .init(
            isEnough: isEnough, explanation: isEnough ? counts : counts + ", and \(required) are required")
    }
}
