import PushCryptCore
import PushCryptPrimitives
import PushCryptSender

/// Counts pushes of a batch that a note at its end tells of.
final class SealCounter: Sendable {
    private let counts = Locked((withPSK: 0, withoutPSK: 0, withNotes: 0))

    func count(_ recipient: Recipient, _ push: SealedPush) {
        let hasPSK = recipient.suite == .shared ? nil : recipient.hasSecret
        guard hasPSK != nil || !push.warnings.isEmpty else { return }
        counts.withLock {
            if let hasPSK { if hasPSK { $0.withPSK += 1 } else { $0.withoutPSK += 1 } }
            $0.withNotes += push.warnings.isEmpty ? 0 : 1
        }
    }

    func writeNotes() {
        let (withPSK, withoutPSK, withNotes) = counts.withLock { $0 }
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
