import PushCryptPrimitives

/// The memory of the extension's process, as far as a simulation knows it: the pieces that the network hands over, and what the
/// code under test says it uses. Nothing is measured; a test that measures runs the extension in a process of its own.
///
/// The system ends an extension that uses too much memory, and shows the original: "App Extension Programming Guide", "Optimize
/// Efficiency and Performance".
public final class SimulatedMemory: Sendable {
    private struct State {
        var used = 0
        var peak = 0
    }

    /// How much the process may use, in bytes.
    public let limitInBytes: Int
    private let state = Locked(State())
    private let endProcess: @Sendable () -> Void

    init(limitInBytes: Int, endProcess: @escaping @Sendable () -> Void) {
        self.limitInBytes = limitInBytes
        self.endProcess = endProcess
    }

    /// How many bytes are used.
    public var usedInBytes: Int { state.withLock { $0.used } }

    /// The most that was used at the same time, in bytes, by any process.
    public var peakInBytes: Int { state.withLock { $0.peak } }

    /// Uses memory, as a stage does that decodes an image. Over the limit the process ends at once: it hands over nothing any
    /// more, and its pushes show their original.
    public func use(_ byteCount: Int) {
        let used = state.withLock { state in
            state.used += max(byteCount, 0)
            state.peak = max(state.peak, state.used)
            return state.used
        }
        if used > limitInBytes { endProcess() }
    }

    /// Releases memory that ``use(_:)`` has used.
    public func release(_ byteCount: Int) { state.withLock { $0.used = max($0.used - max(byteCount, 0), 0) } }

    func releaseAll() { state.withLock { $0.used = 0 } }
}
