import PushCryptRecipients

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension RecipientDirectory {
    /// Opens the directory and, where somebody looks at stderr, shows how far its index is.
    convenience init(showingProgressOf path: String) throws(RecipientDirectoryError) {
        guard isatty(STDERR_FILENO) == 1 else {
            try self.init(path: path)
            return
        }
        defer { draw("\r\u{1b}[K") }
        try self.init(path: path) { progress in
            let percent = progress.done * 100 / max(progress.total, 1)
            draw("\rindexing: \(percent) % \(progress.phase == .reading ? "read" : "sorted")\u{1b}[K")
        }
    }
}

/// Words that stay in their line on stderr and are written over.
private func draw(_ words: String) {
    let bytes = Array(words.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress!, $0.count) }
}
