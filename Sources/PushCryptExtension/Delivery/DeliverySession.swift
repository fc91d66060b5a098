import PushCryptCore
import PushCryptPrimitives

/// Restores one push. It calls its handler exactly once: with the restored content or, on any failure or if the time runs
/// out first, with a placeholder.
///
/// ```
/// restore -> offloaded payload -> attachments -> the app's stages -> finish -> conversion
///         -> store -> handler -> retracted meanwhile? -> diagnostics
///               at the deadline, the best content so far is converted, recorded and handed over
/// ```
/// Sessions share only their configuration. Any number may run at once, and a stuck session doesn't delay the others.
public final class DeliverySession: Sendable {
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
        /// The notifications that were removed from the screen after the claim.
        var removedRequestIDs: [String] = []
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
                    let result = reserved.flatMap { configuration.restored($0, $0.answer(of: nil, at: time)) }
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
            let answer = reserved.answer(of: memory, at: time)
            // Also if the session has ended: the store has applied the effects of the message.
            remove(answer.dueRequestIDs)
            return configuration.restored(reserved, answer)
        }
        guard let last = restoring.end(), let result else {
            // The other thread has continued. If the session has ended since, its record may have come before the claim; a
            // message that was seen stays seen.
            if state.current == nil, let claim = try? result?.get().claim {
                _ = try? configuration.memory?.record(DeliveryRecord(claim: claim))
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
            return .success(ReservedPush(push, requestID, in: configuration.memory, at: time))
        }
    }

    private func remove(_ dueRequestIDs: [String]) {
        guard !dueRequestIDs.isEmpty, let notifications = configuration.deliveredNotifications else { return }
        notifications.remove(dueRequestIDs)
        state.update { $0.removedRequestIDs = dueRequestIDs }
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
            _ = try? configuration.memory?.record(DeliveryRecord(claim: claim))
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
        let offered = configuration.shown(restored?.delivery ?? placeholder(failure, last.preview), last.preview)
        let form = convert(offered.content)
        let recorded = offered.without(form.refused)
        restored?.content.removeFiles(notIn: recorded.content)
        var durations = last.durations
        if let running = last.running {
            durations.append(.init(name: running.stage.name, duration: end - running.start))
        }
        let unfinished = EndingOnce(())
        record(restored, recorded, form.userInfo ?? recorded.content.userInfo, last) { [self, durations] answer in
            // Called by the first of two threads: the one that writes, and the one of the time limit.
            guard unfinished.end() != nil else {
                if answer.isRetracted { removeOwn() }
                return
            }
            let (delivery, form) = revised(recorded, form, answer, of: restored, last.preview)
            storeUse.outlastHandler(configuration.keepRunning)
            let now = configuration.stopwatch()
            form.handOver(delivery)
            removeIfRetracted(delivery, restored?.message)
            var report = report(delivery, restored?.push)
            report.duration = now - last.start
            report.durations = durations + [.init(name: "store", duration: now - end)]
            configuration.diagnostics?.report(report)
        }
    }

    /// Writes what must be remembered, and calls `next` with the store's answer, or at the time limit if the store takes longer.
    ///
    /// - Parameter userInfo: as the app will receive it.
    private func record(
        _ restored: RestoredPush?, _ delivery: Delivery, _ userInfo: [UInt8], _ last: State,
        next: @escaping @Sendable (RecordAnswer) -> Void
    ) {
        var report = reportWithReceipt(delivery, restored?.push)
        if delivery.isRestored, !delivery.isSuppressed, let requestID, let push = restored?.push {
            report.restored = RestoredMark(push, requestID: requestID, userInfo: userInfo)
        }
        guard let memory = configuration.memory else {
            send(report.receipt)
            return next(RecordAnswer())
        }
        storeUse.begin()
        let cancelTimer = configuration.timer.schedule(after: Self.storeTimeLimit) { next(RecordAnswer()) }
        var record = DeliveryRecord(claim: restored?.claim, isShown: delivery.isRestored, report: report)
        record.removedRequestIDs = last.removedRequestIDs
        if delivery.isRestored { record.message = restored?.message }
        if !delivery.isRestored, delivery.failure != .retracted { record.replacedRequestID = requestID }
        let answer = (try? memory.record(record)) ?? RecordAnswer()
        if answer.isRetracted {
            let delivery = configuration.shown(placeholder(.retracted, last.preview), last.preview)
            report = reportWithReceipt(delivery, restored?.push)
            _ = try? memory.record(DeliveryRecord(report: report))
        }
        storeUse.end()
        cancelTimer()
        send(report.receipt)
        next(answer)
    }

    /// What is handed over after the store's answer: the placeholder for a message that was retracted meanwhile, and the
    /// number that other messages have counted meanwhile.
    private func revised(
        _ delivery: Delivery, _ form: SystemForm, _ answer: RecordAnswer, of restored: RestoredPush?,
        _ preview: NotificationPreview
    ) -> (Delivery, SystemForm) {
        var revised = delivery
        if answer.isRetracted {
            revised = configuration.shown(placeholder(.retracted, preview), preview)
            delivery.content.removeFiles(notIn: revised.content)
        } else if let badge = answer.badge, badge != delivery.content.badge, !delivery.isSuppressed,
            delivery.content.badge == restored?.countedBadge
        {
            var content = delivery.content
            content.badge = badge
            revised = delivery.with(content)
        } else {
            return (delivery, form)
        }
        return (revised, convert(revised.content))
    }

    /// Removes the notification that was just handed over if its message was retracted. A retraction that was claimed before
    /// the look found nothing on the screen, and one that is claimed afterwards removes it.
    private func removeIfRetracted(_ delivery: Delivery, _ message: MessageStamp?) {
        guard !delivery.isSuppressed, configuration.deliveredNotifications != nil, requestID != nil else { return }
        if delivery.failure == .retracted { return removeOwn() }
        guard delivery.isRestored, let message, let memory = configuration.memory else { return }
        // The system may suspend the process after the handler. If it does, the next run removes the notification.
        guard let end = configuration.keepRunning() else { return }
        defer { end() }
        if (try? memory.isRetracted(message)) == true { removeOwn() }
    }

    private func removeOwn() {
        if let requestID { configuration.deliveredNotifications?.remove([requestID]) }
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
        var content = configuration.localized(fallback.content(for: payload, failure, showing: text))
        content.isSuppressed = failure == .retracted || failure == .replayed && configuration.replays == .suppressed
        return Delivery(content: content, isRestored: false, failure: failure, stageFailures: [])
    }

    private func reportWithReceipt(_ delivery: Delivery, _ push: OpenedPush?) -> DeliveryReport {
        var report = report(delivery, push)
        if configuration.receipts != nil, !delivery.isUnsealed { report.receipt = try? Receipt(report) }
        return report
    }

    private func report(_ delivery: Delivery, _ push: OpenedPush?) -> DeliveryReport {
        DeliveryReport(
            failure: delivery.failure, isRestored: delivery.isRestored, time: configuration.clock(),
            kid: push?.kid ?? Opener.kid(of: payload), messageID: push?.messageID, pushID: push?.pushID,
            isSelfTest: push?.isSelfTest ?? false, isSuppressed: delivery.isSuppressed,
            stageFailures: delivery.stageFailures)
    }
}
