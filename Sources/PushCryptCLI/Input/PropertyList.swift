#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads property lists that other people wrote.
enum PropertyList {
    /// The most arrays and dictionaries of a list in XML. Those that are read here have some dozens.
    private static let collectionLimit = 2_000

    /// - Throws: `DecodingError`, also for a list with too many arrays and dictionaries.
    static func decode<List: Decodable>(_ type: List.Type, _ bytes: [UInt8]) throws -> List {
        // Foundation reads nested elements recursively, without a limit: 10,000 of them overflow the stack. Those that it would
        // skip, such as in comments, count too. UTF-16 has zeros between the characters.
        let text = bytes.filter { $0 != 0 }
        let count = text.indices.count { index in
            text[index] == UInt8(ascii: "<")
                && ["array", "dict"].contains { text[(index + 1)...].starts(with: $0.utf8) }
        }
        guard count <= collectionLimit else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "too many collections"))
        }
        return try PropertyListDecoder().decode(type, from: Data(bytes))
    }
}
