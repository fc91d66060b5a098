import PushCryptNotifications
import PushCryptPrimitives

/// The process of an app's notification service extension. The system starts one for a push, may use it for later ones, also at
/// the same time, and ends it as it likes.
final class SimulatedExtensionProcess: HostedExtension {
    private struct Running {
        let session: DeliverySession
        let exchange: HostExchange
    }

    private let configuration: ExtensionConfiguration
    /// The receipts that the process hasn't posted. They end with it, and stay in the app's store.
    let posts: BackgroundPosts
    private let running = Locked<[Running]>([])
    private let ended: Locked<Bool>
    private let reports: @Sendable (_ requestID: String?, DeliveryReport) -> Void

    init(
        _ configuration: ExtensionConfiguration, _ posts: BackgroundPosts,
        reports: @escaping @Sendable (String?, DeliveryReport) -> Void
    ) {
        let ended = Locked(false)
        var configuration = configuration
        // The sessions of a process that has ended run on here, but must not change what a real device would have.
        configuration.lockKeysAndStore { ended.withLock { $0 } }
        (self.configuration, self.ended, self.posts, self.reports) = (configuration, ended, posts, reports)
    }

    var hasEnded: Bool { ended.withLock { $0 } }

    func didReceive(_ payload: [UInt8], _ exchange: HostExchange) {
        guard !hasEnded else { return exchange.processDied() }
        var configuration = configuration
        let (earlier, reports) = (configuration.diagnostics, reports)
        configuration.diagnostics = ReportTap { report in
            earlier?.report(report)
            reports(exchange.requestID, report)
        }
        let session = DeliverySession(
            payload: payload, requestID: exchange.requestID, configuration: configuration,
            convert: { content in
                let refused = content.attachments.filter { AttachmentFile.refusal($0) != nil }
                return DeliverySession.SystemForm(refused: refused, userInfo: content.userInfo) { delivery in
                    exchange.hand(over: delivery.content)
                }
            })
        running.withLock { $0.append(Running(session: session, exchange: exchange)) }
        session.start()
    }

    func timeWillExpire() {
        for one in running.withLock({ $0 }) { one.session.expire() }
    }

    /// Ends the process: its sessions hand over nothing any more.
    func end() {
        ended.withLock { $0 = true }
        for one in running.withLock({ $0 }) { one.exchange.processDied() }
    }
}

private struct ReportTap: DeliveryReporter {
    let body: @Sendable (DeliveryReport) -> Void

    func report(_ report: DeliveryReport) { body(report) }
}

/// The posts that a process runs after its notifications are shown.
final class BackgroundPosts: Sendable {
    private let waiting = Locked<[@Sendable () async -> Void]>([])

    var isEmpty: Bool { waiting.withLock { $0.isEmpty } }

    func add(_ post: @escaping @Sendable () async -> Void) { waiting.withLock { $0.append(post) } }

    func run() async {
        while let post = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { await post() }
    }
}
