import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives

/// How the device receives a push: APNs refuses, stores or delivers it, and the notification centre shows it.
extension SimulatedDevice {
    /// A request that APNs has accepted.
    struct AcceptedPush: Sendable {
        /// Its number among the requests for this device, from 1.
        let number: Int
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
        let kept = state.withLock { state in
            state.isOffline = false
            defer { state.stored = [] }
            return state.stored
        }
        var receptions: [Reception] = []
        for push in kept where clock.time < push.expiration { receptions.append(await deliver(push)) }
        return receptions
    }

    /// Receives a request to APNs for this device.
    ///
    /// - Parameters:
    ///   - payload: the body of the request, UTF-8 JSON.
    ///   - headers: those of an alert for this app if nil.
    public func receive(_ payload: [UInt8], _ headers: PushHeaders? = nil) async -> Reception {
        clock.catchUp()
        let headers = headers ?? PushHeaders(topic: topic)
        let number = state.withLock { state in
            state.requestCount += 1
            return state.requestCount
        }
        let installed = state.withLock { $0.isInstalled } ? topic : nil
        if let refusal = PushService.refusal(of: payload, headers, installed: installed) {
            return Reception(refusal: refusal)
        }
        let push = AcceptedPush(number: number, payload: payload, headers: headers, time: clock.time)
        guard !isOffline else {
            // "Sending notification requests to APNs": with the expiration 0 a push isn't stored.
            guard headers.expiration != UnixTime(0) else { return Reception(isDropped: true) }
            state.withLock { $0.keep(push, options.storage) }
            return Reception(isStored: true)
        }
        return await deliver(push)
    }

    /// All that the device does with a push is one run of the clock.
    func deliver(_ push: AcceptedPush) async -> Reception {
        let ranOut = Locked(false)
        let onImpatience: @Sendable () -> Void = { ranOut.withLock { $0 = true } }
        var reception = await clock.run(patience: options.patience, onImpatience: onImpatience) { [self] in
            await received(push)
        }
        reception.ranOutOfPatience = ranOut.withLock { $0 }
        return reception
    }

    private func received(_ push: AcceptedPush) async -> Reception {
        var reception = Reception(pushType: push.headers.pushType)
        guard reception.pushType == "alert" else { return reception }
        guard let original = NotificationContent(unmodified: push.payload) else {
            await deliverWithoutText(push)
            return reception
        }
        let requestID = requestID(of: push)
        (reception.requestID, reception.original) = (requestID, original)
        guard center.currentSettings.showsAlerts else {
            reception.presentation = PresentedContent(content: nil, origin: .notAllowed)
            var silent = original
            (silent.title, silent.subtitle, silent.body) = (.init(), .init(), .init())
            await present(silent, requestID)
            return reception
        }
        let cancelEnd = options.endsProcessAfter.map { [process] time in
            clock.schedule(after: time) { process.end() }
        }
        defer { cancelEnd?() }
        let report = AwaitedReport()
        let presentation = await presentation(of: push.payload, original, requestID, report)
        reception.presentation = presentation
        // A session reports after it has called the handler, and one that didn't call it may never report.
        if let origin = presentation?.origin, ![.notRun, .expired, .died].contains(origin) {
            reception.report = await report.value
        }
        if var content = presentation?.content {
            content = center.takeFiles(of: content)
            let isVisible = await present(content, requestID)?.isVisible == true
            reception.presentation = presentation.map {
                PresentedContent(content: isVisible ? content : nil, origin: isVisible ? $0.origin : .notPresented)
            }
        }
        // After the notification is shown, so that its time doesn't depend on them.
        await process.current?.posts.run()
        return reception
    }

    /// "Generating a remote notification": a push may only set the badge or play a sound. No extension receives it.
    private func deliverWithoutText(_ push: AcceptedPush) async {
        guard let content = NotificationContent(withoutText: push.payload) else { return }
        await present(content, requestID(of: push))
    }

    @discardableResult
    private func present(_ content: NotificationContent, _ requestID: String) async -> SimulatedPresentation? {
        let request = NotificationRequest(id: requestID, content: content, trigger: .push)
        return await center.deliver(DeliveredNotification(request, at: clock.time))
    }

    /// "Sending notification requests to APNs": a push replaces the one with the same collapse id.
    private func requestID(of push: AcceptedPush) -> String { push.headers.collapseID ?? "push-\(push.number)" }
}
