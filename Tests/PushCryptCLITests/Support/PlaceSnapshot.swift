import Foundation
import PushCryptTestSupport
import Testing

/// The files of a workplace, kept for others like it: what takes the tool long is made once.
struct PlaceSnapshot: Sendable {
    private let entries: [Entry]

    private struct Entry: Sendable {
        let path: String
        let mode: Int
        /// Nil for a folder.
        let data: Data?
    }

    init(_ place: Workplace) throws {
        // A folder comes before what is in it.
        entries = try FileManager.default.subpathsOfDirectory(atPath: place.folder.path).sorted().map { path in
            let values = try place.folder.file(path).resourceValues(forKeys: [.isDirectoryKey])
            let data = values.isDirectory == true ? nil : try place.read(path)
            return Entry(path: path, mode: try #require(try place.mode(of: path)), data: data)
        }
    }

    /// Another place with the same files.
    func place() throws -> Workplace {
        let place = try Workplace()
        for entry in entries {
            if let data = entry.data {
                try place.write(data, to: entry.path, mode: entry.mode)
            } else {
                try place.makeFolder(entry.path, mode: entry.mode)
            }
        }
        return place
    }
}
