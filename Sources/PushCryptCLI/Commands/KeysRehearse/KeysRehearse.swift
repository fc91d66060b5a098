import ArgumentParser
import PushCryptCore
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
            Use a keyset whose keys devices fetch: shared or sender keys. Three rotations are simulated with 3 pushes a day for \
            each device; the keyset is not changed.

            Each device fetches keys at its own interval; the intervals are log-normally distributed. Some devices are \
            offline for 1 to 60 days; a device that returns first receives the pushes that APNs stored for up to 30 \
            days and then fetches keys. A push is lost to the policy if the device fetched within 30 days but before the key \
            was published. The same options give the same numbers.

            With JSON: fleet, policy, rotations, simulatedLead, pushes {sent, opened, keyNotFetched, deviceUnseen, lostToAPNs}, \
            leads [{publishLead, holding (devices that hold a key when it begins to seal, in all rotations), lost (pushes)}], \
            smallestLead, losesNone, verdict.

            With --day-keys no keyset is given: a year of devices with keys of days is simulated, whose apps run as often \
            as the fleet fetches keys. JSON: devices, periods [{period, sent, lastResort, expired}].

            Example: pushcrypt keys rehearse Keys/shared --refresh-p50 6h --refresh-p99 20d
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String?
    @Flag(help: "Simulate the keys of days that devices make, in place of a keyset.") var dayKeys = false
    @Option(help: .init("Half of the devices fetch keys at least this often.", "DURATION"))
    var refreshP50: DurationArgument
    @Option(help: .init("99 of 100 devices fetch keys at least this often.", "DURATION"))
    var refreshP99: DurationArgument
    @Option(
        help: .init("The share of the devices that are offline at any time, such as 2% or 0.02. (default: 2%)", "SHARE")
    )
    var offline: ShareArgument?
    @Option(help: .init("The number of devices.", "N")) var devices = 1_000_000
    @Option(help: .init("Another policy: how long a key seals.", "DURATION")) var rotateEvery: DurationArgument?
    @Option(help: .init("Another policy: how long a key is published before it seals.", "DURATION"))
    var publishLead: DurationArgument?
    @Flag(help: "Print JSON, as docs/cli.md describes it.") var json = false
    @OptionGroup var keystore: KeystoreOptions
    @OptionGroup var messages: MessageOptions

    func validate() throws {
        guard (path == nil) == dayKeys else {
            throw ValidationError("Give a keyset, Keys/NAME, or --day-keys in its place.")
        }
        guard !dayKeys || rotateEvery == nil && publishLead == nil else {
            throw ValidationError("--rotate-every and --publish-lead are for keysets and not for --day-keys.")
        }
    }

    func run() async throws {
        guard let path else {
            let year = await DayKeyRehearsalText(try fleet(), workers: ProcessInfo.processInfo.activeProcessorCount)
            return try StandardStreams.write(year.json, asJSON: json) { year.text($0, width: StandardStreams.columns) }
        }
        let (fleet, policy) = try read(path)
        let outcome = await RehearsalOutcome(fleet, policy, workers: ProcessInfo.processInfo.activeProcessorCount)
        try StandardStreams.write(outcome.json, asJSON: json) { terminal in
            RehearsalText(outcome: outcome, terminal: terminal, width: StandardStreams.columns).text
        }
    }

    // Not in `run`: Swift 6.3's optimiser crashes on several throwing calls in one async function.
    private func read(_ path: String) throws -> (Fleet, RotationPolicy) {
        let keysets = try HostKeysets(keystore, at: .now, SecretOptions.parse([]))
        let state = try keysets.read(keysets.location(path)).state
        guard state.kind != .publisher else {
            throw Failure(.usage, "\(path): \(RotationPlan.publishers): there is no rotation to rehearse")
        }
        var policyOptions = try PolicyOptions.parse([])
        (policyOptions.rotateEvery, policyOptions.publishLead) = (rotateEvery, publishLead)
        return (try fleet(), try policyOptions.policy(over: state.policy))
    }

    private func fleet() throws -> Fleet {
        do {
            return try Fleet(
                devices: devices, refreshP50InSeconds: refreshP50.seconds, refreshP99InSeconds: refreshP99.seconds,
                offline: offline?.share ?? 0.02)
        } catch { throw Failure(.usage, error.reason) }
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
