import ArgumentParser
import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@testable import pushcrypt

/// Numbers in options at and beyond the ends of their ranges.
@Suite("numbers in options", .ownThreads)
struct NumberTests {
    struct Case: CustomTestStringConvertible {
        let command: [String]
        let option: String
        /// Whether the parser accepts a value of the option's type.
        let accepts: @Sendable (String) -> Bool

        var testDescription: String { command.prefix { !$0.hasPrefix("-") }.joined(separator: " ") + " " + option }

        init(_ command: String, _ option: String, _ type: (some ExpressibleByArgument & SendableMetatype).Type) {
            self.command = command.split(separator: " ").map(String.init)
            self.option = option
            accepts = { type.init(argument: $0) != nil }
        }
    }

    private static let sealing = "seal --to fleet.json --topic com.example.app"
    private static let opening = "open --keys fleet.json --topic com.example.app"
    private static let creating = "keys create Keys/new --kind shared --insecure-plaintext"
    private static let rehearsing = "keys rehearse --devices 50 --refresh-p50 1h --refresh-p99 2h"

    /// Every option of the tool whose value is a number, a time, a duration or a share.
    static let cases: [Case] = [
        Case("inspect", "--limit", Int.self), Case("inspect --keys fleet.json --topic a", "--at", UnixTime.self),
        Case(sealing, "--limit", Int.self), Case(sealing, "--pad", PaddingPolicy.self),
        Case(sealing, "--expires", DurationArgument.self), Case(sealing, "--at", UnixTime.self),
        Case(sealing + " --batch", "--jobs", Int.self),
        Case(sealing + " --batch", "--resume-from", Int.self), Case(opening, "--at", UnixTime.self),
        Case(opening + " --batch", "--jobs", Int.self), Case(opening + " --batch", "--resume-from", Int.self),
        Case(creating, "--rotate-every", DurationArgument.self),
        Case(creating, "--publish-lead", DurationArgument.self),
        Case(creating, "--overlap", DurationArgument.self), Case(creating, "--keep", Int.self),
        Case(creating, "--require-coverage", CoverageArgument.self), Case(creating, "--at", UnixTime.self),
        Case("keys policy Keys/ios", "--rotate-every", DurationArgument.self),
        Case("keys policy Keys/ios", "--keep", Int.self),
        Case("keys policy Keys/senders --topic a", "--valid-for", DurationArgument.self),
        Case("keys policy Keys/senders --publisher Keys/publisher", "--epoch", Int64.self),
        Case("keys policy Keys/senders", "--end-epoch", Int64.self),
        Case("keys policy Keys/ios --keep 3 --confirm-clock", "--at", UnixTime.self),
        Case("keys export Keys/senders --pins --publisher Keys/publisher", "--epoch", Int64.self),
        Case("keys list Keys/ios", "--at", UnixTime.self),
        Case("rotate Keys/ios --confirm-clock", "--at", UnixTime.self),
        Case("rotate Keys/ios --now --at-once --confirm-clock", "--at", UnixTime.self),
        Case("publish Keys/senders --to www --confirm-clock", "--at", UnixTime.self),
        Case("revoke --dry-run Keys/ios AAAA", "--at", UnixTime.self),
        Case(rehearsing, "--offline", ShareArgument.self), Case(rehearsing, "--publish-lead", DurationArgument.self),
        Case("keys rehearse --refresh-p50 1h --refresh-p99 2h", "--devices", Int.self),
        Case("keys rehearse --devices 50 --refresh-p99 4294967295w", "--refresh-p50", DurationArgument.self),
        Case("keys rehearse --devices 50 --refresh-p50 1s", "--refresh-p99", DurationArgument.self),
    ]

    static let values = [
        "", "0", "-1", "-0", "1", "9007199254740992", "9223372036854775807", "9223372036854775808",
        "-9223372036854775808", "18446744073709551615", "18446744073709551616", "1e400", "1e-400", "nan", "inf", "0x10",
        "0s", "14d", "4294967295w", "4294967296w", "P4294967295W", "99999999999999999999d", "9999-12-31T23:59:59Z",
        "9999-12-31T23:59:59-23:59", "0000-01-01T00:00:00+23:59", "99.999%", "100%", "0.0000001%",
    ]

    /// The documented exit statuses except 70, an internal error.
    static let statuses: Set<Int32?> = [0, 64, 65, 66, 69, 73, 74, 75, 77, 78]

    /// The tool runs with a sample of the values that the option's type accepts, and with the first one that it refuses.
    @Test("an extreme number is refused or used, and never ends the tool by a signal", arguments: cases)
    func ends(_ number: Case) throws {
        let batch = try BatchPlace()
        try batch.place.create("Keys/ios", "shared")
        try batch.place.create("Keys/senders", "sender")
        try batch.place.create("Keys/publisher", "publisher")
        try batch.place.makeFolder("www")
        func run(_ value: String) throws -> Output {
            try batch.place.run(
                number.command + ["\(number.option)=\(value)"], stdin: Data(#"{"aps":{"alert":"x"}}"#.utf8))
        }
        expectUsageError(try run(try #require(Self.values.first { !number.accepts($0) })))
        for value in Self.values.filter(number.accepts).sampled(every: 3) {
            let output = try run(value)
            #expect(Self.statuses.contains(output.exit), "\(value): \(output)")
        }
        // What the changes have written can be read again.
        if number.command.contains("Keys/ios") {
            #expect(try batch.place.run("keys", "list", "Keys/ios").isSuccess)
        }
    }
}
