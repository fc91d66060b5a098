import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives

/// One push that an extension works on: it ends once.
final class HostedRequest: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Presentation, Never>?
        var wasHandled = false
        var cleanUp: [@Sendable () -> Void] = []
    }

    private let original: NotificationContent
    private let state: Locked<State>

    init(_ original: NotificationContent, _ continuation: CheckedContinuation<Presentation, Never>) {
        self.original = original
        state = Locked(State(continuation: continuation))
    }

    /// - Returns: whether this is the first call.
    func handlerWasCalled() -> Bool {
        state.withLock { state in
            defer { state.wasHandled = true }
            return !state.wasHandled
        }
    }

    func end(_ content: NotificationContent) {
        end(content.hasText ? Presentation(content: content, origin: .handedOver) : shown(.emptied))
    }

    func end(_ origin: Presentation.Origin) { end(shown(origin)) }

    /// Calls `body` at the end, or at once if that has come.
    func whenEnded(_ body: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if state.continuation != nil { state.cleanUp.append(body) }
            return state.continuation == nil
        }
        if isOver { body() }
    }

    private func shown(_ origin: Presentation.Origin) -> Presentation {
        Presentation(content: original, origin: origin)
    }

    private func end(_ presentation: Presentation) {
        let last = state.withLock { state in
            defer { (state.continuation, state.cleanUp) = (nil, []) }
            return state
        }
        guard let continuation = last.continuation else { return }
        for body in last.cleanUp { body() }
        continuation.resume(returning: presentation)
    }
}
