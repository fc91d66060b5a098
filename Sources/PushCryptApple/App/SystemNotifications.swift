#if canImport(UserNotifications) && !os(tvOS)
import Foundation
public import PushCryptCore
public import PushCryptExtension
import PushCryptPrimitives
public import UserNotifications

/// The system's notification centre, for the app and its extension: `UNUserNotificationCenter`.
public struct SystemNotifications: UserNotificationCenter {
    // Unchecked: Apple's object may be used on any thread, but its type isn't Sendable on all systems.
    private struct Center: @unchecked Sendable {
        let given: UNUserNotificationCenter?
    }

    private let center: Center
    private let regions: RegionTriggers?
    private var system: UNUserNotificationCenter { center.given ?? .current() }

    /// Uses the app's notification centre, `UNUserNotificationCenter.current()`. It is asked for with each call and not before:
    /// it ends a process without an app bundle, such as a unit test without a host app.
    ///
    /// - Parameter regions: converts the triggers of regions; without it ``add(_:)`` refuses them.
    public init(regions: RegionTriggers? = nil) {
        center = Center(given: nil)
        self.regions = regions
    }

    /// Uses a given notification centre, as ``init(regions:)`` uses the app's.
    public init(_ center: UNUserNotificationCenter, regions: RegionTriggers? = nil) {
        self.center = Center(given: center)
        self.regions = regions
    }

    /// Asks the user for permission. Throws the system's error.
    public func requestAuthorization(_ options: NotificationOptions) async throws -> Bool {
        try await system.requestAuthorization(options: UNAuthorizationOptions(rawValue: options.rawValue))
    }

    /// What the user allows at present.
    public func settings() async -> NotificationSettings {
        await withCheckedContinuation { continuation in
            system.getNotificationSettings { continuation.resume(returning: NotificationSettings($0)) }
        }
    }

    /// Replaces all categories.
    public func setCategories(_ categories: [NotificationCategory]) {
        system.setNotificationCategories(Set(categories.map(\.system)))
    }

    /// The categories, in any order.
    public func categories() async -> [NotificationCategory] {
        await withCheckedContinuation { continuation in
            system.getNotificationCategories {
                continuation.resume(returning: $0.map(NotificationCategory.init(_:)))
            }
        }
    }

    /// Schedules a notification, or shows it at once.
    ///
    /// - Throws: `NotificationError`, also for Apple's `UNError`: `invalidTrigger` for a trigger that an app can't make, and
    ///   `invalidAttachment` for a file that the system can't show. Any other error is the system's.
    public func add(_ request: NotificationRequest) async throws {
        let trigger = try request.trigger.map(systemTrigger)
        let (content, refused) = request.content.finalForm()
        if let first = refused.first {
            throw NotificationError(.invalidAttachment, "the system refuses the attachment \(first.identifier)")
        }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let request = UNNotificationRequest(
                identifier: request.id, content: content, trigger: trigger)
            system.add(request) { error in
                continuation.resume(with: error.map { .failure(NotificationError.replacing($0)) } ?? .success(()))
            }
        }
    }

    /// The scheduled notifications, in any order.
    public func pending() async -> [NotificationRequest] {
        await withCheckedContinuation { continuation in
            system.getPendingNotificationRequests { [regions] in
                continuation.resume(returning: $0.map { NotificationRequest($0, regions) })
            }
        }
    }

    /// Removes scheduled notifications.
    public func removePending(_ requestIDs: [String]) {
        system.removePendingNotificationRequests(withIdentifiers: requestIDs)
    }

    /// Removes all scheduled notifications.
    public func removeAllPending() { system.removeAllPendingNotificationRequests() }

    /// The notifications that are on the screen or in the list.
    public func delivered() async -> [DeliveredNotification] {
        await withCheckedContinuation { continuation in
            system.getDeliveredNotifications { [regions] in
                continuation.resume(returning: $0.map { DeliveredNotification($0, regions) })
            }
        }
    }

    /// Removes notifications from the list.
    public func remove(_ requestIDs: [String]) {
        system.removeDeliveredNotifications(withIdentifiers: requestIDs)
    }

    /// Removes all notifications from the list.
    public func removeAllDelivered() { system.removeAllDeliveredNotifications() }

    /// Sets the number on the app's icon. On watchOS, where apps have no number, it does nothing.
    ///
    /// - Throws: `NotificationError` for Apple's `UNError`; any other error is the system's.
    public func setBadgeCount(_ count: Int) async throws {
        #if !os(watchOS)
        do {
            try await system.setBadgeCount(count)
        } catch {
            throw NotificationError.replacing(error)
        }
        #endif
    }

    private func systemTrigger(_ trigger: NotificationTrigger) throws -> UNNotificationTrigger {
        switch trigger {
        case .timeInterval(let seconds, let repeats):
            // The system ends the app for these.
            guard seconds > 0, !repeats || seconds >= 60 else {
                throw NotificationError(
                    .invalidTrigger, "a time interval is above 0 seconds, a repeated one 60 or more")
            }
            return UNTimeIntervalNotificationTrigger(timeInterval: seconds, repeats: repeats)
        case .calendar(let match, let repeats):
            return UNCalendarNotificationTrigger(dateMatching: try match.components, repeats: repeats)
        case .location(let region, let repeats):
            guard let regions else {
                throw NotificationError(.invalidTrigger, "SystemNotifications has no RegionTriggers")
            }
            return regions.trigger(region, repeats)
        case .push, .unknown: throw NotificationError(.invalidTrigger, "only the system makes such a trigger")
        }
    }
}

extension KeptNotifications {
    /// Opens the placeholders of the app's notification centre.
    ///
    /// - Parameter configuration: the extension's. Without `strings`, the app's are used, as in the extension.
    public init(_ configuration: ExtensionConfiguration) {
        self.init(configuration, inSystem: SystemNotifications())
    }

    init(_ configuration: ExtensionConfiguration, inSystem center: SystemNotifications) {
        var configuration = configuration
        configuration.strings = configuration.strings ?? BundleStringTable()
        self.init(configuration, in: center)
        systemForm = { content in
            let (system, refused) = content.finalForm()
            return (refused, UserInfoJSON.json(system.userInfo))
        }
    }
}

extension AppGroup {
    /// Removes the notifications from the screen whose messages have expired or were retracted. Call it when the app starts or
    /// becomes active; the extension does the same with each push.
    ///
    /// - Throws: `StoreError`.
    public func removeDueNotifications(
        at time: UnixTime = .now, in center: any UserNotificationCenter = SystemNotifications()
    ) async throws {
        let store = store(.app)
        try await DedicatedThread.value { try store.sweep(center, at: time) }
    }

    /// Sets the number on the app's icon, and the number that the extension counts on from. Pass 0 when everything was read.
    ///
    /// - Parameter number: a number outside 0 to 9,999 becomes the nearest one inside.
    /// - Throws: `StoreError`, and the system's error, usually because the user doesn't allow badges.
    public func setBadge(
        _ number: Int, in center: any UserNotificationCenter = SystemNotifications()
    ) async throws {
        let store = store(.app)
        let badge = try await DedicatedThread.value {
            try store.setBadge(number)
            return try store.badge()
        }
        try await center.setBadgeCount(badge)
    }
}
#endif
