import PushCryptCore
public import PushCryptExtension
import PushCryptPrimitives

/// A simulated device that receives pushes: with APNs' checks, the app's notification service extension under the system's
/// rules, and the notification centre. Its time is that of ``clock``.
///
/// ```
/// receive -> APNs refuses? -> off line: stored by APNs
///         -> alert with mutable-content: 1, and alerts allowed -> extension -> centre
///         -> other alert                                                    -> centre
/// ```
public final class SimulatedDevice: Sendable {
    /// The device and its system.
    public struct Options: Sendable {
        /// How long the system waits for the extension: until it calls `serviceExtensionTimeWillExpire`, and ``grace`` after that
        /// call. `UNNotificationServiceExtension`: no more than 30 seconds in total.
        public var timeLimit: Duration = .seconds(30)
        /// The part of ``timeLimit`` after the warning. Apple's documentation doesn't name it.
        public var grace: Duration = .seconds(1)
        /// Whether the extension has the entitlement `com.apple.developer.usernotifications.filtering`: then it can hide a push.
        public var hasFilteringEntitlement = false
        /// How much memory the extension's process may use, in bytes; the system ends a process that uses more. Apple's
        /// documentation names no number; 24 MB is what devices were seen to allow.
        public var memoryLimitInBytes = 24 << 20
        /// When the system ends the extension's process for another reason, after the start of each push; nil for never.
        public var endsProcessAfter: Duration?
        /// How long the simulator waits, in real time, for code that waits for something other than the simulated clock. Then the
        /// clock moves to the next event of the push, such as the extension's deadline, and ``Reception/ranOutOfPatience`` is true. With nil it
        /// waits for ever. Code that waits only for the simulated clock or network ends long before.
        public var patience: Duration? = .seconds(10)
        /// Which pushes APNs keeps for a device that is off line.
        public var storage = OfflineStorage.last

        /// Creates options with the defaults.
        public init() {}
    }

    /// Which pushes APNs keeps for a device that is off line.
    public struct OfflineStorage: Hashable, Sendable {
        private let name: String

        /// One push of each app, the last. "Sending notification requests to APNs" and "Viewing the status of push notifications
        /// using Metrics and APNs", as of 2026: APNs keeps one push for each bundle identifier, in most cases the last. It is the
        /// default, because these are the later pages, and a backend that relies on more loses pushes.
        public static let last = OfflineStorage(name: "last")
        /// All pushes. "User Notifications updates", June 2024: APNs keeps several for each bundle identifier. How many, it
        /// doesn't say.
        public static let all = OfflineStorage(name: "all")
    }

    struct State {
        var isInstalled = true
        var isOffline = false
        var isBeforeFirstUnlock = false
        var clockError: Duration = .zero
        /// The pushes that APNs keeps, in their order.
        var stored: [AcceptedPush] = []
        /// How many requests for this device APNs has received.
        var requestCount = 0

        /// "Sending notification requests to APNs": a push replaces the one with the same collapse id.
        mutating func keep(_ push: AcceptedPush, _ storage: OfflineStorage) {
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

    let options: Options
    let configure: (@Sendable (SimulatedDevice) throws -> ExtensionConfiguration)?
    let state = Locked(State())
    let process = RunningProcess()

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

    /// Whether the device was restarted and not unlocked since. "Encrypting Your App’s Files" and
    /// `kSecAttrAccessibleAfterFirstUnlock`: keys and protected files can't be read then.
    public var isBeforeFirstUnlock: Bool { state.withLock { $0.isBeforeFirstUnlock } }

    /// Restarts the device: no process runs, and keys and files are locked until ``unlock()``; see ``isBeforeFirstUnlock``.
    /// The documentation is silent about the list; the strictest reading is that only the user and the app remove notifications.
    public func restart() {
        endExtensionProcess()
        state.withLock { $0.isBeforeFirstUnlock = true }
        center.isLocked = true
        center.appState = .notRunning
    }

    /// Locks the screen: see ``SimulatedNotificationCenter/isLocked``.
    public func lock() { center.isLocked = true }

    /// Unlocks the device.
    public func unlock() {
        state.withLock { $0.isBeforeFirstUnlock = false }
        center.isLocked = false
    }

    /// Deletes the app. "Handling notification responses from APNs": further pushes are `Unregistered`. The documentation is silent
    /// about when that begins and what becomes of the app's notifications, settings and kept pushes; the strictest reading is
    /// that it begins at once, and that nothing of them stays.
    public func deleteApp() {
        endExtensionProcess()
        state.withLock { state in
            state.isInstalled = false
            state.stored = []
        }
        center.forgetApp()
    }

    /// Ends the extension's process. "App Extension Programming Guide": the system does so for memory, and soon after the work is
    /// done. The documentation is silent about pushes that it is restoring; the strictest reading is that their original is shown.
    /// The next push starts another process.
    public func endExtensionProcess() { process.end() }
}

extension SimulatedDevice {
    /// What became of a push.
    public struct Reception: Hashable, Sendable {
        /// Why APNs refused it; nil if it didn't.
        public var refusal: PushRefusal?
        /// Whether APNs keeps it, because the device is off line.
        public var isStored = false
        /// Whether APNs doesn't keep it although the device is off line: its expiration is 0.
        public var isDropped = false
        /// The push type. Only an `alert` is shown.
        public var pushType = "alert"
        /// The system's name of the notification; nil if there is none.
        public var requestID: String?
        /// What a device without the extension shows; nil for a push without an alert.
        public var original: NotificationContent?
        /// What this device shows, and why; nil for a push without an alert.
        public var presentation: PresentedContent?
        /// The extension's report; nil if it didn't run, or ended without one.
        public var report: DeliveryReport?
        /// Whether the clock was moved after ``Options/patience``, because code waited for something that the simulated clock
        /// doesn't know, such as a real server. ``report`` names a stage that didn't end.
        public var ranOutOfPatience = false

        /// What this device shows, in a banner, the list or on the lock screen; nil if none of them has it. Hidden previews don't
        /// change it: see ``SimulatedNotificationCenter/lockScreen``.
        public var content: NotificationContent? { presentation?.content }
        /// Why the push wasn't restored completely; nil if it was. A push that the extension didn't receive has none either:
        /// see ``isRestored``. The failures of stages are in `report.stageFailures`.
        public var failure: FailureClass? { report?.failure }
        /// Whether the extension has restored the text, and this device shows it.
        public var isRestored: Bool { report?.isRestored == true && presentation?.origin == .handedOver }
        /// Whether the extension has handed over a push that wasn't sealed, as `ExtensionConfiguration.UnsealedPolicy.shown`
        /// asks, and this device shows it.
        public var isUnsealed: Bool {
            report.map { $0.failure == nil && !$0.isRestored } == true && presentation?.origin == .handedOver
        }
    }
}

extension SimulatedDevice.Reception: CustomStringConvertible, CustomReflectable {
    /// What became of the push, without its content, as in `placeholder is shown: unknownKey` or `refused: 413 PayloadTooLarge`.
    public var description: String {
        if let refusal { return "refused: \(refusal)" }
        if isStored { return "stored by APNs" }
        if isDropped { return "dropped by APNs: the device is off line, and the push isn't stored" }
        guard pushType == "alert" else { return "nothing is shown: the push type is \(pushType)" }
        guard let presentation else { return "nothing is shown: the push has no alert" }
        let shown =
            switch presentation.origin {
            case .handedOver where isRestored: "restored"
            case .handedOver where isUnsealed: "shown although it isn't sealed"
            case .handedOver: "placeholder is shown"
            default: "\(presentation.origin)"
            }
        let stages = (report?.stageFailures ?? []).map { "stage \($0.stage) \($0.ending)" }
        let reasons = [failure.map { "\($0)" }].compactMap(\.self) + stages
        return shown + (reasons.isEmpty ? "" : ": " + reasons.joined(separator: ", "))
            + (ranOutOfPatience ? "; code waited for something other than the simulated clock" : "")
    }
    /// Nothing, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

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
