import PushCryptExtension
import PushCryptPrimitives

/// The report of one push, which comes after its content.
final class AwaitedReport: Sendable {
    private enum State {
        case none
        case awaited(CheckedContinuation<DeliveryReport?, Never>)
        case ended(DeliveryReport?)
    }

    private let state = Locked(State.none)

    var value: DeliveryReport? {
        get async {
            await withCheckedContinuation { continuation in
                let report = state.withLock { state -> DeliveryReport?? in
                    if case .ended(let report) = state { return .some(report) }
                    state = .awaited(continuation)
                    return .none
                }
                if let report { continuation.resume(returning: report) }
            }
        }
    }

    func end(_ report: DeliveryReport?) {
        let continuation = state.withLock { state -> CheckedContinuation<DeliveryReport?, Never>? in
            defer { state = .ended(report) }
            if case .awaited(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume(returning: report)
    }
}
