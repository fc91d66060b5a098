import Foundation
import PushCryptFiles
import PushCryptKeysets
import Testing

/// A way to replace a keyset with a rotated one.
struct Replacement: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let perform: @Sendable (Operator) throws -> Void

    static let all: [Replacement] = [change, copiedFile, exchangedFolder, newFolder, writtenInPlace]

    private static let change = Replacement(testDescription: "the keystore's own change") { try $0.rotate() }

    private static let copiedFile = Replacement(testDescription: "a file renamed onto the old one") { place in
        try rename(place.rotatedCopy() + "/keyset.json", to: place.filePath)
        try rename(place.copyPath + "/audit.jsonl", to: place.path + "/audit.jsonl")
    }

    private static let exchangedFolder = Replacement(testDescription: "a folder renamed to the old name") { place in
        let copy = try place.rotatedCopy()
        try rename(place.path, to: place.path + ".old")
        try rename(copy, to: place.path)
    }

    private static let newFolder = Replacement(testDescription: "a folder removed and made again") { place in
        let copy = try place.rotatedCopy()
        try FileManager.default.removeItem(atPath: place.path)
        try Folder.makeIfMissing(place.path)
        for name in ["audit.jsonl", "keyset.json"] { try rename(copy + "/" + name, to: place.path + "/" + name) }
    }

    private static let writtenInPlace = Replacement(testDescription: "a file overwritten in place") { place in
        let copy = try place.rotatedCopy()
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: place.filePath))
        try file.write(contentsOf: FileSystem.readFile(copy + "/keyset.json"))
        try file.close()
        try rename(copy + "/audit.jsonl", to: place.path + "/audit.jsonl")
    }

    static func rename(_ path: String, to other: String) throws {
        try #require(unsafe Foundation.rename(path, other) == 0, "\(path) can't be renamed to \(other)")
    }
}
