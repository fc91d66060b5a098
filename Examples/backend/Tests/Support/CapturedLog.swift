public import Logging
import NIOConcurrencyHelpers

/// Keeps the lines of a log.
public struct CapturedLog: LogHandler {
    /// One line.
    public typealias Line = (level: Logger.Level, message: String, metadata: [String: String])

    public var logLevel: Logger.Level
    public var metadata: Logger.Metadata = [:]
    private let kept = NIOLockedValueBox<[Line]>([])

    /// Creates an empty log.
    public init(level: Logger.Level = .debug) { logLevel = level }

    /// The lines so far.
    public var lines: [Line] { kept.withLockedValue { $0 } }

    /// A logger that writes to this log.
    public var logger: Logger { Logger(label: "tests") { _ in self } }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        let metadata = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
        kept.withLockedValue { $0.append((event.level, "\(event.message)", metadata)) }
    }
}
