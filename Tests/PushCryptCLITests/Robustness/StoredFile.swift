import Foundation
import PushCryptTestSupport
import Testing

/// A keyset's file, read by Foundation instead of the code under test.
struct StoredFile {
    let sequence: Int
    let kids: Set<String>
    let logCount: Int

    /// - Throws: if it isn't valid.
    init(_ path: String, in place: Workplace) throws {
        let bytes = try place.read("\(path)/keyset.json")
        let member = try #require(try Payload.member("pushcrypt", of: bytes) as? [String: Any])
        sequence = try #require(member["seq"] as? Int)
        kids = Set(try #require(member["keys"] as? [String: Any]).keys)
        logCount = try #require((member["audit"] as? [String: Any])?["count"] as? Int)
    }
}
