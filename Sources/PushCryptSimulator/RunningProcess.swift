import PushCryptPrimitives

/// The process of the extension that runs, if one runs.
final class RunningProcess: Sendable {
    private let running = Locked<SimulatedExtensionProcess?>(nil)

    var current: SimulatedExtensionProcess? { running.withLock { $0?.hasEnded == true ? nil : $0 } }

    /// - Returns: the process that runs already, if there is one.
    func start(_ made: SimulatedExtensionProcess) -> SimulatedExtensionProcess {
        running.withLock { running in
            if let running, !running.hasEnded { return running }
            running = made
            return made
        }
    }

    func end() { running.withLock { $0.take() }?.end() }
}
