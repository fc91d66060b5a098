import Foundation
import PushCryptCore
import PushCryptRecipients
import PushCryptTestSupport
import Testing

/// The code of the `RecipientDirectoryError` that `body` throws; nil for no error or another one.
func directoryError(_ body: () throws -> some Any) -> RecipientDirectoryError.Code? {
    do { _ = try body() } catch { return (error as? RecipientDirectoryError)?.code }
    return nil
}

/// A folder with JSON lines, and the directory that they are imported into.
struct Place: Sendable {
    let folder: TemporaryFolder
    let name: String

    init(_ name: String = "devices.jsonl") throws { (folder, self.name) = (try TemporaryFolder(), name) }

    init(_ lines: [String]) throws {
        try self.init()
        try write(lines)
    }

    var path: String { folder.file(name).path }
    func write(_ lines: [String]) throws { try write(Data(lines.map { $0 + "\n" }.joined().utf8)) }

    /// Replaces the content of the file, not the file.
    func write(_ data: Data) throws {
        guard FileManager.default.fileExists(atPath: path) else {
            try data.write(to: folder.file(name))
            return try folder.setMode(0o600, of: name)
        }
        let file = try FileHandle(forWritingTo: folder.file(name))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: data)
        try file.close()
    }

    func append(_ text: String) throws {
        let file = try FileHandle(forWritingTo: folder.file(name))
        try file.seekToEnd()
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    var databasePath: String { folder.file("devices.sqlite").path }

    @discardableResult
    func importLines() throws(RecipientDirectoryError) -> DirectoryImport {
        try DirectoryImport(from: path, into: databasePath)
    }

    func imported() throws(RecipientDirectoryError) -> OpenPlace {
        try importLines()
        return OpenPlace(place: self, directory: try RecipientDirectory(path: databasePath))
    }

    func open() throws(RecipientDirectoryError) -> OpenPlace {
        OpenPlace(place: self, directory: try RecipientDirectory(path: path))
    }

    func reader() throws(RecipientDirectoryError) -> RecipientReader { try open().makeReader() }
}

/// A directory, and its temporary folder, which exists as long as this value.
struct OpenPlace: Sendable {
    let place: Place
    let directory: RecipientDirectory

    func makeReader() throws(RecipientDirectoryError) -> RecipientReader { try directory.makeReader() }
}
