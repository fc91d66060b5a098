public import Foundation

@available(iOS 10, macOS 10.14, watchOS 3, tvOS 10, visionOS 1, *)
open class UNPushNotificationTrigger: UNNotificationTrigger {
    /// Apple's class has no initializer for apps.
    public init(stub: Void) { super.init(stubRepeats: false) }
}

@available(iOS 10, macOS 10.14, watchOS 3, tvOS 10, visionOS 1, *)
open class UNTimeIntervalNotificationTrigger: UNNotificationTrigger {
    public let timeInterval: TimeInterval

    /// Apple's class ends the app for an interval of 0, or a repeated one below 60 seconds.
    public init(timeInterval: TimeInterval, repeats: Bool) {
        precondition(timeInterval > 0 && (!repeats || timeInterval >= 60))
        self.timeInterval = timeInterval
        super.init(stubRepeats: repeats)
    }
}

@available(iOS 10, macOS 10.14, watchOS 3, tvOS 10, visionOS 1, *)
open class UNCalendarNotificationTrigger: UNNotificationTrigger {
    public let dateComponents: DateComponents

    public init(dateMatching dateComponents: DateComponents, repeats: Bool) {
        self.dateComponents = dateComponents
        super.init(stubRepeats: repeats)
    }
}

/// Stands in for `UNLocationNotificationTrigger`, whose region is of Core Location.
@available(iOS 10, macOS 10.14, watchOS 3, tvOS 10, visionOS 1, *)
open class StubLocationTrigger: UNNotificationTrigger {
    public let identifier: String
    public let center: (latitude: Double, longitude: Double)
    public let radius: Double

    public init(
        identifier: String, center: (latitude: Double, longitude: Double), radius: Double, repeats: Bool
    ) {
        (self.identifier, self.center, self.radius) = (identifier, center, radius)
        super.init(stubRepeats: repeats)
    }
}
