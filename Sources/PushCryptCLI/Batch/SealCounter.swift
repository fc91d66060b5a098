import PushCryptCore
import PushCryptPrimitives
import PushCryptSender

extension SealedPush {
    /// What devices ignore or change, and whether the push opens for longer than a day's.
    var notes: [String] {
        warnings.map(\.description)
            + (usesLastResortKey ? ["the device has no day key for today: its last-resort key was used"] : [])
    }
}

/// Counts pushes of a batch that a note at its end tells of.
final class SealCounter: Sendable {
    private let counts = Locked((withPSK: 0, withoutPSK: 0, withNotes: 0, lastResort: 0))

    func count(_ recipient: Recipient, _ push: SealedPush) {
        let hasPSK = recipient.suite == .shared ? nil : recipient.hasSecret
        guard hasPSK != nil || !push.notes.isEmpty else { return }
        counts.withLock {
            if let hasPSK { if hasPSK { $0.withPSK += 1 } else { $0.withoutPSK += 1 } }
            $0.withNotes += push.warnings.isEmpty ? 0 : 1
            $0.lastResort += push.usesLastResortKey ? 1 : 0
        }
    }

    func writeNotes() {
        let (withPSK, withoutPSK, withNotes, lastResort) = counts.withLock { $0 }
        if lastResort > 0 {
            StandardStreams.writeNote(
                "\(NumberText.counted(lastResort, "push")) used a last-resort key: the apps haven't uploaded day keys for long; see \"notes\" on stdout"
            )
        }
        if withNotes > 0 {
            let payloads = NumberText.counted(withNotes, "payload")
            StandardStreams.writeNote("devices ignore or change a part of \(payloads): see \"notes\" on stdout")
        }
        // An app uploads a psk with each of its keys or with none, so a key without one beside others with one suggests a record
        // that lost its psk.
        guard withPSK > 0, withoutPSK > 0 else { return }
        StandardStreams.writeNote(
            "\(NumberText.counted(withPSK, "push")) used a psk, and \(withoutPSK) had none: a device can't "
                + "open a push if the record lost its psk; --require-psk refuses these lines")
    }
}
