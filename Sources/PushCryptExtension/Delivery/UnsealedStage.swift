import PushCryptCore

/// Something that works on a notification that wasn't sealed, in an app that mixes; see
/// ``DeliverySession/UnsealedPolicy/shown(stages:)``.
///
/// Its content is not authenticated: everyone who may push to the device can write it. A ``ContentStage``, which gets
/// what was opened and verified, never runs on it, and nothing that it names is fetched by the library.
public protocol UnsealedStage: DeliveryStage {
    /// - Parameter content: the whole push as it came, with what the stages before made of it.
    /// - Returns: the content from here on; content without text is thrown away.
    /// - Throws: anything: the content stays as it was, and the stage is counted as failed. The task is cancelled when
    ///   the session's time is up; whatever comes later is not used.
    func process(unsealed content: NotificationContent) async throws -> NotificationContent
}

extension DeliverySession {
    /// What becomes of a push without a `pushcrypt` member that reaches the extension.
    public struct UnsealedPolicy: Sendable {
        let isShown: Bool
        let stages: [any UnsealedStage]

        /// It is the failure `notSealed`, and the app's own text is shown.
        public static let refused = UnsealedPolicy(isShown: false, stages: [])
        /// It is no failure and passes as it came, with all its members: for apps that mix.
        public static let shown = shown(stages: [])

        /// It passes as it came, through the app's own stages for such pushes, in order.
        public static func shown(stages: [any UnsealedStage]) -> UnsealedPolicy {
            UnsealedPolicy(isShown: true, stages: stages)
        }
    }
}

extension DeliverySession.Configuration {
    /// Admits a push that wasn't sealed, where the app says so.
    ///
    /// The payload itself is looked at: a keyring of the app's own could call any payload `notSealed`.
    func admitted(_ payload: [UInt8], _ failure: FailureClass) -> Result<RestoredPush, FailureClass> {
        guard failure == .notSealed, unsealed.isShown, let root = (try? JSONText(payload))?.root,
            root.kind == .object, root["pushcrypt"] == nil, let content = NotificationContent(asItCame: payload)
        else { return .failure(failure) }
        return .success(RestoredPush(unsealed: content))
    }

    var unsealedSteps: [DeliveryStep] {
        unsealed.stages.map { stage in
            .stage(
                InnerStage(name: stage.name, timeLimit: stage.timeLimit, fetches: false) { push in
                    var next = push
                    next.content = try await stage.process(unsealed: push.content)
                    return next
                })
        }
    }
}
