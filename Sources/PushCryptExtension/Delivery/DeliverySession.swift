public import PushCryptCore
import PushCryptPrimitives

/// Restores one push. It calls its handler exactly once: with the restored content or, on any failure or if the time runs
/// out first, with a placeholder.
///
/// ```
/// restore -> offloaded payload -> attachments -> the app's stages -> finish -> conversion
///         -> store -> handler -> diagnostics
///               at the deadline, the best content so far is converted, recorded and handed over
/// ```
/// Sessions share only their configuration. Any number may run at once, and a stuck session doesn't delay the others.
public final class DeliverySession: Sendable {
    /// The content for the handler, and the outcome of the push.
    public struct Delivery: Sendable {
        /// The content to show. It always has visible text and no keys.
        public let content: NotificationContent
        /// Whether `content` is the sealed content. Sealed content without text, such as a key that the app lacks, is
        /// replaced by the app's own text, with the failure `malformed`.
        public let isRestored: Bool
        /// Why `content` is not the complete sealed content; nil if it is, and for an accepted unsealed push. With
        /// `attachmentFailed` and `replayed` the text may have been restored.
        public let failure: FailureClass?
        /// Whether the push wasn't sealed and the app accepts such pushes. Its content isn't authenticated.
        public var isUnsealed: Bool { !isRestored && failure == nil }
        /// The stages whose results aren't in `content`.
        public let stageFailures: [StageFailure]
    }

    /// Hands the content to the system.
    public typealias Handler = @Sendable (Delivery) -> Void

    /// Content in the form of the system.
    package struct SystemForm: Sendable {
        let refused: [NotificationContent.Attachment]
        let userInfo: [UInt8]?
        let handOver: Handler

        /// - Parameters:
        ///   - refused: the attachments that the system refuses. The session removes them from the content, and their files.
        ///   - userInfo: `userInfo` as the app will receive it, JSON; nil for that of the content.
        ///   - handOver: hands the content without them to the system. It receives the outcome of the push.
        package init(
            refused: [NotificationContent.Attachment] = [], userInfo: [UInt8]? = nil, handOver: @escaping Handler
        ) {
            self.refused = refused
            self.userInfo = userInfo
            self.handOver = handOver
        }
    }

    /// How long a session waits for its store: once to claim the message, and once to write what must be remembered before
    /// the handler is called. Then it goes on without it, and the write continues if it can. If the process ends before the
    /// write, the message is shown again if it is received again.
    public static let storeTimeLimit: Duration = .milliseconds(150)

    /// The session's state until its content is handed over.
    private struct State {
        let start: ContinuousClock.Instant
        /// How much is shown.
        var preview: NotificationPreview
        var restored: RestoredPush?
        var running: (stage: SessionStage, task: StageTask<RestoredPush>, start: ContinuousClock.Instant)?
        var durations: [DeliveryReport.StepDuration] = []
        var cancelTimer: (@Sendable () -> Void)?
    }

    private let payload: [UInt8]
    private let requestID: String?
    private let configuration: ExtensionConfiguration
    private let convert: @Sendable (NotificationContent) -> SystemForm
    private let unstarted = EndingOnce(())
    private let state: EndingOnce<State>
    private let storeUse = StoreUse()

    /// Creates a session; ``start()`` starts it.
    ///
    /// - Parameters:
    ///   - payload: the outer payload, UTF-8 JSON.
    ///   - requestID: the system's name of the notification, for ``OpenedPush/requestID``.
    ///   - handler: hands the content to the system; called once, on any thread.
    public convenience init(
        payload: [UInt8], requestID: String? = nil, configuration: ExtensionConfiguration, handler: @escaping Handler
    ) {
        self.init(payload: payload, requestID: requestID, configuration: configuration) { _ in
            SystemForm(handOver: handler)
        }
    }

    /// - Parameter convert: converts content to the system's form, on any thread. Only the last result is handed over.
    package init(
        payload: [UInt8], requestID: String? = nil, configuration: ExtensionConfiguration,
        convert: @escaping @Sendable (NotificationContent) -> SystemForm
    ) {
        self.payload = payload
        self.requestID = requestID
        self.configuration = configuration
        self.convert = convert
        // Nothing is shown of a push before the recipient's choice was read.
        let preview = configuration.preview == nil ? NotificationPreview.everything : .nothing
        state = EndingOnce(State(start: configuration.stopwatch(), preview: preview))
    }

    /// Starts the session, which retains itself until the handler was called. A second call, or a call after the end, does
    /// nothing.
    public func start() {
        guard unstarted.end() != nil, state.current != nil else { return }
        let cancel = configuration.timer.schedule(after: configuration.deadline) { [self] in expire() }
        // The session may have expired while the timer was set: then nothing else would cancel the timer.
        guard state.update({ $0.cancelTimer = cancel }) else { return cancel() }
        // A thread of its own: on a pool, stages that block the pool's threads would delay every later push.
        DedicatedThread.run { [self] in restore() }
    }

    /// Hands over the best content so far, unless content was handed over already. Call it from
    /// `serviceExtensionTimeWillExpire`; the session calls it at its own deadline.
    ///
    /// With a store it returns at once, and the handler is called within ``storeTimeLimit`` on another thread.
    public func expire() {
        guard let last = state.end() else { return }
        guard configuration.memory != nil else { return handOver(last, orElse: .timedOut) }
        DedicatedThread.run { [self] in handOver(last, orElse: .timedOut) }
    }

    /// What the thread that restores the push has, until it or the time limit of the store continues.
    private struct Restoring {
        var reserved: Result<ReservedPush, FailureClass>?
        var cancelTimer: (@Sendable () -> Void)?
    }

    /// Opens the push and claims its message. If a call of the store doesn't return in time, the thread of the time limit
    /// continues without the store's file.
    private func restore() {
        let (start, time) = (configuration.stopwatch(), configuration.clock())
        let restoring = EndingOnce(Restoring())
        // Read before the lock is taken: the choice is a file.
        let preview = configuration.preview?.current ?? .everything
        state.update { $0.preview = preview }
        var usesStore = false
        /// The store for the next call; nil if there is none, or the session has ended.
        func store() -> (any DeliveryMemory)? {
            guard let memory = configuration.memory else { return nil }
            if !usesStore {
                usesStore = true
                storeUse.begin()
                let cancel = configuration.timer.schedule(after: Self.storeTimeLimit) { [self] in
                    guard let last = restoring.end() else { return }
                    storeUse.begin()
                    let opened = { [self] in configuration.opener.untimed(payload, at: time) { nil } }
                    let reserved = last.reserved ?? reserve(opened(), at: time)
                    let result = reserved.flatMap { configuration.restored($0, $0.refusal(by: nil, at: time)) }
                    proceed(with: result, since: start, usesStore: true)
                }
                if !restoring.update({ $0.cancelTimer = cancel }) { cancel() }
            }
            // Checked after the beginning, as ``StoreUse`` requires.
            return state.current == nil ? nil : memory
        }
        let opened = configuration.opener.untimed(payload, at: time) {
            store().flatMap { try? $0.highestIssuedAt(at: time) }
        }
        let memory = (try? opened.get()) == nil ? nil : store()
        // Only one of the two threads reserves the message.
        restoring.update { [self] in $0.reserved = reserve(opened, at: time) }
        let result = restoring.current?.reserved?.flatMap { reserved in
            configuration.restored(reserved, reserved.refusal(by: memory, at: time))
        }
        guard let last = restoring.end(), let result else {
            // The other thread has continued. If the session has ended since, its record may have come before the claim; a
            // message that was seen stays seen.
            if state.current == nil, let claim = try? result?.get().claim {
                try? configuration.memory?.record(claim, isShown: false, nil)
            }
            if usesStore { storeUse.end() }
            return
        }
        last.cancelTimer?()
        proceed(with: result, since: start, usesStore: usesStore)
    }

    private func reserve(
        _ opened: Result<OpenedPush, FailureClass>, at time: UnixTime
    ) -> Result<ReservedPush, FailureClass> {
        opened.flatMap { push in
            guard state.current != nil else { return .failure(.timedOut) }
            return .success(ReservedPush(push, in: configuration.memory, at: time))
        }
    }

    /// - Parameter usesStore: whether this thread has begun a use of the store, which ends here.
    private func proceed(
        with result: Result<RestoredPush, FailureClass>, since start: ContinuousClock.Instant, usesStore: Bool
    ) {
        let result = result.flatMapError { configuration.acceptedUnsealed(payload, $0) }.map { restored in
            var restored = restored
            restored.push?.requestID = requestID
            return restored
        }
        let isKept = state.update { [configuration] state in
            state.restored = try? result.get()
            state.durations.append(.init(name: "open", duration: configuration.stopwatch() - start))
        }
        // A message that wasn't shown can be shown when it is received again.
        if !isKept, let claim = try? result.get().claim {
            try? configuration.memory?.record(claim, isShown: false, nil)
        }
        if usesStore { storeUse.end() }
        guard isKept, let preview = state.current?.preview else { return }
        switch result {
        case .success(let restored):
            advance(restored, through: configuration.steps(for: restored, showing: preview)[...])
        case .failure(let failure): handOver(orElse: failure)
        }
    }

    /// Runs the stages in order. The thread that ends a stage continues with the next one.
    private func advance(_ restored: RestoredPush, through stages: ArraySlice<SessionStage>) {
        guard let stage = stages.first else { return handOver(orElse: .internalError) }
        let rest = stages.dropFirst()
        let start = configuration.stopwatch()
        let task = StageTask<RestoredPush> { late in
            late.content.removeFiles(notIn: restored.content)
        } ended: { [self] result in
            let next = restored.after(stage, result)
            let isKept = state.update { [configuration] state in
                state.restored = next
                state.running = nil
                state.durations.append(.init(name: stage.name, duration: configuration.stopwatch() - start))
            }
            // The files of the version that isn't used are removed.
            guard isKept else { return next.content.removeFiles(notIn: restored.content) }
            restored.content.removeFiles(notIn: next.content)
            advance(next, through: rest)
        }
        guard state.update({ $0.running = (stage, task, start) }) else { return }
        task.start(timeLimit: stage.timeLimit, timer: configuration.timer) { try await stage.run(restored) }
    }

    private func handOver(orElse failure: FailureClass) {
        if let last = state.end() { handOver(last, orElse: failure) }
    }

    private func handOver(_ last: State, orElse failure: FailureClass) {
        let end = configuration.stopwatch()
        let restored = last.running.map { last.restored?.after($0.stage, .failure(.timedOut)) } ?? last.restored
        last.cancelTimer?()
        // The stage is stopped before the handler runs: files that it completes later aren't in the content and must be
        // removed.
        last.running?.task.stop()
        let offered = configuration.showing(
            last.preview, configuration.withText(restored?.delivery ?? placeholder(failure, last.preview)))
        let form = convert(offered.content)
        let delivery = offered.without(form.refused)
        restored?.content.removeFiles(notIn: delivery.content)
        var durations = last.durations
        if let running = last.running {
            durations.append(.init(name: running.stage.name, duration: end - running.start))
        }
        let unfinished = EndingOnce(())
        record(restored, delivery, form.userInfo ?? delivery.content.userInfo) { [self, durations] in
            // Called by the first of two threads: the one that writes, and the one of the time limit.
            guard unfinished.end() != nil else { return }
            storeUse.outlastHandler(configuration.keepRunning)
            let now = configuration.stopwatch()
            form.handOver(delivery)
            var report = report(delivery, restored?.push)
            report.duration = now - last.start
            report.durations = durations + [.init(name: "store", duration: now - end)]
            configuration.diagnostics?.report(report)
        }
    }

    /// Writes what must be remembered, and calls `next` afterwards, or at the time limit if the store takes longer.
    ///
    /// - Parameter userInfo: as the app will receive it.
    private func record(
        _ restored: RestoredPush?, _ delivery: Delivery, _ userInfo: [UInt8], next: @escaping @Sendable () -> Void
    ) {
        var report = report(delivery, restored?.push)
        if delivery.isRestored, let requestID, let push = restored?.push {
            report.restored = RestoredMark(push, requestID: requestID, userInfo: userInfo)
        }
        if configuration.receipts != nil, !delivery.isUnsealed { report.receipt = try? Receipt(report) }
        guard let memory = configuration.memory else {
            send(report.receipt)
            return next()
        }
        storeUse.begin()
        let cancelTimer = configuration.timer.schedule(after: Self.storeTimeLimit, next)
        try? memory.record(restored?.claim, isShown: delivery.isRestored, report)
        storeUse.end()
        cancelTimer()
        send(report.receipt)
        next()
    }

    /// Starts to send a receipt, before the handler is called: afterwards the system may suspend the process.
    private func send(_ receipt: Receipt?) {
        guard let receipt else { return }
        configuration.receipts?.start(receipt, in: configuration.store, keepRunning: configuration.keepRunning)
    }

    private func placeholder(_ failure: FailureClass, _ preview: NotificationPreview) -> Delivery {
        let fallback = preview == .everything ? configuration.fallback : configuration.fallback.withoutOuterAlert
        let notice = failure == .keyLocked ? configuration.unlockNotice : nil
        let text = notice.flatMap { $0.isDue() ? $0.text : nil }
        let content = configuration.localized(fallback.content(for: payload, failure, showing: text))
        return Delivery(content: content, isRestored: false, failure: failure, stageFailures: [])
    }

    private func report(_ delivery: Delivery, _ push: OpenedPush?) -> DeliveryReport {
        DeliveryReport(
            failure: delivery.failure, isRestored: delivery.isRestored, time: configuration.clock(),
            kid: push?.kid ?? Opener.kid(of: payload), messageID: push?.messageID, pushID: push?.pushID,
            isSelfTest: push?.isSelfTest ?? false, stageFailures: delivery.stageFailures)
    }
}

extension DeliverySession.Delivery {
    /// The delivery without attachments that the system refuses. They count as attachments that couldn't be fetched.
    fileprivate func without(_ refused: [NotificationContent.Attachment]) -> DeliverySession.Delivery {
        guard !refused.isEmpty else { return self }
        var content = content
        content.attachments.removeAll(where: refused.contains)
        content.missingAttachmentCount += refused.count
        return DeliverySession.Delivery(
            content: content, isRestored: isRestored, failure: isRestored ? failure ?? .attachmentFailed : failure,
            stageFailures: stageFailures)
    }
}
