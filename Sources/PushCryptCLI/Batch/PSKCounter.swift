import PushCryptCore
import PushCryptPrimitives

/// Counts the pushes of a batch that were sealed to public keys with a psk and without one.
///
/// An app uploads a psk with each of its keys or with none, so a key without one beside others with one suggests a record that
/// lost its psk.
final class PSKCounter: Sendable {
    private let counts = Locked((withPSK: 0, withoutPSK: 0))

    func count(_ recipient: Recipient) {
        guard recipient.suite != .shared else { return }
        let hasPSK = recipient.hasSecret
        counts.withLock { if hasPSK { $0.withPSK += 1 } else { $0.withoutPSK += 1 } }
    }

    func noteLostSecrets() {
        let (withPSK, withoutPSK) = counts.withLock { $0 }
        guard withPSK > 0, withoutPSK > 0 else { return }
        StandardStreams.writeNote(
            "\(NumberText.counted(withPSK, "push")) used a psk, and \(withoutPSK) had none: a device can't "
                + "open a push if the record lost its psk; --require-psk refuses these lines")
    }
}
