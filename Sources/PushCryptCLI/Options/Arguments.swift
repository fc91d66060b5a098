public import ArgumentParser
public import PushCryptCore

extension UnixTime: ExpressibleByArgument {
    public init?(argument: String) {
        guard let time = Int64(argument).map(UnixTime.init) ?? UnixTime(rfc3339: argument),
            UnixTime.writable.contains(time)
        else { return nil }
        self = time
    }

    /// 1970 to 9999: the times that both the protocol (seconds) and key files (RFC 3339) can represent.
    private static let writable = UnixTime(0)...rfc3339Range.upperBound
}

extension Topic {
    /// Refuses also what the protocol allows and no app can have as its bundle identifier.
    ///
    /// - Parameter name: of the option; by default that of `--topic`, or of the variable that stands for it.
    /// - Throws: `KeyError` with `invalidTopic`.
    init(option text: String, _ name: String? = nil) throws(KeyError) {
        do throws(KeyError) {
            try self.init(text)
            guard !Self.hasEmptyPart(text) else {
                throw KeyError(
                    .invalidTopic,
                    "a topic is the app's bundle identifier, without two dots in a row or a dot at an end")
            }
        } catch {
            let name = name ?? (text == Defaults.topic ? "PUSHCRYPT_TOPIC" : "--topic")
            throw KeyError(error.code, "\(name): \(error.reason)")
        }
    }

    /// Whether the name is probably an extension's. A topic is the app's.
    static func looksLikeExtension(_ name: String) -> Bool {
        let parts = name.lowercased().split(separator: ".")
        guard parts.count > 2, let last = parts.last else { return false }
        return last.contains("notificationservice") || last.hasSuffix("extension") || last == "nse"
    }

    static func hasEmptyPart(_ text: String) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).contains("")
    }
}

extension ArgumentHelp {
    /// - Parameter valueName: stands for the value in the help, such as `FILE`.
    init(_ abstract: String, _ valueName: String) { self.init(abstract, valueName: valueName) }
}

/// A duration: 30d, 12h, 1d12h, or ISO 8601.
struct DurationArgument: ExpressibleByArgument {
    let seconds: Int64

    init?(argument: String) {
        guard let seconds = DurationText.seconds(argument) else { return nil }
        self.seconds = seconds
    }

    /// - Throws: `ValidationError` that describes a duration.
    init(option argument: String) throws {
        guard let duration = DurationArgument(argument: argument) else {
            throw ValidationError("A duration is a number with s, m, h, d or w, as in 20s.")
        }
        self = duration
    }
}

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

    /// The text that help shows for the only default in use.
    public var defaultValueDescription: String { "128" }
}

struct TimeOptions: ParsableArguments {
    static let help = ArgumentHelp("Act now as if it were TIME; for tests.", "TIME")

    @Option(name: .customLong("at"), help: help) var givenTime: UnixTime?

    var time: UnixTime { givenTime ?? .now }
}
