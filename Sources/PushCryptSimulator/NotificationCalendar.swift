public import PushCryptNotifications

/// Finds the times of calendar triggers. `GregorianCalendar` of PushCryptSimulatorCalendar does it with time zones, for which it
/// needs Foundation.
public protocol NotificationCalendar: Sendable {
    /// The first time after `time` that matches; nil if there is none.
    func next(after time: UnixTime, matching match: CalendarMatch) -> UnixTime?
}
