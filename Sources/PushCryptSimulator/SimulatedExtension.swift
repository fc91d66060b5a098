import PushCryptExtension
import PushCryptPrimitives

/// The process of an app's notification service extension. The system starts one for a push, may use it for later ones, also at
/// the same time, and ends it as it likes.
final class SimulatedExtensionProcess: Sendable {
    private struct State {
        var hasEnded = false
        var startedCount = 0
        /// The pushes that have handed over nothing yet.
        var exchanges: [Int: HostExchange] = [:]
    }

    private let configuration: ExtensionConfiguration
    /// The receipts that the process hasn't posted. They end with it, and stay in the app's store.
    let posts: BackgroundPosts
    private let state: Locked<State>

    init(_ configuration: ExtensionConfiguration, _ posts: BackgroundPosts) {
        let state = Locked(State())
        var configuration = configuration
        // The sessions of a process that has ended run on here, but must not change what a real device would have.
        configuration.lockKeysAndStore { state.withLock { $0.hasEnded } }
        (self.configuration, self.state, self.posts) = (configuration, state, posts)
    }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// A session for a push; nil if the process has ended.
    func session(_ payload: [UInt8], _ exchange: HostExchange, _ report: AwaitedReport) -> DeliverySession? {
        let number = state.withLock { state -> Int? in
            guard !state.hasEnded else { return nil }
            state.startedCount += 1
            state.exchanges[state.startedCount] = exchange
            return state.startedCount
        }
        guard let number else { return nil }
        var configuration = configuration
        configuration.diagnostics = ReportTap(earlier: configuration.diagnostics, awaited: report)
        return DeliverySession(
            payload: payload, requestID: exchange.requestID, configuration: configuration,
            convert: { [state] content in
                let refused = AttachmentFile.refused(of: content)
                return DeliverySession.SystemForm(refused: refused, userInfo: content.userInfo) { delivery in
                    state.withLock { $0.exchanges[number] = nil }
                    exchange.hand(over: delivery.content)
                }
            })
    }

    /// Ends the process: its sessions hand over nothing any more, and its receipts aren't posted.
    func end() {
        let exchanges = state.withLock { state in
            state.hasEnded = true
            defer { state.exchanges = [:] }
            return state.exchanges.values.map(\.self)
        }
        posts.end()
        for exchange in exchanges { exchange.processDied() }
    }
}

/// The object of the extension that receives one push. The system makes one for each push, and warns that one.
final class SimulatedService: HostedExtension {
    private let process: SimulatedExtensionProcess
    private let report: AwaitedReport
    private let session = Locked<DeliverySession?>(nil)

    /// - Parameter report: receives the report of the push.
    init(in process: SimulatedExtensionProcess, _ report: AwaitedReport) {
        (self.process, self.report) = (process, report)
    }

    func didReceive(_ payload: [UInt8], _ exchange: HostExchange) {
        guard let made = process.session(payload, exchange, report) else { return exchange.processDied() }
        session.withLock { $0 = made }
        made.start()
    }

    func timeWillExpire() { session.withLock { $0 }?.expire() }
}

private struct ReportTap: DeliveryReporter {
    let earlier: (any DeliveryReporter)?
    let awaited: AwaitedReport

    func report(_ report: DeliveryReport) {
        earlier?.report(report)
        awaited.end(report)
    }
}

/// The posts that a process runs after its notifications are shown.
final class BackgroundPosts: Sendable {
    private struct State {
        var hasEnded = false
        var waiting: [@Sendable () async -> Void] = []
        var running: [Int: Task<Void, Never>] = [:]
        var startedCount = 0
    }

    private let state = Locked(State())

    func add(_ post: @escaping @Sendable () async -> Void) { state.withLock { $0.waiting.append(post) } }

    /// Runs the posts, one after the other.
    func run() async {
        while let (number, task) = startNext() {
            await task.value
            state.withLock { $0.running[number] = nil }
        }
    }

    private func startNext() -> (Int, Task<Void, Never>)? {
        state.withLock { state in
            guard !state.hasEnded, !state.waiting.isEmpty else { return nil }
            let post = state.waiting.removeFirst()
            let task = Task { await post() }
            state.startedCount += 1
            state.running[state.startedCount] = task
            return (state.startedCount, task)
        }
    }

    /// Ends what runs and what waits.
    func end() {
        let running = state.withLock { state in
            state.hasEnded = true
            return state.running.values.map(\.self)
        }
        for task in running { task.cancel() }
    }
}
