import PushCryptCore
public import PushCryptExtension
import PushCryptPrimitives

/// How the device runs the app's extension.
extension SimulatedDevice {
    /// - Parameter report: receives the extension's report, or its end without one.
    func presentation(
        of payload: [UInt8], _ original: NotificationContent, _ requestID: String, _ report: AwaitedReport
    ) async -> PresentedContent? {
        guard let configure else { return PresentedContent(content: original, origin: .notRun) }
        let process: SimulatedExtensionProcess
        do {
            process = try runningProcess(configure)
        } catch {
            let failure = error as? FailureClass ?? .internalError
            report.end(nil)
            return PresentedContent(
                content: Fallback.bundled(.standard).content(for: payload, failure), origin: .handedOver)
        }
        if let time = options.endsProcessAfter, time <= .zero { process.end() }
        let limits = NotificationHost.TimeLimits(warning: options.timeLimit - options.grace, grace: options.grace)
        let host = NotificationHost(
            SimulatedService(in: process, report), timer: clock, limits: limits,
            hasFilteringEntitlement: options.hasFilteringEntitlement)
        return await host.deliver(payload, requestID: requestID)
    }

    /// The running process of the extension, or a new one.
    private func runningProcess(
        _ configure: @Sendable (SimulatedDevice) throws -> ExtensionConfiguration
    ) throws -> SimulatedExtensionProcess {
        if let running = process.current { return running }
        memory.releaseAll()
        let posts = BackgroundPosts()
        return process.start(SimulatedExtensionProcess(try configuration(configure, posts), posts))
    }

    /// What an app calls when it becomes active, with the configuration of its extension: opens placeholders that the extension
    /// couldn't open before the first unlock. Create one for each start of the app.
    ///
    /// - Returns: nil for an app without extension.
    /// - Throws: the error of the configuration.
    public func keptNotifications() throws -> KeptNotifications? {
        try configure.map { configure in
            let posts = BackgroundPosts()
            var kept = KeptNotifications(try configuration(configure, posts), in: center)
            kept.systemForm = { (AttachmentFile.refused(of: $0), $0.userInfo) }
            kept.perform = { [clock, options] open in
                await clock.run(patience: options.patience) {
                    let delivery = await open()
                    await posts.run()
                    return delivery
                }
            }
            return kept
        }
    }

    /// A configuration with the clocks of the device, and with its locks.
    ///
    /// - Parameter posts: receives the posts of receipts.
    private func configuration(
        _ configure: @Sendable (SimulatedDevice) throws -> ExtensionConfiguration, _ posts: BackgroundPosts
    ) throws -> ExtensionConfiguration {
        var configuration = try configure(self)
        configuration.clock = { [weak self] in self?.time ?? .now }
        configuration.stopwatch = { [clock] in clock.instant }
        configuration.timer = clock
        configuration.threads = { [clock] in clock.threads }
        if var stage = configuration.attachments as? AttachmentStage {
            (stage.timer, stage.now) = (clock, { [clock] in clock.instant })
            configuration.attachments = stage
        }
        configuration.receipts?.timer = clock
        configuration.receipts?.launch = { posts.add($0) }
        configuration.receipts?.delay?.sleep = { [clock] in try await clock.sleep(for: $0) }
        configuration.deliveredNotifications = configuration.deliveredNotifications ?? center
        configuration.strings = configuration.strings ?? center.strings
        let isLocked: @Sendable () -> Bool = { [weak self] in self?.isBeforeFirstUnlock ?? false }
        configuration.lockKeysAndStore(while: isLocked)
        return configuration
    }
}
