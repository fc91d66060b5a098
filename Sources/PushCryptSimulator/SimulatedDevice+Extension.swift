import PushCryptCore
public import PushCryptNotifications
import PushCryptPrimitives

/// How the device runs the app's extension.
extension SimulatedDevice {
    func presentation(
        of payload: [UInt8], _ original: NotificationContent, _ requestID: String,
        onImpatience: @escaping @Sendable () -> Void
    ) async -> Presentation? {
        guard let configure else { return Presentation(content: original, origin: .notRun) }
        let limits = NotificationHost.TimeLimits(
            warning: options.timeLimit - options.grace, grace: options.grace)
        let hasEnded: @Sendable () -> Bool = { [process] in process.current == nil }
        return await clock.run(
            patience: options.patience, unless: hasEnded, onImpatience: onImpatience
        ) { [self, clock, options] in
            let process: SimulatedExtensionProcess
            do {
                process = try runningProcess(configure)
            } catch {
                let failure = error as? FailureClass ?? .internalError
                state.withLock { $0.reports[requestID] }?.end(nil)
                return Presentation(
                    content: Fallback.bundled(.standard).content(for: payload, failure), origin: .handedOver)
            }
            let cancel = options.endsProcessAfter.map { time in
                if time <= .zero { process.end() }
                return clock.schedule(after: time) { process.end() }
            }
            defer { cancel?() }
            let host = NotificationHost(
                process, timer: clock, limits: limits, hasFilteringEntitlement: options.hasFilteringEntitlement)
            return await host.deliver(payload, requestID: requestID)
        }
    }

    /// The running process of the extension, or a new one.
    private func runningProcess(
        _ configure: @Sendable (SimulatedDevice) throws -> ExtensionConfiguration
    ) throws -> SimulatedExtensionProcess {
        if let running = process.current { return running }
        memory.releaseAll()
        var configuration = try configuration(configure)
        let posts = BackgroundPosts()
        configuration.receipts?.launch = { posts.add($0) }
        let made = SimulatedExtensionProcess(configuration, posts) { [weak self] requestID, report in
            guard let self, let requestID else { return }
            state.withLock { $0.reports[requestID] }?.end(report)
        }
        return process.start(made)
    }

    /// What an app calls when it becomes active, with the configuration of its extension: opens placeholders that the extension
    /// couldn't open before the first unlock. Create one for each start of the app.
    ///
    /// - Returns: nil for an app without extension.
    /// - Throws: the error of the configuration.
    public func keptNotifications() throws -> KeptNotifications? {
        try configure.map { KeptNotifications(try configuration($0), in: center) }
    }

    /// A configuration with the clocks of the device, and with its locks.
    private func configuration(
        _ configure: @Sendable (SimulatedDevice) throws -> ExtensionConfiguration
    ) throws -> ExtensionConfiguration {
        var configuration = try configure(self)
        configuration.clock = { [weak self] in self?.time ?? .now }
        configuration.stopwatch = { [clock] in clock.instant }
        configuration.timer = clock
        if var stage = configuration.attachments as? AttachmentStage {
            (stage.timer, stage.now) = (clock, { [clock] in clock.instant })
            configuration.attachments = stage
        }
        configuration.receipts?.timer = clock
        configuration.receipts?.delay?.sleep = { [clock] in try await clock.sleep(for: $0) }
        configuration.deliveredNotifications = configuration.deliveredNotifications ?? center
        configuration.strings = configuration.strings ?? center.strings
        let isLocked: @Sendable () -> Bool = { [weak self] in self?.isBeforeFirstUnlock ?? false }
        configuration.lockKeysAndStore(while: isLocked)
        return configuration
    }
}
