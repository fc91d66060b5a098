import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct KeysRehearse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rehearse",
        abstract: "Simulate a fleet of devices against a keyset's policy: would any push show its placeholder?",
        discussion: """
            The keyset is one whose keys devices fetch: shared masters or sender keys. Three rotations are simulated; \
            keys and policy stay as they are. Options of the policy try another one.

            A device fetches at its own interval, log-normal over the devices. Some are offline, for 1 to 60 days; on \
            return a device first gets the pushes that APNs stored for up to 30 days and fetches later. A push is \
            lost to the policy when its key expired before it arrived, or when the device has not fetched the key \
            though it fetched within 30 days. The same options and seed give the same numbers.

            --json: fleet, policy, simulatedLead, rotations, coverage {pairs, atActivation, seenAtActivation, after \
            [{time, holding}]}, pushes {sent, opened, keyNotFetched, keyExpired, deviceUnseen, lostToAPNs}, compared \
            [{length, lostAsPublishLead, lostAsOverlap}], smallest {publishLead, overlap, lost, \
            lostWithPublishLeadOneSecondShorter, lostWithOverlapOneSecondShorter}, losesNone, verdict.

            Example: pushcrypt keys rehearse Keys/shared --refresh-p50 6h --refresh-p99 20d --publish-lead 14d
            """)

    @Argument(help: ArgumentHelp("The keyset.", valueName: "Keys/NAME"))
    var path: String

    @OptionGroup(title: "Fleet")
    var fleetOptions: FleetOptions

    @OptionGroup(title: "Policy, in place of the keyset's own")
    var policyOptions: PolicyOptions

    @Flag(help: "One object, for machines.")
    var json = false

    @OptionGroup var pictureOptions: PictureOptions

    func run() async throws {
        let (fleet, policy) = try read()
        let outcome = await RehearsalOutcome(fleet, policy, workers: ProcessInfo.processInfo.activeProcessorCount)
        try write(outcome)
    }

    // Apart from `run`: Swift 6.3's optimiser crashes on several throwing calls in one async function.
    private func read() throws -> (Fleet, RotationPolicy) {
        (try fleetOptions.read(), try policyOptions.policy(over: KeySource.metadata(of: path).policy))
    }

    private func write(_ outcome: RehearsalOutcome) throws {
        if let file = pictureOptions.file {
            try RehearsalPicture(outcome, name: path).picture.write(to: file)
        }
        if json {
            try StandardStreams.writeJSON(RehearsalReport(outcome))
        } else {
            let terminal = TerminalText(isColourful: StandardStreams.isColourful)
            try StandardStreams.write(RehearsalText(outcome: outcome, terminal: terminal).text)
        }
    }
}
