import PushCryptSQLite

/// Why the store can't be used. A push is shown all the same.
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String

        /// The file is protected and the device wasn't unlocked since it started.
        public static let locked = Code(name: "locked")
        /// The folder isn't there, or can't be written.
        public static let unavailable = Code(name: "unavailable")
        /// Another process holds the store, or other threads wait for it, for longer than the time-out.
        public static let busy = Code(name: "busy")
        /// There is no room on the disk.
        public static let full = Code(name: "full")
        /// The file is damaged, and no new one could be put in its place.
        public static let damaged = Code(name: "damaged")
        /// A later version of this library wrote the store: an extension that was still running while the app was
        /// updated.
        public static let newerVersion = Code(name: "newerVersion")
        /// The system failed to read or write, or has no memory.
        public static let inputOutput = Code(name: "inputOutput")
    }

    public let code: Code
    /// What SQLite or the system says; nothing of what is stored.
    public let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    init(_ error: SQLiteError) {
        code =
            switch error.kind {
            case .locked: .locked
            case .missing, .unavailable: .unavailable
            case .busy: .busy
            case .full: .full
            case .damaged: .damaged
            case .newer: .newerVersion
            case .failed: .inputOutput
            }
        reason = error.reason
    }

    public var description: String { "\(code.name): \(reason)" }
}
