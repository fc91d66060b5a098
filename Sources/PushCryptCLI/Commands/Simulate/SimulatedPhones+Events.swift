import PushCryptCore
import PushCryptFiles
import PushCryptNotifications
import PushCryptPrimitives
import PushCryptSimulator

/// What happens to both phones between two pushes. The one without the extension follows the other: what can't happen there, such as
/// a tap on a notification that it doesn't have, is left out.
extension SimulatedPhones {
    /// - Returns: what the event did, and the pushes that were received after it.
    /// - Throws: `Failure` if it can't happen.
    func apply(_ input: PayloadReader.Event) async throws -> (event: SimulatedEvent, pushes: [SimulatedPush]) {
        do {
            return try await happened(input)
        } catch let error as ResponseError {
            throw input.refusal(reason(of: error, input.event))
        } catch let error as MemberError {
            throw input.refusal(error.reason)
        }
    }

    private func happened(
        _ input: PayloadReader.Event
    ) async throws -> (event: SimulatedEvent, pushes: [SimulatedPush]) {
        guard isInstalled || !input.event.isOfApp else { throw MemberError(reason: "the app was deleted") }
        guard phone.center.appState != .notRunning || !input.event.isCall else {
            throw MemberError(reason: "the app isn't running; the events foreground and background start it")
        }
        let before = Snapshot(phone)
        let outcome = try await change(phone, app, input.event, isMain: true)
        _ = try? await change(plain, plainApp, input.event, isMain: false)
        for device in [phone, plain] { await device.center.settle() }
        if case .deleteApp = input.event { isInstalled = false }
        var event = SimulatedEvent(input, at: phone.clock.time)
        outcome(&event)
        let presented = phone.center.presentations.dropFirst(before.presentationCount)
        describe(presented, in: &event)
        let calls = app.takeCalls()
        let tapped = calls.compactMap(\.restoredID).filter(before.sealed.contains)
        let opened = input.event.showsApp(after: before, phone.center) ? await kept?.open() ?? [] : []
        describeOpened(tapped, opened, in: &event)
        if input.event.showsApp(after: before, phone.center) { try await postWaitingReceipts() }
        let receipts = takeReceipts()
        if !receipts.isEmpty {
            event.add("receipts", receipts, receipts.map(SimulatedPush.note(ofReceipt:)).joined(separator: "; "))
        }
        describe(calls, in: &event)
        describe(before, Snapshot(phone), presented: presented.map(\.notification.id), in: &event)
        guard case .online = input.event else { return (event, []) }
        let pushes = await receiveKept(in: &event)
        return (event, pushes)
    }

    /// Changes one phone.
    ///
    /// - Returns: what is to be said about it.
    private func change(
        _ device: SimulatedDevice, _ app: SimulatedApp, _ event: PhoneEvent, isMain: Bool
    ) async throws -> Description {
        let center = device.center
        switch event {
        case .advance(let duration):
            device.clock.advance(by: duration)
            return { $0.add("it is \(device.clock.time)") }
        case .clock(let time):
            device.clockError = .seconds(time.seconds - device.clock.time.seconds)
            return { $0.add("clock", "\(device.time)", "the phone's clock shows \(device.time)") }
        case .lock: device.lock()
        case .unlock: device.unlock()
        case .restart: device.restart()
        case .offline:
            guard !device.isOffline else { break }
            device.goOffline()
            return { $0.add("the phone is off line") }
        case .online: break
        case .mute:
            center.isMuted = true
            return { $0.add("only critical notifications have a sound") }
        case .unmute:
            center.isMuted = false
            return { $0.add("notifications have their sounds") }
        case .move(let position):
            await center.move(to: position)
            return { $0.add("the phone is at \(position.latitude), \(position.longitude)") }
        case .enterRegion(let id):
            try await center.enterRegion(id)
            return { $0.add("the phone is in \(id)") }
        case .leaveRegion(let id):
            try await center.leaveRegion(id)
            return { $0.add("the phone isn't in \(id) any more") }
        case .foreground(let presents):
            guard !center.isLocked else { throw ResponseError.locked }
            if let presents { app.presents = presents }
            center.appState = .foreground
            return { event in
                guard let presents else { return }
                let names = MemberReader.presentationOptions.filter { presents.contains($0.value) }.map(\.key)
                event.add("the app presents: \(names.isEmpty ? "nothing" : names.joined(separator: ", "))")
            }
        case .background: center.appState = .background
        case .terminate:
            center.appState = .notRunning
            if isMain { try connectApp() }
        case .deleteApp:
            device.deleteApp()
            return { $0.add("the app and its notifications are gone") }
        case .requestAuthorization(let options, let isAllowed):
            app.isAllowed = isAllowed
            let count = center.questionCount
            let isGranted = try await center.requestAuthorization(options)
            let wasAsked = center.questionCount > count
            let others = MemberReader.authorizationOptions.filter {
                options.subtracting(center.currentSettings.allowed.union(.provisional)).contains($0.value)
            }.map(\.key)
            return { event in
                event.add("asked", wasAsked)
                let asked = wasAsked ? "the user is asked" : "the user isn't asked"
                event.add("granted", isGranted, "\(asked): \(isGranted ? "granted" : "not granted")")
                guard isGranted, !others.isEmpty else { return }
                let names = others.joined(separator: ", ")
                event.add("notAllowed", others, "not allowed, because the user was asked before: \(names)")
            }
        case .schedule(let request): return try await schedule(request, on: center)
        case .setBadgeCount(let count): return try await reporting { try await center.setBadgeCount(count) }
        case .settings(let change):
            guard !change.isOfApp || center.currentSettings.authorization != .notDetermined else {
                throw MemberError(reason: "the Settings app doesn't list the app, because it hasn't asked its user")
            }
            change.apply(to: center)
            return Self.describe(center.currentSettings, allowsLocation: center.allowsLocation)
        case .tap(let id): try await center.open(id)
        case .dismiss(let id): try await center.dismiss(id)
        case .collapse(let id):
            _ = try center.actions(of: id)
            guard center.collapse(id) else { break }
            return { $0.add("the content extension doesn't show \(id) any more") }
        case .respond(let id, let action, let text):
            try await center.choose(action, of: id, text: text)
            guard center.deliveredNotifications.contains(where: { $0.id == id }) else { break }
            return { $0.add("the content extension handles \(action), and \(id) stays") }
        case .openSettings(let id): try await center.openAppSettings(from: id)
        case .removePending(let ids): center.removePending(ids)
        case .removeAllPending: center.removeAllPending()
        case .removeDelivered(let ids): center.remove(ids)
        case .removeAllDelivered: center.removeAllDelivered()
        case .expand(let id):
            let context = try await center.expand(id)
            return try describeExpanded(id, context)
        case .pending: return describePending()
        case .delivered: return describeDelivered()
        case .lockScreen: return describeLockScreen()
        }
        return { _ in }
    }

    /// What lists the actions of a notification.
    private func actionList(of id: String) -> String {
        let content = phone.center.deliveredNotifications.first { $0.id == id }?.request.content
        guard let category = content?.category else { return "it has no category, so the list of its actions" }
        guard let known = settings.categories.first(where: { $0.category.id == category }) else {
            return "--categories doesn't have its category \(category), so the list of its actions"
        }
        guard known.contentExtension != nil else { return "the list of its actions" }
        return phone.center.isShownByExtension(id)
            ? "until collapse closes it, the list of its actions" : "until expand opens it, the list of its actions"
    }

    /// An error of the framework is what the app gets, and not a mistake in the input.
    private func reporting(_ call: () async throws -> Void) async throws -> Description {
        do {
            try await call()
            return { _ in }
        } catch let error as NotificationError {
            return { event in
                event.add(
                    "error", ["code": error.code.name, "reason": error.reason] as JSONObject,
                    "the app gets the error \(error.code.name): \(error.reason)")
            }
        }
    }

    private func schedule(_ request: NotificationRequest, on center: SimulatedNotificationCenter) async throws
        -> Description
    {
        var request = request
        // The system moves the file away, so it gets a copy.
        for index in request.content.attachments.indices {
            request.content.attachments[index].path = try copy(of: request.content.attachments[index].path)
        }
        if case .calendar(let match, _) = request.trigger, match.timeZone == nil { noteTimeZone() }
        let outcome = try await reporting { try await center.add(request) }
        let time = center.nextTime(of: request.id)
        let isPending = center.pendingRequests.contains { $0.id == request.id }
        return { event in
            outcome(&event)
            if let time {
                event.add("next", "\(time)", "it will be shown at \(time)")
            } else if isPending {
                event.add(
                    center.allowsLocation
                        ? "it will be shown when the phone enters or leaves the region"
                        : "it isn't shown while the user doesn't allow the app the phone's location")
            }
        }
    }

    /// The pushes that APNs has kept.
    private func receiveKept(in event: inout SimulatedEvent) async -> [SimulatedPush] {
        guard phone.isOffline else { return [] }
        event.add("the phone is on line")
        var pushes: [SimulatedPush] = []
        for (push, plainPush) in zip(phone.leaveAirplaneMode(), plain.leaveAirplaneMode()) {
            guard let input = keptInput(push.number) else { continue }
            let (phone, plain) = (phone, plain)
            pushes.append(
                await received(
                    input, push.number, before: { await plain.deliver(plainPush) }, { await phone.deliver(push) }))
        }
        let expired = takeKeptInputs()
        if !expired.isEmpty {
            let numbers = expired.map { "\($0)" }.joined(separator: ", ")
            event.add("expired", expired, "expired while the phone was off line: push \(numbers)")
        }
        return pushes
    }

    /// What is wrong, with the names that the user of the tool can have meant.
    private func reason(of error: ResponseError, _ event: PhoneEvent) -> String {
        let names: (name: String, known: [String], list: String)? =
            switch (error, event) {
            case (.noNotification, .tap(let id)), (.noNotification, .dismiss(let id)),
                (.noNotification, .expand(let id)),
                (.noNotification, .collapse(let id)), (.noNotification, .respond(let id, _, _)),
                (.noNotification, .openSettings(.some(let id))):
                (id, phone.center.deliveredNotifications.map(\.id), "the list")
            case (.noAction, .respond(let id, let action, _)):
                (action, ((try? phone.center.actions(of: id)) ?? []).map(\.id), actionList(of: id))
            case (.noRegion, .enterRegion(let id)), (.noRegion, .leaveRegion(let id)):
                (id, phone.center.regions.map(\.id), "the list of regions")
            default: nil
            }
        guard let (name, known, list) = names else { return error.description }
        let hint = Spelling.nearest(to: name, in: known).map { "do you mean \($0)?" }
        let all = known.isEmpty ? "\(list) is empty" : "\(list) has " + known.joined(separator: ", ")
        return "\(name): \(error); \(hint ?? all)"
    }
}
