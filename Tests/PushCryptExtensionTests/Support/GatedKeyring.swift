import Dispatch
import PushCryptExtension
import PushCryptTestSupport

/// A keyring that responds when the test releases it, and gives a signal when it is deallocated with its session.
final class GatedKeyring: RecipientKeyring {
    private let keyring: any RecipientKeyring
    private let gate = DispatchSemaphore(value: 0)
    private let asked: Signal
    private let gone: Signal

    /// - Parameters:
    ///   - asked: given when the session asks for a key.
    ///   - gone: given when the keyring is deallocated.
    init(_ keyring: any RecipientKeyring, asked: Signal, gone: Signal) {
        self.keyring = keyring
        self.asked = asked
        self.gone = gone
    }

    deinit {
        gone.give()
    }

    func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey {
        asked.give()
        gate.wait()
        return try keyring.key(id, at: time)
    }

    /// Lets one request return.
    func release() {
        gate.signal()
    }
}
