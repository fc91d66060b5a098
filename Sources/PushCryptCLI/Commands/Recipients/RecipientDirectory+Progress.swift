import PushCryptRecipients

extension RecipientDirectory {
    /// Opens the directory and, where somebody looks at stderr, shows how far its index is.
    convenience init(showingProgressOf path: String) throws(RecipientDirectoryError) {
        let line = DirectoryProgressLine("indexing")
        defer { line.clear() }
        try self.init(path: path, progress: line.show)
    }
}

extension DirectoryCheck {
    /// Checks and, where somebody looks at stderr, shows how far it is.
    init(showingProgressOf directory: RecipientDirectory) throws(RecipientDirectoryError) {
        let line = DirectoryProgressLine("checking")
        defer { line.clear() }
        try self.init(directory, progress: line.show)
    }
}

extension DirectoryImport {
    /// Copies and, where somebody looks at stderr, shows how far it is.
    init(showingProgressOf directory: RecipientDirectory, into path: String) throws(RecipientDirectoryError) {
        let line = DirectoryProgressLine("copying")
        defer { line.clear() }
        try self.init(directory, into: path, progress: line.show)
    }
}

private final class DirectoryProgressLine {
    private let verb: String
    private var line = ProgressLine()

    init(_ verb: String) {
        self.verb = verb
    }

    func show(_ progress: DirectoryProgress) {
        line?.show("\(verb): \(Self.words(progress))")
    }

    func clear() { line?.clear() }

    private static func words(_ progress: DirectoryProgress) -> String {
        guard let total = progress.total else { return "\(ShareText.grouped(Int(progress.done))) records" }
        let percent = "\(progress.done * 100 / max(total, 1)) %"
        return switch progress.phase {
        case .reading: "\(percent) read"
        case .sorting: "\(percent) sorted"
        case .visiting: percent
        }
    }
}
