import Foundation
import PushCryptApple
import UserNotifications

/// Removes what a user's notifications have left on the device.
nonisolated func removeTraces(of group: AppGroup) async throws {
    let center = SystemNotifications()
    center.removeAllDelivered()
    center.removeAllPending()
    // The senders' pictures, if the extension keeps any.
    let avatars = group.folder.appendingPathComponent("avatars")
    if FileManager.default.fileExists(atPath: avatars.path) { try FileManager.default.removeItem(at: avatars) }
    try group.previewChoice.set(.everything)
    // The user may not allow badges.
    try? await group.setBadge(0)
}
