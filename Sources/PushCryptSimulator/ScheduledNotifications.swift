public import PushCryptExtension
import PushCryptPrimitives

extension SimulatedNotificationCenter {
    /// The shortest interval of a repeated trigger, in seconds: `UNTimeIntervalNotificationTrigger`,
    /// `init(timeInterval:repeats:)`.
    static let shortestRepeatedInterval: Double = 60
    /// Longer ones never fire in a test, and would be more than the clock's time can be.
    private static let longestInterval: Double = 1e11
    /// How many notifications the system keeps scheduled, the soonest first. The documentation of `UNUserNotificationCenter` is
    /// silent; that of its predecessor `UILocalNotification` has this limit.
    static let scheduledLimit = 64

    /// Schedules a notification, or shows it at once. `UNNotificationRequest`: it replaces a pending one with the same name at
    /// once, and a delivered one when it is shown.
    ///
    /// - Throws: `NotificationError`, with `notAllowed` unless the user allows notifications.
    public func add(_ request: NotificationRequest) async throws {
        guard currentSettings.isAuthorized else {
            throw NotificationError(.notAllowed, "the user doesn't allow notifications, or wasn't asked")
        }
        guard request.content.hasText || request.content.badge != nil || request.content.sound != nil else {
            throw NotificationError(.invalidContent, "the content has neither text nor badge nor sound")
        }
        var request = request
        if let first = AttachmentFile.refused(of: request.content).first, let reason = AttachmentFile.refusal(first) {
            throw NotificationError(.invalidAttachment, "attachment \(first.identifier): \(reason)")
        }
        let due = try due(request.trigger)
        removePending([request.id])
        request.content = takeFiles(of: request.content)
        guard request.trigger != nil else {
            await deliver(DeliveredNotification(request, at: clock.time))
            return
        }
        schedule(request, due)
        dropLatest()
    }

    /// The scheduled notifications, the soonest first. `UNUserNotificationCenter` names no order.
    public func pending() async -> [NotificationRequest] { pendingRequests }

    /// The scheduled notifications, the soonest first.
    public var pendingRequests: [NotificationRequest] {
        state.withLock { state in
            state.scheduled.values.sorted { left, right in
                let never = Duration.seconds(Int64.max)
                return (left.due ?? never, left.number) < (right.due ?? never, right.number)
            }.map(\.request)
        }
    }

    /// When a scheduled notification will be shown; nil for an unknown one, or one with a region.
    public func nextTime(of requestID: String) -> UnixTime? {
        state.withLock { $0.scheduled[requestID]?.due }.map(clock.time(at:))
    }

    /// Removes scheduled notifications. `UNUserNotificationCenter`: the name of one that was shown, and doesn't repeat, is ignored. It
    /// is silent about unknown names; the strictest reading is that they are ignored, too.
    public func removePending(_ requestIDs: [String]) {
        let removed = state.withLock { state in requestIDs.compactMap { state.scheduled.removeValue(forKey: $0) } }
        for scheduled in removed { scheduled.cancel() }
    }

    /// Removes all scheduled notifications: `UNUserNotificationCenter`.
    public func removeAllPending() { removePending(pendingRequests.map(\.id)) }

    /// Waits until the notifications that the clock has made due are presented. Call it after `clock.advance`.
    public func settle() async {
        while let task = state.withLock({ $0.deliveries.isEmpty ? nil : $0.deliveries.removeFirst() }) {
            await task.value
        }
    }

    /// - Returns: when it will fire, by the clock's `elapsed`; nil for a region, and without a trigger.
    private func due(_ trigger: NotificationTrigger?) throws -> Duration? {
        switch trigger {
        case nil: return nil
        case .push, .unknown: throw NotificationError(.invalidTrigger, "only the system makes such a trigger")
        case .timeInterval(let seconds, let repeats):
            guard seconds.isFinite else {
                throw NotificationError(.invalidTrigger, "a time interval is a finite number of seconds")
            }
            guard seconds > 0 else {
                throw NotificationError(.invalidTrigger, "a time interval is greater than 0 seconds")
            }
            guard !repeats || seconds >= Self.shortestRepeatedInterval else {
                throw NotificationError(.invalidTrigger, "a repeated time interval has 60 seconds or more")
            }
            return clock.elapsed + .seconds(min(seconds, Self.longestInterval))
        case .calendar(let match, _):
            if let mistake = match.mistake { throw NotificationError(.invalidTrigger, mistake) }
            guard let next = try calendar.next(after: clock.time, matching: match) else {
                throw NotificationError(.invalidTrigger, "no later time matches")
            }
            return clock.elapsed(at: next)
        case .location(let region, _):
            guard region.radius > 0, (-90...90).contains(region.latitude), (-180...180).contains(region.longitude)
            else { throw NotificationError(.invalidTrigger, "the region isn't a circle on the earth") }
            return nil
        }
    }

    private func schedule(_ request: NotificationRequest, _ due: Duration?) {
        let number = state.withLock { state in (state.scheduled.values.map(\.number).max() ?? 0) + 1 }
        let cancel = due.map { due in
            // For no run: code doesn't wait for a scheduled notification.
            SimulatedClock.$runs.withValue([]) {
                clock.schedule(after: due - clock.elapsed) { [weak self] in
                    self?.fire(request.id, number)
                }
            }
        }
        state.withLock {
            $0.scheduled[request.id] = Scheduled(request: request, due: due, number: number, cancel: cancel ?? {})
        }
    }

    private func fire(_ id: String, _ number: Int) {
        guard let scheduled = state.withLock({ $0.scheduled[id] }), scheduled.number == number else { return }
        let now = clock.time
        _ = state.withLock { $0.scheduled.removeValue(forKey: id) }
        if scheduled.request.trigger?.repeats == true, let due = try? due(scheduled.request.trigger) {
            schedule(scheduled.request, due)
        }
        let notification = DeliveredNotification(scheduled.request, at: now)
        // At once, so that notifications that one advance of the clock makes due are presented in their order.
        guard appState == .foreground else {
            _ = present(notification)
            return
        }
        state.withLock { state in
            let earlier = state.deliveries.last
            state.deliveries.append(
                Task {
                    await earlier?.value
                    await deliver(notification)
                })
        }
    }

    private func dropLatest() {
        let dropped = pendingRequests.dropFirst(Self.scheduledLimit).map(\.id)
        if !dropped.isEmpty { removePending(dropped) }
    }
}
