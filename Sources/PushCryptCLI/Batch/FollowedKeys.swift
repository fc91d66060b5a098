import Logging
import PushCryptCore
import PushCryptKeysets
import PushCryptSender

/// The keys of --to or --sign-with. A key is chosen for each line, because the process may run while they rotate.
enum FollowedKeys: Sendable {
    /// Keys of a file that is watched. `clock` gives the time at which a key is chosen.
    case watched(KeysetWatcher, clock: @Sendable () -> UnixTime)
    /// Keys from a pipe, which can be read only once.
    case fixed(Keyset, clock: @Sendable () -> UnixTime)

    /// The recipient to seal to now.
    ///
    /// - Throws: `KeyError` with `noKeySeals`, `wrongKind`, `wrongDevice`.
    func recipient(_ device: DeviceID?) throws -> Recipient {
        switch self {
        case .watched(let watcher, let clock):
            // The watcher keeps the recipient of its primary key; the others are made for each line.
            guard let device else { return try watcher.recipient() }
            return try Recipient(watcher.current.sealingEntry(at: clock()), device: device)
        case .fixed(let keyset, let clock): return try Recipient(keyset.sealingEntry(at: clock()), device: device)
        }
    }

    /// Signs each message with the key that is current when it is sealed.
    var signer: Signer {
        switch self {
        case .watched(let watcher, _): .watching(watcher)
        case .fixed(let keyset, _): .keyset(keyset)
        }
    }
}

/// Writes the messages of a keyset's watcher to stderr: `<keyset>: <message>: <reason>`.
struct StandardErrorLog: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .notice

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    static var logger: Logger { Logger(label: "pushcrypt") { _ in StandardErrorLog() } }

    func log(event: LogEvent) {
        let metadata = event.metadata ?? [:]
        let keyset = metadata["keyset"].map { "\($0)" }
        let place = keyset.map { $0 + ": " } ?? ""
        let reason = metadata["reason"].map { ": " + "\($0)".withoutPath(keyset ?? "") }
        let details = reason ?? metadata["primary"].map { ": primary key \($0)" } ?? ""
        StandardStreams.writeError("\(place)\(event.message)\(details)")
    }
}

extension String {
    /// The text without the path of the keyset, which the line begins with.
    func withoutPath(_ path: String) -> String {
        let prefix = [path, path + KeysetLocation.suffix].map { $0 + ": " }.first(where: hasPrefix) ?? ""
        return String(dropFirst(prefix.count))
    }
}
