import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// The keyset of publishers that signs a set, as commands name it. Each of its keys signs from its creation until it is destroyed.
/// So the signatures of a served set tell whether the keyset is an old copy.
struct PublisherKeyset: Sendable {
    let path: String
    /// Also its destroyed keys.
    let timeline: KeyTimeline

    /// What the signatures of a served set say about the keyset.
    struct Difference {
        /// Such as "www/senders.json was signed by publisher key KID, which Publisher/app has never had".
        let reason: String
        /// What to try before the set is moved away.
        let correction: String
        /// The command that moves the set away.
        let move: String
        /// The `seq` of the set.
        let sequence: Int64
        /// Whether a key of the keyset would sign again that has not signed the set.
        let revivesKey: Bool

        /// - Parameter raise: the command that raises the `seq` of the sender keyset if the number of the set can't be published again,
        ///   with `&&` behind it; empty otherwise.
        func advice(_ raise: String) -> String {
            "\(correction) move the set away, and publish again: `\(raise)\(move)`"
        }
    }

    /// Whether a set names no key of this keyset as its signer.
    func isForeign(to set: ServedSet) -> Bool { !timeline.keys.contains { set.signers.contains($0.kid) } }

    /// Such as "www/senders.json was signed by publisher key KID, and by none of Publisher/app".
    ///
    /// - Parameter paths: of publisher keysets.
    static func foreignSigners(of set: ServedSet, _ paths: String) -> String {
        "\(set.path) was signed by publisher key \(list(set.signers.sorted())), and by none of \(paths)"
    }

    /// The command that restores the newest backup of this keyset.
    var restore: String { KeysetFolder(path).restoreCommand("") }

    private var live: [KeyTimeline.Key] { timeline.keys.filter { $0.lifecycle.destroyedAt == nil } }

    /// The keys that sign.
    var signers: Set<KeyID> { Set(live.map(\.kid)) }
    /// Such as "KID, KID".
    var signingKeys: String { Self.list(signers.sorted()) }

    /// What apps must pin to accept its sets. A destroyed key of an old copy may be stolen.
    var pinned: String { "\(path) (key \(signingKeys)), and no key of it was destroyed elsewhere" }

    /// Whether a set names a key that signs as its signer.
    func hasSigner(of set: ServedSet) -> Bool { live.contains { set.signers.contains($0.kid) } }

    /// How a set differs from what this keyset signs; nil if it doesn't, or if another keyset has signed the set. Also nil if only keys
    /// have signed it that are destroyed here: then this keyset is newer than the one that has signed the set.
    ///
    /// - Parameters:
    ///   - others: publisher keys of other keysets that may have signed it, too.
    ///   - cosigners: keys that have signed a set together with a key of this keyset. All signers of a set are of one keyset.
    func difference(from set: ServedSet, others: Set<KeyID> = [], cosigners: Set<KeyID> = []) -> Difference? {
        guard let issuedAt = set.publication?.issuedAt,
            hasSigner(of: set) || isForeign(to: set) && !cosigners.isDisjoint(with: set.signers)
        else { return nil }
        let unknown = set.signers.subtracting(timeline.keys.map(\.kid)).subtracting(others).sorted()
        let absent = live.filter { key in
            !set.signers.contains(key.kid) && key.lifecycle.createdAt.map { $0 < issuedAt } ?? false
        }.map(\.kid).sorted()
        let restore = "Restore the newest backup of \(path): `\(restore)`"
        let move = PublishedKeyset.moveAway(set.path)
        if !unknown.isEmpty, hasSigner(of: set) {
            return Difference(
                reason:
                    "\(set.path) was signed by publisher key \(Self.list(unknown)), which \(path) has never had: it is an old "
                    + "copy, and apps that pin only that key would refuse its sets",
                correction: "\(restore). If the key is lost,", move: move, sequence: set.sequence,
                revivesKey: false)
        }
        guard !absent.isEmpty else { return nil }
        let destroy = absent.map {
            "`pushcrypt keys destroy \(ShellArgument.quoted(path)) --force \(ShellArgument.last($0))`"
        }.joined(separator: ", ")
        let isLast = absent.count == live.count
        return Difference(
            reason:
                "\(set.path) was not signed by publisher key \(Self.list(absent)), which is older: either it was destroyed since, "
                + "and \(path) is an old copy, or an old copy has signed the set",
            correction: restore + (isLast ? ". " : ". If the key was destroyed, destroy it here, too: \(destroy). ")
                + "If you know that it was not destroyed,",
            move: move, sequence: set.sequence, revivesKey: true)
    }

    /// A key that was destroyed or added after a set was signed; nil if there is none. Until the set is signed again, it doesn't show
    /// that the key was destroyed, and apps that pin only the added key refuse it.
    func unpublishedChange(since set: ServedSet) -> String? {
        guard !isForeign(to: set) else { return nil }
        let destroyed = timeline.keys.filter { $0.lifecycle.destroyedAt != nil && set.signers.contains($0.kid) }
        let added = timeline.keys.filter { key in
            key.lifecycle.destroyedAt == nil && !set.signers.contains(key.kid)
                && set.publication.map { $0.issuedAt <= key.lifecycle.createdAt ?? $0.issuedAt } ?? false
        }
        let changes = [("is signed", destroyed, "was destroyed"), ("isn't signed", added, "was added")].filter {
            !$0.1.isEmpty
        }.map { verb, keys, change in
            "\(verb) by publisher key \(Self.list(keys.map(\.kid).sorted())), which \(change) since"
        }
        return changes.isEmpty
            ? nil : "\(set.path) \(changes.joined(separator: ", and ")): publish a new set"
    }

    static func list(_ kids: [KeyID]) -> String { kids.map(\.description).joined(separator: ", ") }
}
