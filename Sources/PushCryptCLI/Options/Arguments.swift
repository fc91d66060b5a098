public import ArgumentParser
public import PushCryptCore

/// A moment: RFC 3339 or unix seconds.
extension UnixTime: ExpressibleByArgument {
    public init?(argument: String) {
        guard let time = Int64(argument).map(UnixTime.init) ?? UnixTime(rfc3339: argument),
            UnixTime.writable.contains(time)
        else { return nil }
        self = time
    }

    /// 1970 to 9999: what both the protocol's seconds and the RFC 3339 times of key files can write.
    private static let writable = UnixTime(0)...rfc3339Range.upperBound
}

/// A length of time: 30d, 12h, 90s, or ISO 8601.
struct DurationArgument: ExpressibleByArgument {
    let seconds: Int64

    public init?(argument: String) {
        guard let seconds = DurationText.seconds(argument) else { return nil }
        self.seconds = seconds
    }
}

/// `--pad N|max|none`
extension PaddingPolicy: ExpressibleByArgument {
    public init?(argument: String) {
        switch argument {
        case "max": self = .limit
        case "none": self = .none
        default:
            guard let byteCount = Int(argument), byteCount > 0 else { return nil }
            self = .multiple(of: byteCount)
        }
    }

    /// Of the one default there is.
    public var defaultValueDescription: String { "128" }
}

/// The time that a command works at.
struct TimeOptions: ParsableArguments {
    static let help = ArgumentHelp("Work as if it were TIME.", valueName: "TIME")

    @Option(name: .customLong("at"), help: help) var givenTime: UnixTime?

    var time: UnixTime { givenTime ?? .now }
}
