import PushCryptCore
import PushCryptKeyFiles

/// What a watcher reads, and how.
struct WatchedKeyset: Sendable {
    let place: KeysetPlace
    let secret: KeysetSecret?
    let allowsDemoKeys: Bool

    /// The keys that a sender has use for: a keystore's recipient keys without their private halves.
    func keyset(_ text: KeysetText) throws -> Keyset {
        let keyset = try text.keyset(secret, allowsDemoKeys: allowsDemoKeys)
        guard case .folder = place, keyset.kind == .recipient else { return keyset }
        return try keyset.publicKeyset(keepingPSK: true)
    }

    /// Throws unless the keyset may take the place of the other one.
    func check(_ new: Keyset, after old: Keyset) throws(Refusal) {
        guard new.kind == old.kind else {
            throw Refusal("\(place.path) holds \(new.kind.rawValue) keys now and held \(old.kind.rawValue) keys")
        }
        let advice = "whoever means to go back restarts the sender"
        guard new.sequence >= old.sequence else {
            throw Refusal("\(place.path) was put back from seq \(old.sequence) to \(new.sequence); \(advice)")
        }
        if let before = old.updatedAt, let after = new.updatedAt, after < before {
            throw Refusal("\(place.path) was put back from its state of \(before) to that of \(after); \(advice)")
        }
    }

    struct Refusal: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) {
            self.description = description
        }
    }
}
