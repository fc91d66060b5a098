/// What a session writes, reports and removes when it hands its content over.
struct DeliveryRecorder: Sendable {
    typealias Delivery = DeliverySession.Delivery

    let payload: [UInt8]
    let requestID: String?
    let configuration: ExtensionConfiguration
    let storeUse: StoreUse

    /// Writes what must be remembered, and calls `next` with the store's answer, or at the time limit if the store takes longer.
    ///
    /// - Parameter userInfo: as the app will receive it.
    func record(
        _ restored: RestoredPush?, _ delivery: Delivery, userInfo: [UInt8], removedRequestIDs: [String],
        _ preview: NotificationPreview, next: @escaping @Sendable (RecordAnswer) -> Void
    ) {
        if configuration.isReopening, !delivery.isRestored {
            if let claim = restored?.claim { _ = try? configuration.memory?.record(DeliveryRecord(claim: claim)) }
            return next(RecordAnswer())
        }
        var report = reportWithReceipt(delivery, restored?.push)
        if delivery.isRestored, !delivery.isSuppressed, let requestID, let push = restored?.push {
            report.restored = RestoredMark(push, requestID: requestID, userInfo: userInfo)
        }
        guard let memory = configuration.memory else {
            send(report.receipt)
            return next(RecordAnswer())
        }
        storeUse.begin()
        let cancelTimer = configuration.timer.schedule(after: DeliverySession.storeTimeLimit) { next(RecordAnswer()) }
        var record = DeliveryRecord(claim: restored?.claim, isShown: delivery.isRestored, report: report)
        record.removedRequestIDs = removedRequestIDs
        if delivery.isRestored { record.message = restored?.message }
        if !delivery.isRestored, delivery.failure != .retracted { record.replacedRequestID = requestID }
        let answer = (try? memory.record(record)) ?? RecordAnswer()
        if answer.isRetracted {
            let delivery = configuration.shown(placeholder(.retracted, preview), preview)
            report = reportWithReceipt(delivery, restored?.push)
            _ = try? memory.record(DeliveryRecord(report: report))
        }
        storeUse.end()
        cancelTimer()
        send(report.receipt)
        next(answer)
    }

    /// What is handed over after the store's answer, if it isn't what was recorded: the placeholder for a message that was
    /// retracted meanwhile, or the number that other messages have counted meanwhile.
    func revised(
        _ delivery: Delivery, _ answer: RecordAnswer, of restored: RestoredPush?, _ preview: NotificationPreview
    ) -> Delivery? {
        if answer.isRetracted {
            let placeholder = configuration.shown(placeholder(.retracted, preview), preview)
            delivery.content.removeFiles(notIn: placeholder.content)
            return placeholder
        }
        guard let badge = answer.badge, badge != delivery.content.badge, !delivery.isSuppressed,
            delivery.content.badge == restored?.countedBadge
        else { return nil }
        var content = delivery.content
        content.badge = badge
        return delivery.with(content)
    }

    /// Removes the notification that was just handed over if its message was retracted. A retraction that was claimed before
    /// the look found nothing on the screen, and one that is claimed afterwards removes it.
    func removeIfRetracted(_ delivery: Delivery, _ message: MessageStamp?) {
        guard !delivery.isSuppressed, configuration.deliveredNotifications != nil, requestID != nil else { return }
        if delivery.failure == .retracted { return removeOwn() }
        guard delivery.isRestored, let message, let memory = configuration.memory else { return }
        // The system may suspend the process after the handler. If it does, the next run removes the notification.
        guard let end = configuration.keepRunning() else { return }
        defer { end() }
        if (try? memory.isRetracted(message)) == true { removeOwn() }
    }

    func removeOwn() {
        if let requestID { configuration.deliveredNotifications?.remove([requestID]) }
    }

    /// Starts to send a receipt, before the handler is called: afterwards the system may suspend the process.
    private func send(_ receipt: Receipt?) {
        guard let receipt else { return }
        configuration.receipts?.start(receipt, in: configuration.store, keepRunning: configuration.keepRunning)
    }

    func placeholder(_ failure: FailureClass, _ preview: NotificationPreview) -> Delivery {
        let fallback = preview == .everything ? configuration.fallback : configuration.fallback.withoutOuterAlert
        let notice = failure == .keyLocked ? configuration.unlockNotice : nil
        let text = notice.flatMap { $0.isDue() ? $0.text : nil }
        let places = configuration.opener.places
        var content = configuration.localized(fallback.content(for: payload, failure, showing: text, at: places))
        content.isSuppressed = failure == .retracted || failure == .replayed && configuration.replays == .suppressed
        return Delivery(content: content, isRestored: false, failure: failure, stageFailures: [])
    }

    private func reportWithReceipt(_ delivery: Delivery, _ push: OpenedPush?) -> DeliveryReport {
        var report = report(delivery, push)
        if configuration.receipts != nil, !delivery.isUnsealed { report.receipt = try? Receipt(report) }
        return report
    }

    func report(_ delivery: Delivery, _ push: OpenedPush?) -> DeliveryReport {
        let named = push.map { ($0.kid, $0.signedBy) } ?? configuration.opener.keyIDs(of: payload)
        var report = DeliveryReport(
            failure: delivery.failure, isRestored: delivery.isRestored, time: configuration.clock(),
            kid: named?.kid, messageID: push?.messageID, pushID: push?.pushID,
            isSelfTest: push?.isSelfTest ?? false, isSuppressed: delivery.isSuppressed,
            stageFailures: delivery.stageFailures)
        report.skid = named?.skid
        if !configuration.isReopening { report.version = configuration.version }
        return report
    }
}
