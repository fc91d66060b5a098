import Foundation
import PushCryptPrimitives
import PushCryptTestSupport

@testable import PushCryptExtension

/// The files of the processes, and what they may show.
final class DeliveryPlace: Sendable {
    let payload: [UInt8]
    let push: OpenedPush
    /// The content without the stage and with it.
    let restored: [NotificationContent]
    let store: StoreFolder
    /// Made once: each of thousands of processes would read its keys again.
    let configuration: ExtensionConfiguration
    private let placeholders = Locked<[FailureClass: NotificationContent]>([:])
    private let folder: TemporaryFolder
    var file: String { folder.file("file").path }

    init() throws {
        payload = try TestPush(key: "shared").sealed()
        push = try TestPush.open(payload, key: "shared").get()
        store = try StoreFolder()
        configuration = try .test(key: "shared")
        folder = try TemporaryFolder()
        restored = [push.content, Self.staged(push.content, folder.file("file").path)]
        _ = try store.store().rememberedIDs()
    }

    func placeholder(_ failure: FailureClass) -> NotificationContent {
        placeholders.withLock { placeholders in
            let known = placeholders[failure]
            let content = known ?? Fallback.outerAlert(orElse: .standard).content(for: payload, failure)
            placeholders[failure] = content
            return content
        }
    }

    /// Restores the state before the first push.
    func empty() throws {
        try? FileManager.default.removeItem(atPath: file)
        try store.script("DELETE FROM message; DELETE FROM reader;")
    }

    static func staged(_ content: NotificationContent, _ path: String) -> NotificationContent {
        var content = content
        content.title.literal = (content.title.literal ?? "") + " with a file"
        content.attachments.append(.init(identifier: "file", path: path, type: .png))
        return content
    }
}
