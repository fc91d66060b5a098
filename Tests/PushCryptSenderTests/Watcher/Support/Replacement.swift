import Foundation
import PushCryptFiles
import PushCryptTestSupport
import Testing

/// A way to replace a keyset with a rotated one.
struct Replacement: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// - Parameter text: the file of the rotated keyset.
    let perform: @Sendable (_ place: Operator, _ text: [UInt8]) throws -> Void

    static let all: [Replacement] = [renamedFile, removedFile, writtenInPlace]

    private static let renamedFile = Replacement(testDescription: "a file renamed onto the old one") { place, text in
        try place.write(text)
    }

    private static let removedFile = Replacement(testDescription: "a file removed and made again") { place, text in
        try FileManager.default.removeItem(atPath: place.filePath)
        try place.write(text)
    }

    private static let writtenInPlace = Replacement(testDescription: "a file overwritten in place") { place, text in
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: place.filePath))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: text)
        try file.close()
    }

    static func rename(_ path: String, to other: String) throws {
        try #require(unsafe Foundation.rename(path, other) == 0, "\(path) can't be renamed to \(other)")
    }
}
