import PushCryptCore
import PushCryptPrimitives

/// A JSON text that may hold private keys in clear: wiped with the last reference.
final class WipedText: @unchecked Sendable {
    // Unchecked because of the variable: it is written in deinit only.
    private var scanned: JSONText?

    /// - Throws: `JSONError`.
    init(_ bytes: [UInt8]) throws {
        scanned = try JSONText(bytes)
    }

    deinit {
        guard var bytes = scanned?.bytes else { return }
        scanned = nil
        wipe(&bytes)
    }

    var text: JSONText { scanned! }
    var root: JSONValue { text.root }
}
