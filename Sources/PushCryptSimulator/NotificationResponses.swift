import PushCryptExtension
public import PushCryptPrimitives

/// Why the user can't do what a test asked for.
public struct ResponseError: DescribedError, Hashable, Sendable {
    /// What is wrong.
    public let description: String

    /// The notification isn't in the list.
    public static let noNotification = ResponseError(description: "the notification isn't in the list")
    /// The notification shows no such action.
    public static let noAction = ResponseError(description: "the notification shows no such action")
    /// The action has a text field, and no text was given.
    public static let missingText = ResponseError(description: "the action has a text field, and needs a text")
    /// The action has no text field, and a text was given.
    public static let unexpectedText = ResponseError(description: "the action has no text field, and takes no text")
    /// The system shows no button for the app's own settings.
    public static let noSettings = ResponseError(
        description:
            "no button for the app's settings: the app must have asked for providesAppSettings when the user was asked first"
    )
    /// The user must unlock the device first: see ``SimulatedNotificationCenter/open(_:)`` and
    /// ``SimulatedNotificationCenter/choose(_:of:text:)``.
    public static let locked = ResponseError(description: "the screen is locked; unlock it first")
    /// No scheduled notification has such a region.
    public static let noRegion = ResponseError(description: "no scheduled notification has this region")
    /// The device is in the region already.
    public static let inRegion = ResponseError(description: "it is in the region already")
    /// The device isn't in the region.
    public static let notInRegion = ResponseError(description: "it isn't in the region")
}

extension SimulatedNotificationCenter {
    /// How many actions the system shows if it has the space: `UNNotificationCategory`.
    private static let actionLimit = 10

    /// The user taps a notification. "Handling notifications and notification-related actions": the app opens, and learns of it.
    /// The documentation is silent about the list and about a locked device; the strictest reading is that the notification leaves the
    /// list, and that the device must be unlocked first.
    public func open(_ requestID: String) async throws {
        let notification = try listed(requestID)
        guard !isLocked else { throw ResponseError.locked }
        remove([requestID])
        appState = .foreground
        await respond(to: notification, .open, nil)
    }

    /// The user removes a notification. `UNNotificationDismissActionIdentifier`: the app learns of it only if the category has
    /// `customDismissAction`.
    public func dismiss(_ requestID: String) async throws {
        let notification = try listed(requestID)
        remove([requestID])
        if category(of: notification.request.content)?.options.contains(.customDismissAction) == true {
            await respond(to: notification, .dismiss, nil)
        }
    }

    /// The actions that the user sees, in their order: those of the category, or those that the content extension shows instead.
    /// `UNNotificationActionOptions`: one with `destructive` is highlighted, and behaves as any other.
    public func actions(of requestID: String) throws -> [NotificationAction] {
        let notification = try listed(requestID)
        let changed = state.withLock { $0.shown[requestID]?.actions }
        return Array((changed ?? category(of: notification.request.content)?.actions ?? []).prefix(Self.actionLimit))
    }

    /// The user chooses an action of the notification's category, or one that its content extension shows instead.
    ///
    /// `UNNotificationActionOptions`: an action opens the app only with the option `foreground`, and needs an unlocked device with
    /// `authenticationRequired`. The page is silent about opening the app of a locked device; the strictest reading is that it must be
    /// unlocked first.
    ///
    /// - Parameter text: what the user wrote, for an action with a text field.
    public func choose(_ actionID: String, of requestID: String, text: String? = nil) async throws {
        let notification = try listed(requestID)
        guard let action = try actions(of: requestID).first(where: { $0.id == actionID }) else {
            throw ResponseError.noAction
        }
        let shown = state.withLock { $0.shown[requestID] }
        switch (action.textInput, text) {
        case (.some, nil): throw ResponseError.missingText
        case (nil, .some): throw ResponseError.unexpectedText
        default: break
        }
        guard !isLocked || action.options.isDisjoint(with: [.foreground, .authenticationRequired]) else {
            throw ResponseError.locked
        }
        if let shown {
            switch await clock.run({ await shown.extension.received(action, text: text) }) {
            case .doNotDismiss: return
            case .dismiss: return remove([requestID])
            case .dismissAndForward: break
            }
        }
        remove([requestID])
        if action.options.contains(.foreground) { appState = .foreground }
        await respond(to: notification, .custom(actionID), text)
    }

    /// The user asks for the app's own settings, from a notification or from the Settings app: the app opens and shows them.
    /// `userNotificationCenter(_:openSettingsFor:)`: only an app that was allowed `providesAppSettings` has the button.
    public func openAppSettings(from requestID: String? = nil) async throws {
        let notification = try requestID.map(listed)
        guard currentSettings.allowed.contains(.providesAppSettings) else { throw ResponseError.noSettings }
        guard !isLocked else { throw ResponseError.locked }
        appState = .foreground
        guard let responder = state.withLock({ $0.responder }) else { return }
        await clock.run { await responder.openSettings(from: notification) }
    }

    func listed(_ requestID: String) throws -> DeliveredNotification {
        guard let shown = shownNotifications.first(where: { $0.notification.id == requestID }) else {
            throw ResponseError.noNotification
        }
        return shown.notification
    }

    private func respond(
        to notification: DeliveredNotification, _ action: ReceivedResponse.Action, _ text: String?
    ) async {
        guard let responder = state.withLock({ $0.responder }) else { return }
        if appState == .notRunning { appState = .background }
        await clock.run { await responder.received(action, text: text, to: notification) }
    }
}
