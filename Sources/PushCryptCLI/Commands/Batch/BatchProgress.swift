import PushCryptFiles
import PushCryptPrimitives

/// How far a batch is, in a line of the terminal.
struct BatchProgress {
    private let start = ContinuousClock.now
    private var line: ProgressLine
    /// Bytes of stdin; nil where nobody knows.
    private let byteCount: Int?

    /// - Returns: nil unless somebody looks at stderr and sees nothing else there: what is drawn and data would be mixed up.
    init?() {
        guard isatty(STDOUT_FILENO) == 0, let line = ProgressLine() else { return nil }
        self.line = line
        let status = try? OpenFile(descriptor: STDIN_FILENO, named: "stdin").status()
        byteCount =
            status?.kind == .file ? status.map { Int($0.byteCount) - Int(lseek(STDIN_FILENO, 0, SEEK_CUR)) } : nil
    }

    mutating func show(lineCount: Int, position: Int) {
        let (byteCount, time) = (byteCount, ContinuousClock.now - start)
        line.show(Self.words(lineCount, position: position, of: byteCount, after: time))
    }

    /// Leaves an empty line.
    func clear() { line.clear() }

    /// `████▌      45.3%  1,234,567 lines  310,000/s  12s left`, at most 60 characters up to a billion lines.
    static func words(_ lineCount: Int, position: Int, of byteCount: Int?, after time: Duration) -> String {
        let seconds = max(Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18, 0.001)
        let rate = Int(Double(lineCount) / seconds)
        let lines = "\(ShareText.grouped(lineCount)) lines  \(ShareText.grouped(rate))/s"
        guard let byteCount, byteCount > 0 else { return lines }
        let done = min(position, byteCount)
        let bar = ShareText.bar(done, of: byteCount, width: 10).padded(to: 10)
        let percent = "\(done * 100 / byteCount)%".leftPadded(to: 4)
        let left = done > 0 ? Int64(seconds * Double(byteCount - done) / Double(done)) : 0
        return "\(bar) \(percent)  \(lines)  \(TimeDistance.rough(left)) left"
    }
}
