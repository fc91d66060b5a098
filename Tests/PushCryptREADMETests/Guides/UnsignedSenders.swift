import Foundation
import PushCryptApple

/// Pins a set of sender keys that has no signature. Any server that answers for your server can replace it.
nonisolated struct UnsignedSenders {
    /// In the extension: `senders: .pinned(UnsignedSenders(group).pins)`.
    let pins: UnsignedSenderPins

    init(_ group: AppGroup) {
        pins = UnsignedSenderPins(folder: group.path(of: "unsigned-senders"))
    }

    /// In the app, at every start: pins the bundled set if none is pinned, and then the newer set that the server serves.
    func update(bundled: Data, fetch: () async throws -> Data) async throws {
        try pins.pinFirst(json: Array(bundled))
        try pins.update(json: Array(try await fetch()))
    }
}
