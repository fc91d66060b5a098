import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

/// The options that describe a fleet.
struct FleetOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The fleet as a JSON object of devices, refreshP50, refreshP99, offline, pushesPerDay and seed; options "
                + "go before it.", valueName: "FILE"))
    var fleet: String?

    @Option(
        name: .customLong("refresh-p50"),
        help: ArgumentHelp("Half of the devices fetch keys at least this often.", valueName: "DURATION"))
    var refreshP50: DurationArgument?

    @Option(
        name: .customLong("refresh-p99"),
        help: ArgumentHelp("99 of 100 devices fetch keys at least this often.", valueName: "DURATION"))
    var refreshP99: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "The share of the devices that is offline at any moment, as 2% or 0.02. (default: 2%)", valueName: "SHARE"))
    var offline: ShareArgument?

    @Option(help: ArgumentHelp("Pushes that each device gets per day. (default: 3)", valueName: "NUMBER"))
    var pushesPerDay: Double?

    @Option(help: ArgumentHelp("How many devices there are. (default: 1000000)", valueName: "N"))
    var devices: Int?

    @Option(help: ArgumentHelp("The same seed draws the same devices. (default: 1)", valueName: "N"))
    var seed: UInt64?

    func read() throws -> Fleet {
        let inFile = try fleet.map(Self.parameters(in:)) ?? Fleet.Parameters()
        var parameters = inFile
        parameters.override(with: given)
        guard fleet != nil || (refreshP50 != nil && refreshP99 != nil) else {
            throw Failure(.usage, "how often do the devices fetch keys? --refresh-p50 and --refresh-p99, or --fleet")
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
        do {
            return try Fleet.Parameters(json: json)
        } catch {
            throw Failure(.dataError, "\(path): \(error.reason)")
        }
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

/// `2%` or `0.02`. A bare number from 1 on is refused: it would be a percentage that lost its sign.
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
