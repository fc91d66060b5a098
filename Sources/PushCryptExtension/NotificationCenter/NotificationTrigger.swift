/// When a notification is shown: `UNNotificationTrigger` and its classes.
public enum NotificationTrigger: Hashable, Sendable {
    /// A push. Only the system makes it.
    case push
    /// After a number of seconds, more than 0. A repeated one needs 60 seconds or more.
    case timeInterval(seconds: Double, repeats: Bool)
    /// At the next time that matches, in the calendar and time zone of the user.
    case calendar(CalendarMatch, repeats: Bool)
    /// When the device enters or leaves a region.
    case location(Region, repeats: Bool)
    /// One that has no case here. On Apple's systems also a region, unless the app gives `RegionTriggers`.
    case unknown

    /// Whether the notification is shown again and again.
    public var repeats: Bool {
        switch self {
        case .push, .unknown: false
        case .timeInterval(_, let repeats), .calendar(_, let repeats), .location(_, let repeats): repeats
        }
    }

    /// A circle on the earth: `CLCircularRegion`.
    public struct Region: Hashable, Sendable {
        /// The name of the region.
        public var id: String
        /// The latitude of the centre, in degrees from -90 to 90.
        public var latitude: Double
        /// The longitude of the centre, in degrees from -180 to 180.
        public var longitude: Double
        /// The radius in metres, more than 0.
        public var radius: Double
        /// Whether the notification is shown when the device enters the region.
        public var notifiesOnEntry: Bool
        /// Whether the notification is shown when the device leaves the region.
        public var notifiesOnExit: Bool

        /// Creates a region.
        public init(
            id: String, latitude: Double, longitude: Double, radius: Double, notifiesOnEntry: Bool = true,
            notifiesOnExit: Bool = true
        ) {
            (self.id, self.latitude, self.longitude, self.radius) = (id, latitude, longitude, radius)
            (self.notifiesOnEntry, self.notifiesOnExit) = (notifiesOnEntry, notifiesOnExit)
        }
    }
}

/// The parts of a date that must match: `DateComponents` of the Gregorian calendar.
///
/// A trigger with `hour: 7` fires once a day, at 7:00:00. One with `minute: 30` fires once an hour, at second 0 of minute 30.
public struct CalendarMatch: Hashable, Sendable {
    /// The year, such as 2026.
    public var year: Int?
    /// The month, from 1.
    public var month: Int?
    /// The day of the month, from 1.
    public var day: Int?
    /// The day of the week, from 1 for Sunday to 7.
    public var weekday: Int?
    /// The hour, from 0 to 23.
    public var hour: Int?
    /// The minute, from 0 to 59.
    public var minute: Int?
    /// The second, from 0 to 59.
    public var second: Int?
    /// The name of a time zone, such as `Europe/Zurich`; nil for the user's.
    public var timeZone: String?

    /// Creates a match. Without any part no time matches.
    public init(
        year: Int? = nil, month: Int? = nil, day: Int? = nil, weekday: Int? = nil, hour: Int? = nil,
        minute: Int? = nil, second: Int? = nil, timeZone: String? = nil
    ) {
        (self.year, self.month, self.day, self.weekday) = (year, month, day, weekday)
        (self.hour, self.minute, self.second, self.timeZone) = (hour, minute, second, timeZone)
    }
}
