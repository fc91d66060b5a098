import PushCryptCore

/// How far away a moment is, in the largest unit that says enough: people plan in days.
enum TimeDistance {
    /// `in 12d`, `3d ago`, `now`.
    static func words(_ time: UnixTime, from now: UnixTime) -> String {
        let seconds = time.seconds - now.seconds
        if seconds == 0 { return "now" }
        return seconds > 0 ? "in \(rough(seconds))" : "\(rough(-seconds)) ago"
    }

    /// Rounded down: days from two days on, then hours, minutes, seconds.
    static func rough(_ seconds: Int64) -> String {
        switch seconds {
        case ..<120: "\(seconds)s"
        case ..<7_200: "\(seconds / 60)m"
        case ..<172_800: "\(seconds / 3_600)h"
        default: "\(seconds / 86_400)d"
        }
    }
}
