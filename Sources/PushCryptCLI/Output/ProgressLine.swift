import PushCryptPrimitives

/// A line of a terminal on stderr that is drawn again and again.
struct ProgressLine {
    private var drawnAt: ContinuousClock.Instant?

    /// - Returns: nil unless somebody looks at stderr, on a terminal that can go back in its line.
    init?() {
        guard isatty(STDERR_FILENO) == 1 else { return nil }
        guard unsafe getenv("TERM").map({ unsafe String(cString: $0) }) != "dumb" else { return nil }
    }

    /// Ten times a second at most, however often it is called.
    mutating func show(_ words: @autoclosure () -> String) {
        let now = ContinuousClock.now
        if let drawnAt, now - drawnAt < .milliseconds(100) { return }
        drawnAt = now
        // The rest of a longer line from before goes.
        StandardStreams.draw("\r\(words())\u{1b}[K")
    }

    /// Leaves an empty line.
    func clear() {
        if drawnAt != nil { StandardStreams.draw("\r\u{1b}[K") }
    }
}
