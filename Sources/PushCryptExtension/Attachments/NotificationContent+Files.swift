import PushCryptPrimitives

extension NotificationContent {
    /// Removes the files of content that isn't shown: they hold what was decrypted, and nothing else would remove them.
    ///
    /// - Parameter other: the content in its place, which keeps its files.
    func removeFiles(notIn other: NotificationContent = NotificationContent()) {
        let kept = Set(other.attachments.map(\.path))
        for attachment in attachments where !kept.contains(attachment.path) { unsafe unlink(attachment.path) }
    }
}
