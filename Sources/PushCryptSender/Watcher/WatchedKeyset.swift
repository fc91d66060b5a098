import PushCryptCore
import PushCryptKeysets

/// Loads a watcher's keyset and decides whether a changed one is accepted.
struct WatchedKeyset: Sendable {
    let place: KeysetPlace
    let secret: KeysetSecret?
    let allowsDemoKeys: Bool
    var allowsLowerSuite = false
    /// A keyset that was unlocked before.
    var known: UnlockedKeyset?

    /// Parses the keyset and drops the private halves of recipient keys, which a sender doesn't need.
    func unlocked(_ text: RawKeyset) throws -> UnlockedKeyset {
        if let known, known.version == text.version { return known }
        var unlocked = try text.unlocked(secret, allowsDemoKeys: allowsDemoKeys)
        if unlocked.log != nil, unlocked.keyset.kind == .recipient {
            unlocked.keyset = try unlocked.keyset.publicKeyset(keepingPSK: true)
        }
        unlocked.keyset.allowsLowerSuite = allowsLowerSuite
        return unlocked
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
