import PushCryptCore
import PushCryptPrimitives

/// A JSON text that may contain plain-text private keys. Deinitialisation wipes it.
final class WipedText: @unchecked Sendable {
    // Unchecked because of the variable, which only deinit writes.
    private var scanned: JSONText?

    init(_ bytes: [UInt8]) throws { scanned = try JSONText(bytes) }

    deinit {
        guard var bytes = scanned?.bytes else { return }
        scanned = nil
        wipe(&bytes)
    }

    var text: JSONText { scanned! }
    var root: JSONValue { text.root }
}
