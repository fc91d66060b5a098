import PushCryptNotifications
import PushCryptPrimitives

/// The app on a phone: it presents as the user of the tool says, and keeps what it receives.
final class SimulatedApp: NotificationResponder {
    /// What the app learns of from the system.
    struct Call: Sendable {
        /// `open`, `dismiss`, `openSettings`, or the identifier of an action.
        let action: String
        let text: String?
        /// nil if the user asks for the app's settings from the Settings app.
        let notification: ReceivedNotification?

        /// The name of the notification, if it was opened and verified.
        var restoredID: String? {
            if case .restored(let restored) = notification { return restored.requestID }
            return nil
        }
    }

    private struct State {
        var presents: PresentationOptions
        var isAllowed: Bool
        var calls: [Call] = []
        var presentationCount = 0
    }

    nonisolated private let state: Locked<State>

    /// - Parameters:
    ///   - presents: how it presents a notification while it is in the foreground.
    ///   - isAllowed: the user's answer to its question.
    nonisolated init(presents: PresentationOptions, isAllowed: Bool) {
        state = Locked(State(presents: presents, isAllowed: isAllowed))
    }

    nonisolated var presents: PresentationOptions {
        get { state.withLock { $0.presents } }
        set { state.withLock { $0.presents = newValue } }
    }

    nonisolated var isAllowed: Bool {
        get { state.withLock { $0.isAllowed } }
        set { state.withLock { $0.isAllowed = newValue } }
    }

    /// How often the system asked the app in the foreground.
    nonisolated var presentationCount: Int { state.withLock { $0.presentationCount } }

    nonisolated func takeCalls() -> [Call] {
        state.withLock { state in
            defer { state.calls = [] }
            return state.calls
        }
    }

    func presentation(of notification: ReceivedNotification) async -> PresentationOptions {
        state.withLock { state in
            state.presentationCount += 1
            return state.presents
        }
    }

    func received(_ response: ReceivedResponse) async {
        let action =
            switch response.action {
            case .open: "open"
            case .dismiss: "dismiss"
            case .custom(let id): id
            }
        add(Call(action: action, text: response.text, notification: response.notification))
    }

    func openSettings(from notification: ReceivedNotification?) async {
        add(Call(action: "openSettings", text: nil, notification: notification))
    }

    nonisolated private func add(_ call: Call) { state.withLock { $0.calls.append(call) } }
}

extension ReceivedNotification {
    var id: String {
        switch self {
        case .restored(let restored): restored.requestID
        case .local(let request): request.id
        case .unverified(let unverified): unverified.requestID
        }
    }

    /// What the app may rely on: `restored`, `local`, or why it isn't verified.
    var kind: String {
        switch self {
        case .restored: "restored"
        case .local: "local"
        case .unverified(let unverified): unverified.reason.name
        }
    }
}
