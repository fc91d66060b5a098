import PushCryptRecipients

/// Shows on a terminal how far the work on a recipient directory is.
final class DirectoryProgressLine {
    private let verb: String
    private var line = ProgressLine()

    /// - Parameter verb: "checking"
    init(_ verb: String) {
        self.verb = verb
    }

    func show(_ progress: DirectoryProgress) {
        line?.show("\(verb): \(Self.text(progress))")
    }

    func clear() { line?.clear() }

    private static func text(_ progress: DirectoryProgress) -> String {
        guard let total = progress.total else { return "\(ShareText.grouped(Int(progress.done))) records" }
        let percent = "\(progress.done * 100 / max(total, 1)) %"
        return progress.phase == .reading ? "\(percent) read" : percent
    }
}
