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
    private let startThread: DedicatedThread.Start
    private let unstarted = EndingOnce(())
    private let state: EndingOnce<State>
    private let storeUse = StoreUse()
    private let recorder: DeliveryRecorder

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
        startThread = configuration.threads()
        recorder = DeliveryRecorder(
            payload: payload, requestID: requestID, configuration: configuration, storeUse: storeUse)
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
        startThread { [self] in restore() }
    }

    /// Hands over the best content so far, unless content was handed over already. Call it from
    /// `serviceExtensionTimeWillExpire`; the session calls it at its own deadline.
    ///
    /// With a store it returns at once, and the handler is called within ``storeTimeLimit`` on another thread.
    public func expire() {
        guard let last = state.end() else { return }
        guard configuration.memory != nil else { return handOver(last, orElse: .timedOut) }
        startThread { [self] in handOver(last, orElse: .timedOut) }
    }

    /// Opens the push and claims its message.
    private func restore() {
        let (start, time) = (configuration.stopwatch(), configuration.clock())
        // Read before the lock is taken: the choice is a file.
        let preview = configuration.preview?.current ?? .everything
        state.update { $0.preview = preview }
        let timed = TimedStore(configuration, storeUse) { [self] reserved in
            let reserved = reserved ?? reserve(configuration.opener.untimed(payload, at: time) { nil }, at: time)
            let result = reserved.flatMap { configuration.restored($0, $0.answer(of: nil, at: time)) }
            proceed(with: result, since: start, usesStore: true)
        }
        /// The store for the next call; nil if there is none, or the session has ended.
        func store() -> (any DeliveryMemory)? {
            let memory = timed.next()
            // Checked after the beginning, as ``StoreUse`` requires.
            return state.current == nil ? nil : memory
        }
        let opened = configuration.opener.untimed(payload, at: time) {
            store().flatMap { try? $0.highestIssuedAt(at: time) }
        }
        let memory = (try? opened.get()) == nil ? nil : store()
        let result = timed.reserve { [self] in reserve(opened, at: time) }?.flatMap { reserved in
            let answer = reserved.answer(of: memory, at: time)
            // Also if the session has ended: the store has applied the effects of the message.
            remove(answer.dueRequestIDs)
            return configuration.restored(reserved, answer)
        }
        guard timed.end(), let result else {
            // The other thread has continued. If the session has ended since, its record may have come before the claim; a
            // message that was seen stays seen.
            if state.current == nil, let claim = try? result?.get().claim {
                _ = try? configuration.memory?.record(DeliveryRecord(claim: claim))
            }
            if timed.isUsed { storeUse.end() }
            return
        }
        proceed(with: result, since: start, usesStore: timed.isUsed)
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
        let task = StageTask<RestoredPush>(startThread) { late in
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
        let offered = configuration.shown(
            restored?.delivery ?? recorder.placeholder(failure, last.preview), last.preview)
        let form = convert(offered.content)
        let recorded = offered.without(form.refused)
        restored?.content.removeFiles(notIn: recorded.content)
        var durations = last.durations
        if let running = last.running {
            durations.append(.init(name: running.stage.name, duration: end - running.start))
        }
        let unfinished = EndingOnce(())
        recorder.record(
            restored, recorded, userInfo: form.userInfo ?? recorded.content.userInfo,
            removedRequestIDs: last.removedRequestIDs, last.preview
        ) { [self, durations] answer in
            // Called by the first of two threads: the one that writes, and the one of the time limit.
            guard unfinished.end() != nil else {
                if answer.isRetracted { recorder.removeOwn() }
                return
            }
            let revised = recorder.revised(recorded, answer, of: restored, last.preview)
            let (delivery, form) = (revised ?? recorded, revised.map { convert($0.content) } ?? form)
            storeUse.outlastHandler(configuration.keepRunning)
            let now = configuration.stopwatch()
            form.handOver(delivery)
            recorder.removeIfRetracted(delivery, restored?.message)
            var report = recorder.report(delivery, restored?.push)
            report.duration = now - last.start
            report.durations = durations + [.init(name: "store", duration: now - end)]
            configuration.eraseExpiredKeys(after: restored?.push)
            configuration.diagnostics?.report(report)
        }
    }
}
