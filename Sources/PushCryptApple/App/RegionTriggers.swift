#if canImport(UserNotifications) && !os(tvOS)
public import PushCryptExtension
public import UserNotifications

/// Converts between a region and the system's trigger for it, a `UNLocationNotificationTrigger`. The conversions are the app's,
/// because code that names Core Location obliges an app to explain why it uses the user's location.
public struct RegionTriggers: Sendable {
    let trigger: @Sendable (NotificationTrigger.Region, _ repeats: Bool) -> UNNotificationTrigger
    let region: @Sendable (UNNotificationTrigger) -> NotificationTrigger.Region?

    /// Creates the conversions.
    ///
    /// - Parameters:
    ///   - trigger: makes the trigger of a region.
    ///   - region: returns the region of a trigger; nil for another kind of trigger.
    public init(
        trigger: @escaping @Sendable (NotificationTrigger.Region, _ repeats: Bool) -> UNNotificationTrigger,
        region: @escaping @Sendable (UNNotificationTrigger) -> NotificationTrigger.Region?
    ) {
        (self.trigger, self.region) = (trigger, region)
    }
}
#endif
