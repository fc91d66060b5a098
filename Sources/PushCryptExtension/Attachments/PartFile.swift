package import PushCryptFiles

/// A file that is being written, with a name that says so. Whoever makes one ends it: ``publish(extension:)`` or
/// ``remove()``, once.
struct PartFile: Sendable {
    private let folder: Folder
    private let file: OpenFile
    private let stem: String

    private var name: String { stem + ".part" }

    /// - Parameter stem: the name without its extension.
    /// - Throws: `AttachmentError` with `noSpace`, `inputOutput`.
    init(in folder: Folder, named stem: String) throws(AttachmentError) {
        let file = try AttachmentError.converting { () throws(FileError) in try folder.makeFile(stem + ".part") }
        self.init(in: folder, named: stem, file)
    }

    /// - Parameter file: open for writing.
    init(in folder: Folder, named stem: String, _ file: OpenFile) {
        self.folder = folder
        self.stem = stem
        self.file = file
    }

    /// - Throws: `AttachmentError` with `noSpace`, `inputOutput`; a part may have been written.
    func write(_ bytes: [UInt8]) throws(AttachmentError) {
        try AttachmentError.converting { () throws(FileError) in try file.write(bytes) }
    }

    /// Gives the file its name. It is not made to outlast a power failure: neither does its notification.
    ///
    /// - Returns: its path.
    /// - Throws: `AttachmentError` with `noSpace`, `inputOutput`; the file is gone then.
    func publish(extension fileExtension: String) throws(AttachmentError) -> String {
        let published = stem + "." + fileExtension
        do throws(FileError) {
            try folder.rename(name, to: published, isLasting: false)
        } catch {
            remove()
            throw AttachmentError(error)
        }
        return folder.path(of: published)
    }

    func remove() {
        try? folder.remove(name)
    }
}

extension AttachmentError: FileErrorConvertible {
    /// Without the path, which may say whose attachment it is.
    package init(_ error: FileError) {
        let verb = error.operation?.rawValue ?? "use"
        self.init(error.code == .noSpace ? .noSpace : .inputOutput, "can't \(verb) a file: \(error.systemMessage)")
    }
}
