import Foundation
import PushCryptSender
import Testing

/// The guides to the sender show files of the examples, and their table has every key that a notification can have.
@Suite("guides to the sender") struct SenderGuideTests {
    private static let guides = "Sources/PushCryptSender/PushCryptSender.docc/"

    @Test("the first page shows the files of the two examples, and no other Swift code") func showsTheseFiles() throws {
        let blocks = try Documents.blocks(of: "swift", in: Self.guides + "PushCryptSender.md").map { $0.text + "\n" }
        let files = [
            "Examples/backend/Tests/PusherTests/Reminders.swift",
            "Examples/senders/with-apnswift/Sources/SealedPushes/SealedPushes.swift",
        ]
        #expect(try blocks == files.map(Documents.text(of:)))
    }

    @Test("the table of Apple's keys has each key that a notification and a placeholder write, and no other")
    func allKeys() throws {
        let rows = try Documents.text(of: Self.guides + "AppleKeys.md").matches(
            of: #/\| `([a-z.-]+)` \| (.+) \| (.+) \|/#)
        let documented = Set(rows.map { String($0.1) })
        #expect(documented.count == rows.count)
        #expect(try documented == Self.keys(of: Self.everything).union(["mutable-content"]))
        let outside = rows.filter { $0.3.contains("`Placeholder.") }.map { String($0.1) }
        #expect(Set(outside) == documented.filter { $0.hasPrefix("alert.") })
    }

    /// The keys that a notification with every property encodes.
    private static func keys(of notification: PushNotification) throws -> Set<String> {
        let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(notification))
        let aps = try #require((json as? [String: Any])?["aps"] as? [String: Any])
        let alert = try #require(aps["alert"] as? [String: Any])
        return Set(aps.keys.filter { $0 != "alert" }).union(alert.keys.map { "alert." + $0 })
    }

    private static let everything = PushNotification(
        title: "T", subtitle: "S", body: "B", titleLocKey: "TK", titleLocArguments: ["1"], subtitleLocKey: "SK",
        subtitleLocArguments: ["2"], bodyLocKey: "BK", bodyLocArguments: ["3"], launchImage: "L", badge: 1,
        sound: .default, category: "C", threadID: "D", interruptionLevel: .active, relevanceScore: 1,
        targetContentID: "I", filterCriteria: "F", isContentAvailable: true)
}
