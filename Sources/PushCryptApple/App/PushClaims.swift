public import PushCryptCore
public import PushCryptExtension
import PushCryptPrimitives

extension Opener {
    /// Opens the push of `application(_:didReceiveRemoteNotification:)`, once for its message: see
    /// `claiming(_:in:at:)`.
    ///
    /// The system hands the app the outer payload, also if the extension has restored the notification. Nothing of it but the
    /// sealed message is used. It doesn't leave the caller's actor with the dictionary, which isn't sendable.
    ///
    /// - Parameters:
    ///   - userInfo: the dictionary that the app received.
    ///   - store: with the role `SharedStore.Role.app`.
    nonisolated(nonsending) public func claiming(
        userInfo: [AnyHashable: Any], in store: SharedStore, at time: UnixTime = .now
    ) async -> Result<OpenedPush, FailureClass> {
        let payload = UserInfoJSON.json(userInfo)
        // It waits for keys and store, and the caller may be on the main thread.
        return await DedicatedThread.value { claiming(payload, in: store, at: time) }
    }
}
