import Crypto
import Foundation
import NIOConcurrencyHelpers

/// The signed set of sender keys that apps fetch. `pushcrypt keys export --signed-by` writes the file on another host; this service
/// only serves it.
public final class SenderSet: Sendable {
    /// Section 10 of the protocol.
    private static let largestByteCount = 262_144

    struct Document {
        let bytes: Data
        /// A strong validator, in quotes.
        let etag: String
    }

    private struct Cached {
        let stamp: Stamp
        let document: Document
    }

    private struct Stamp: Hashable {
        let modified: Date?
        let size: Int?
        let inode: Int?
    }

    private let path: String
    private let cached = NIOLockedValueBox<Cached?>(nil)

    /// - Parameter path: replace the file with a rename.
    public init(path: String) { self.path = path }

    /// The document; nil if there is none that apps could accept.
    var document: Document? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
        let stamp = Stamp(
            modified: attributes[.modificationDate] as? Date, size: (attributes[.size] as? NSNumber)?.intValue,
            inode: (attributes[.systemFileNumber] as? NSNumber)?.intValue)
        if let cached = cached.withLockedValue({ $0 }), cached.stamp == stamp { return cached.document }
        guard let bytes = try? Data(contentsOf: URL(fileURLWithPath: path)),
            bytes.count <= Self.largestByteCount, bytes.first == UInt8(ascii: "{")
        else { return nil }
        let document = Document(bytes: bytes, etag: "\"\(Data(SHA256.hash(data: bytes)).base64URL)\"")
        cached.withLockedValue { $0 = Cached(stamp: stamp, document: document) }
        return document
    }
}
