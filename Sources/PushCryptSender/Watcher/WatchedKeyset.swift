import PushCryptCore
import PushCryptKeysets

/// Loads a watcher's keyset and decides whether a changed one is accepted.
struct WatchedKeyset: Sendable {
    let place: KeysetPlace
    let secret: KeysetSecret?
    let allowsDemoKeys: Bool
    /// A keyset that was unlocked before.
    var known: UnlockedKeyset?

    /// Parses the keyset and drops the private halves of recipient keys, which a sender doesn't need.
    func keyset(_ text: RawKeyset) throws -> Keyset {
        if let known, known.version == text.version { return known.keyset }
        let keyset = try text.keyset(secret, allowsDemoKeys: allowsDemoKeys)
        guard place.folder != nil, keyset.kind == .recipient else { return keyset }
        return try keyset.publicKeyset(keepingPSK: true)
    }

    /// - Returns: false if both have the same content.
    /// - Throws: `Refusal` if the new keyset must not replace the old one.
    func isChange(from old: Keyset, to new: Keyset) throws(Refusal) -> Bool {
        let path = place.path
        let advice = "To load an older keyset, restart the sender."
        guard new.kind == old.kind else {
            throw Refusal(
                "\(path) contains \(new.kind.rawValue) keys now and contained \(old.kind.rawValue) keys before")
        }
        guard !new.hasSameContent(as: old) else { return false }
        guard new.sequence >= old.sequence else {
            throw Refusal("\(path) went back from seq \(old.sequence) to seq \(new.sequence). \(advice)")
        }
        guard new.sequence > old.sequence || new.sequence == Self.unnumbered else {
            throw Refusal(
                "\(path) has other content with the same seq \(new.sequence), which every change by pushcrypt increases. "
                    + "To load it, restart the sender.")
        }
        if let before = old.updatedAt, let after = new.updatedAt, after < before {
            throw Refusal("\(path) went back from updatedAt \(before) to updatedAt \(after). \(advice)")
        }
        return true
    }

    /// The `seq` of a JWK, or of a set without the `pushcrypt` member. Such files have no order. A keystore counts from 1.
    private static let unnumbered: Int64 = 0

    /// Why a keyset must not replace the one in use.
    struct Refusal: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }
}

/// The key of a keyset that seals or signs, and the time span in which it does. It is kept, so that each push doesn't
/// choose a key again.
final class SealingChoice: Sendable {
    enum Key: Sendable {
        case recipient(Recipient)
        case sender(SenderKey)
    }

    let keyset: Keyset
    let entry: Keyset.Entry
    let key: Key
    private let span: Range<UnixTime>

    /// - Throws: `KeyError` with `noKeySeals`, `wrongKind` for keys that can't seal or sign, `pskMissing`.
    init(_ keyset: Keyset, at time: UnixTime) throws {
        self.keyset = keyset
        entry = try keyset.sealingEntry(at: time)
        key = keyset.kind == .sender ? .sender(try SenderKey(entry)) : .recipient(try Recipient(entry))
        span = keyset.timeline.span(around: time)
    }

    private init(_ choice: SealingChoice, endedBy keyset: Keyset) {
        self.keyset = keyset
        (entry, key) = (choice.entry, choice.key)
        span = UnixTime(.min)..<UnixTime(.min)
    }

    /// The choice after `keyset` has revoked its key. It is never valid, so each use chooses again from `keyset`.
    func ended(by keyset: Keyset) -> SealingChoice { SealingChoice(self, endedBy: keyset) }

    var isEnded: Bool { span.isEmpty }

    func isValid(at time: UnixTime) -> Bool { span.contains(time) }

    /// The first time at which another key may be the one that seals; nil if there is none.
    var endsAt: UnixTime? { span.upperBound == UnixTime(.max) ? nil : span.upperBound }
}
