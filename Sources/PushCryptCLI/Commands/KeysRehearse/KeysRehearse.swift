import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct KeysRehearse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rehearse",
        abstract: "Simulate rotations for a fleet of devices: would a push show its placeholder?",
        discussion: """
            Use a keyset whose keys devices fetch: shared or sender keys. Three rotations are simulated; the keyset is \
            not changed. Policy options try another policy.

            Each device fetches keys at its own interval; the intervals are log-normally distributed. Some devices are \
            offline for 1 to 60 days; a device that returns first receives the pushes that APNs stored for up to 30 \
            days and then fetches keys. A push is lost to the policy if its key expired before it arrived, or if the \
            device fetched within 30 days but before the key was published. The same options and seed give the same \
            numbers.

            --json: suites (of the keyset's keys), fleet, policy, simulatedLead, rotations, coverage {pairs, \
            atActivation, seenAtActivation, after [{time, holding}]}, pushes {sent, opened, keyNotFetched, keyExpired, \
            deviceUnseen, lostToAPNs}, compared [{length, lostAsPublishLead, lostAsOverlap}], smallest {publishLead, overlap, lost, \
            lostWithPublishLeadOneSecondShorter, lostWithOverlapOneSecondShorter}, losesNone, verdict.

            Example: pushcrypt keys rehearse Keys/shared --refresh-p50 6h --refresh-p99 20d --publish-lead 14d
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @OptionGroup(title: "Fleet") var fleetOptions: FleetOptions
    @OptionGroup(title: "Policy instead of the keyset's") var policyOptions: PolicyOptions
    @Flag(help: "Print JSON: one object.") var json = false
    @OptionGroup var pictureOptions: PictureOptions
    @OptionGroup var keystore: KeystoreOptions
    @OptionGroup var messages: MessageOptions

    func run() async throws {
        let (fleet, policy, suites) = try read()
        let outcome = await RehearsalOutcome(fleet, policy, workers: ProcessInfo.processInfo.activeProcessorCount)
        try write(outcome, suites)
    }

    // Not in `run`: Swift 6.3's optimiser crashes on several throwing calls in one async function.
    private func read() throws -> (Fleet, RotationPolicy, suites: [KeyAlgorithm]) {
        let keysets = try HostKeysets(keystore, at: .now, SecretOptions.parse([]))
        let state = try keysets.read(keysets.location(path)).state
        guard state.kind != .publisher else {
            throw Failure(.usage, "\(path): \(RotationPlan.publishers): there is no rotation to rehearse")
        }
        let policy = try policyOptions.policy(over: state.policy, of: path)
        policyOptions.noteIdleOverlap(policy)
        let used = Set(state.keys.filter(\.hasMaterial).map(\.algorithm))
        return (try fleetOptions.read(), policy, KeyAlgorithm.allCases.filter(used.contains))
    }

    private func write(_ outcome: RehearsalOutcome, _ suites: [KeyAlgorithm]) throws {
        if let file = pictureOptions.file { try RehearsalPicture(outcome, name: path).picture.write(to: file) }
        let object = outcome.json.adding(ifKnown: ["suites": suites.map(\.rawValue)])
        try StandardStreams.write(object, asJSON: json) { terminal in
            RehearsalText(outcome: outcome, suites: suites, terminal: terminal, width: StandardStreams.columns).text
        }
    }
}

struct FleetOptions: ParsableArguments {
    @Option(
        help: .init(
            "A JSON object with devices, refreshP50, refreshP99, offline, pushesPerDay and seed; options override "
                + "its values.", "FILE"))
    var fleet: String?

    @Option(help: .init("Half of the devices fetch keys at least this often.", "DURATION"))
    var refreshP50: DurationArgument?
    @Option(help: .init("99 of 100 devices fetch keys at least this often.", "DURATION"))
    var refreshP99: DurationArgument?

    @Option(
        help: .init("The share of the devices that are offline at any time, such as 2% or 0.02. (default: 2%)", "SHARE")
    )
    var offline: ShareArgument?

    @Option(help: .init("The pushes per device and day. (default: 3)", "NUMBER")) var pushesPerDay: Double?
    @Option(help: .init("The number of devices. (default: 1000000)", "N")) var devices: Int?
    @Option(help: .init("The seed of the random devices. (default: 1)", "N")) var seed: UInt64?

    func read() throws -> Fleet {
        let inFile = try fleet.map(Self.parameters(in:)) ?? Fleet.Parameters()
        var parameters = inFile
        parameters.override(with: given)
        guard fleet != nil || (refreshP50 != nil && refreshP99 != nil) else {
            throw Failure(
                .usage, "give --refresh-p50 and --refresh-p99, or --fleet: they say how often devices fetch keys")
        }
        do {
            return try Fleet(parameters)
        } catch {
            guard let fleet, Self.reason(against: inFile) == error.reason else {
                throw Failure(.usage, error.reason)
            }
            throw Failure(.dataError, "\(fleet): \(error.reason)")
        }
    }

    private var given: Fleet.Parameters {
        var given = Fleet.Parameters()
        given.devices = devices
        given.refreshP50InSeconds = refreshP50?.seconds
        given.refreshP99InSeconds = refreshP99?.seconds
        given.offline = offline?.share
        given.pushesPerDay = pushesPerDay
        given.seed = seed
        return given
    }

    private static func parameters(in path: String) throws -> Fleet.Parameters {
        let json = try FileSystem.readFile(path)
        do { return try Fleet.Parameters(json: json) } catch { throw Failure(.dataError, "\(path): \(error.reason)") }
    }

    private static func reason(against parameters: Fleet.Parameters) -> String? {
        do {
            _ = try Fleet(parameters)
            return nil
        } catch {
            return error.reason
        }
    }
}

/// A share: `2%` or `0.02`. A number of at least 1 without % is refused, because it is probably a percentage.
struct ShareArgument: ExpressibleByArgument {
    let share: Double

    init?(argument: String) {
        let isPercent = argument.last == "%"
        guard let number = Double(isPercent ? String(argument.dropLast()) : argument), number >= 0,
            number < (isPercent ? 100 : 1)
        else { return nil }
        share = isPercent ? number / 100 : number
    }
}
