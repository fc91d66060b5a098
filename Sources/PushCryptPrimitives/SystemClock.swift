/// The system's clock. Code that needs the time takes a clock as a parameter; this is what such a parameter defaults to.
public enum SystemClock {
    /// Whole seconds since 1970-01-01T00:00:00Z.
    public static var secondsSince1970: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec)
    }
}
