import Foundation
public import Logging

/// Writes one JSON object for each line of the log to stderr.
public struct JSONLogHandler: LogHandler {
    public var logLevel: Logger.Level
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?
    private let label: String

    /// Creates a handler for a logger's label.
    public init(label: String, level: Logger.Level = .info) {
        self.label = label
        logLevel = level
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        var members = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) { $1 }
            .mapValues { "\($0)" }
        members["time"] = Date().ISO8601Format(.iso8601(timeZone: .gmt, includingFractionalSeconds: true))
        members["level"] = event.level.rawValue
        members["logger"] = label
        members["message"] = "\(event.message)"
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard var line = try? encoder.encode(members) else { return }
        line.append(UInt8(ascii: "\n"))
        try? FileHandle.standardError.write(contentsOf: line)
    }
}
