import PushCryptCore
public import PushCryptNotifications
import PushCryptPrimitives

/// A device that receives pushes without a device: APNs' checks, the app's notification service extension with the system's
/// contract, and the notification centre. Time is that of ``clock``.
///
/// ```
/// receive ‑> APNs refuses? -> off line: stored by APNs
///         -> alert with mutable-content: 1, and alerts allowed -> extension -> centre
///         -> other alert                                                    -> centre
/// ```
public final class SimulatedDevice: Sendable {
    /// The device and its system.
    public struct Options: Sendable {
        /// How long the system waits for the extension before it calls `serviceExtensionTimeWillExpire`, and afterwards for its
        /// last chance. `UNNotificationServiceExtension`: no more than 30 seconds in total.
        public var timeLimit: Duration = .seconds(30)
        /// The part of ``timeLimit`` after the warning. Apple's documentation doesn't name it.
        public var grace: Duration = .seconds(1)
        /// Whether the extension has the entitlement for notification filtering.
        public var hasFilteringEntitlement = false
        /// How much memory the extension's process may use, in bytes; the system ends a process that uses more. Apple's
        /// documentation names no number; 24 MB is what devices were seen to allow.
        public var memoryLimitInBytes = 24 << 20
        /// When the system ends the extension's process for another reason, after the start of each push; nil for never.
        public var endsProcessAfter: Duration?
        /// How long the simulator waits, in real time, for code that waits for something else than the simulated clock. Then the
        /// clock moves to the next event, such as the extension's deadline, and ``Reception/ranOutOfPatience`` is true. nil waits
        /// for ever. Code that waits only for the simulated clock or network ends long before.
        public var patience: Duration? = .seconds(10)
        /// Which pushes APNs keeps for a device that is off line.
        public var storage = OfflineStorage.last

        /// Creates options with the defaults.
        public init() {}
    }

    /// Which pushes APNs keeps for a device that is off line.
    public struct OfflineStorage: Hashable, Sendable {
        private let name: String

        /// One push of each app, the last. "Viewing the status of push notifications using Metrics and APNs": APNs keeps one
        /// push of an app, in most cases the last.
        public static let last = OfflineStorage(name: "last")
        /// All pushes. No page of Apple's says so today; it is a test of what an app does with several.
        public static let all = OfflineStorage(name: "all")
    }

    /// What became of a push.
    public struct Reception: Hashable, Sendable {
        /// Why APNs refused it; nil if it didn't.
        public var refusal: PushRefusal?
        /// Whether APNs keeps it, because the device is off line.
        public var isStored = false
        /// The system's name of the notification; nil if there is none.
        public var requestID: String?
        /// What a device without the extension shows; nil for a push without an alert.
        public var original: NotificationContent?
        /// What this device shows, and why; nil for a push without an alert.
        public var presentation: Presentation?
        /// The extension's report; nil if it didn't run, or ended without one.
        public var report: DeliveryReport?
        /// Whether the clock was moved after ``Options/patience``, because code waited for something that the simulated clock
        /// doesn't know, such as a real server. ``report`` names a stage that didn't end.
        public var ranOutOfPatience = false

        /// What this device shows; nil for nothing.
        public var content: NotificationContent? { presentation?.content }
        /// Why the push wasn't restored completely; nil if it was. A push that the extension didn't receive has none either:
        /// see ``isRestored``.
        public var failure: FailureClass? { report?.failure }
        /// Whether the extension has restored the text, and it is shown.
        public var isRestored: Bool { report?.isRestored == true && presentation?.origin == .handedOver }
    }

    private struct StoredPush {
        let payload: [UInt8]
        let headers: PushHeaders
        let time: UnixTime

        /// "Sending notification requests to APNs": a push is kept for 30 days or less.
        private static let longestStorage: Int64 = 30 * 86_400

        /// When APNs stops trying.
        var expiration: UnixTime {
            let latest = time + Self.longestStorage
            return headers.expiration.map { min($0, latest) } ?? latest
        }
    }

    private struct State {
        var isInstalled = true
        var isOffline = false
        var isBeforeFirstUnlock = false
        var clockError: Duration = .zero
        /// The pushes that APNs keeps, in their order.
        var stored: [StoredPush] = []
        var pushCount = 0
        var reports: [String: AwaitedReport] = [:]

        /// "Sending notification requests to APNs": a push replaces the one with the same collapse id.
        mutating func keep(_ push: StoredPush, _ storage: OfflineStorage) {
            if storage == .last { stored = [] }
            if let id = push.headers.collapseID { stored.removeAll { $0.headers.collapseID == id } }
            stored.append(push)
        }
    }

    /// The app's bundle identifier.
    public let topic: String
    /// The time of the device and of APNs.
    public let clock: SimulatedClock
    /// The network of the extension.
    public let network: SimulatedNetwork
    /// The notification centre of the app.
    public let center: SimulatedNotificationCenter
    /// The memory of the extension's process.
    public let memory: SimulatedMemory

    private let options: Options
    private let configure: (@Sendable (SimulatedDevice) throws -> ExtensionConfiguration)?
    private let state = Locked(State())
    private let process = RunningProcess()

    /// Creates a device on which the app is installed.
    ///
    /// - Parameters:
    ///   - topic: the app's bundle identifier.
    ///   - configure: makes the configuration of the extension, once for each process, as `configure()` of
    ///     `PushCryptNotificationService` does; nil for an app without extension. The device replaces its clocks and timer, and
    ///     locks its keys and store before the first unlock.
    public init(
        topic: String, clock: SimulatedClock = SimulatedClock(), options: Options = Options(),
        center: SimulatedNotificationCenter? = nil,
        extension configure: (@Sendable (SimulatedDevice) throws -> ExtensionConfiguration)?
    ) {
        self.topic = topic
        self.clock = clock
        self.options = options
        self.configure = configure
        self.center = center ?? SimulatedNotificationCenter(clock)
        let process = process
        memory = SimulatedMemory(limitInBytes: options.memoryLimitInBytes) { process.end() }
        network = SimulatedNetwork(clock, memory: memory)
    }

    /// The time that the device shows: that of the clock and its error.
    public var time: UnixTime { clock.time + state.withLock { $0.clockError.components.seconds } }

    /// By how much the device's clock is wrong; positive if it is fast.
    public var clockError: Duration {
        get { state.withLock { $0.clockError } }
        set { state.withLock { $0.clockError = newValue } }
    }

    /// Whether the device was restarted and not unlocked since: keys and protected files can't be read.
    public var isBeforeFirstUnlock: Bool { state.withLock { $0.isBeforeFirstUnlock } }

    /// Restarts the device: the extension's process ends, and keys and files are locked until ``unlock()``.
    public func restart() {
        endExtensionProcess()
        state.withLock { $0.isBeforeFirstUnlock = true }
        center.isLocked = true
        center.appState = .notRunning
    }

    /// Locks the screen.
    public func lock() { center.isLocked = true }

    /// Unlocks the device.
    public func unlock() {
        state.withLock { $0.isBeforeFirstUnlock = false }
        center.isLocked = false
    }

    /// Deletes the app: APNs refuses further pushes with `Unregistered`.
    public func deleteApp() {
        endExtensionProcess()
        state.withLock { $0.isInstalled = false }
        center.removeAllDelivered()
        center.removeAllPending()
    }

    /// Ends the extension's process, as the system does at any time: for memory, or because it isn't needed. Pushes that it
    /// is restoring show their original. The next push starts another process.
    public func endExtensionProcess() { process.end() }

    /// Whether the device is off line.
    public var isOffline: Bool { state.withLock { $0.isOffline } }

    /// Switches airplane mode on. APNs keeps the pushes of ``Options/storage`` until they expire, and for 30 days at most.
    public func goOffline() {
        network.isOffline = true
        state.withLock { $0.isOffline = true }
    }

    /// Switches airplane mode off, and receives the push that APNs has kept; with ``OfflineStorage/all`` each of them.
    ///
    /// - Returns: what became of the last one; nil if there is none, or it has expired.
    @discardableResult
    public func goOnline() async -> Reception? { await goOnlineReceivingAll().last }

    /// Switches airplane mode off, and receives the pushes that APNs has kept and that haven't expired, in their order.
    public func goOnlineReceivingAll() async -> [Reception] {
        network.isOffline = false
        let stored = state.withLock { state in
            state.isOffline = false
            defer { state.stored = [] }
            return state.stored
        }
        var receptions: [Reception] = []
        for push in stored where clock.time < push.expiration { receptions.append(await deliver(push)) }
        return receptions
    }

    /// Receives a request to APNs for this device.
    ///
    /// - Parameters:
    ///   - payload: the body of the request, UTF-8 JSON.
    ///   - headers: those of an alert for this app if nil.
    public func receive(_ payload: [UInt8], _ headers: PushHeaders? = nil) async -> Reception {
        let headers = headers ?? PushHeaders(topic: topic)
        let installed = state.withLock { $0.isInstalled } ? topic : nil
        if let refusal = PushService.refusal(of: payload, headers, installed: installed) {
            return Reception(refusal: refusal)
        }
        let push = StoredPush(payload: payload, headers: headers, time: clock.time)
        guard !isOffline else {
            // "Sending notification requests to APNs": with the expiration 0 a push isn't stored.
            guard headers.expiration != UnixTime(0) else { return Reception() }
            state.withLock { $0.keep(push, options.storage) }
            return Reception(isStored: true)
        }
        return await deliver(push)
    }

    private func deliver(_ push: StoredPush) async -> Reception {
        var reception = Reception()
        guard push.headers.pushType == "alert" else { return reception }
        guard let original = NotificationContent(unmodified: push.payload) else {
            await deliverWithoutText(push)
            return reception
        }
        let requestID = requestID(of: push)
        (reception.requestID, reception.original) = (requestID, original)
        guard center.currentSettings.showsAlerts else {
            reception.presentation = Presentation(content: nil, origin: .notAllowed)
            var silent = original
            (silent.title, silent.subtitle, silent.body) = (.init(), .init(), .init())
            await present(silent, requestID)
            return reception
        }
        let report = AwaitedReport()
        state.withLock { $0.reports[requestID] = report }
        let hasWaited = Locked(false)
        let presentation = await presentation(of: push.payload, original, requestID) {
            hasWaited.withLock { $0 = true }
        }
        reception.ranOutOfPatience = hasWaited.withLock { $0 }
        defer { _ = state.withLock { $0.reports.removeValue(forKey: requestID) } }
        reception.presentation = presentation
        // A session reports after it has called the handler, and one that didn't call it may never report.
        if let origin = presentation?.origin, ![.notRun, .expired, .died].contains(origin) {
            reception.report = await report.value
        }
        if var content = presentation?.content {
            content = center.takeFiles(of: content)
            reception.presentation = presentation.map { Presentation(content: content, origin: $0.origin) }
            await present(content, requestID)
        }
        await postReceipts()
        return reception
    }

    /// "Generating a remote notification": a push may only set the badge or play a sound. No extension receives it.
    private func deliverWithoutText(_ push: StoredPush) async {
        guard let content = NotificationContent(withoutText: push.payload) else { return }
        await present(content, requestID(of: push))
    }

    private func present(_ content: NotificationContent, _ requestID: String) async {
        let request = NotificationRequest(id: requestID, content: content, trigger: .push)
        await center.deliver(DeliveredNotification(request, at: clock.time))
    }

    /// "Sending notification requests to APNs": a push replaces the one with the same collapse id.
    private func requestID(of push: StoredPush) -> String {
        let number = state.withLock { state in
            state.pushCount += 1
            return state.pushCount
        }
        return push.headers.collapseID ?? "push-\(number)"
    }

    /// The receipts are posted after the notification is shown, so that its time doesn't depend on them.
    private func postReceipts() async {
        guard let posts = process.current?.posts, !posts.isEmpty else { return }
        await clock.run(patience: options.patience) { await posts.run() }
    }

    private func presentation(
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

extension SimulatedDevice.Reception: CustomStringConvertible, CustomReflectable {
    /// What became of the push, without its content, as in `placeholder is shown: unknownKey` or `refused: 413 PayloadTooLarge`.
    public var description: String {
        if let refusal { return "refused: \(refusal)" }
        if isStored { return "stored by APNs" }
        guard let presentation else { return "nothing is shown: the push has no alert" }
        let shown =
            switch presentation.origin {
            case .handedOver where isRestored: "restored"
            case .handedOver: "placeholder is shown"
            default: "\(presentation.origin)"
            }
        let stages = (report?.stageFailures ?? []).map { "stage \($0.stage) \($0.ending)" }
        let reasons = [failure.map { "\($0)" }].compactMap(\.self) + stages
        return shown + (reasons.isEmpty ? "" : ": " + reasons.joined(separator: ", "))
            + (ranOutOfPatience ? "; code waited for something else than the simulated clock" : "")
    }
    /// Nothing, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The process of the extension that runs, if one runs.
private final class RunningProcess: Sendable {
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

/// The report of one push, which comes after its content.
private final class AwaitedReport: Sendable {
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
