import PushCryptExtension
import PushCryptFiles
import PushCryptPrimitives

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the system checks of an attachment's file: `UNNotificationAttachment`, the table of supported file types.
enum AttachmentFile {
    /// Why the system refuses the file; nil if it takes it.
    static func refusal(_ attachment: NotificationContent.Attachment) -> String? {
        guard let bytes = bytes(attachment.path) else { return "the file doesn't exist" }
        guard let type = AttachmentType.recognize(Array(bytes.prefix(AttachmentType.headByteCount))) else {
            return "the type isn't supported"
        }
        // The system believes the name of the file or the hint, and then decodes the file: both must fit.
        guard family(named: attachment.type?.fileExtension ?? fileExtension(of: attachment.path)) == type.family else {
            return "the type of the file isn't the named one"
        }
        guard bytes.count <= type.family.limitInBytes else {
            return "the file is larger than \(type.family.limitInBytes) bytes"
        }
        return nil
    }

    /// The attachments of content that the system refuses.
    static func refused(of content: NotificationContent) -> [NotificationContent.Attachment] {
        content.attachments.filter { refusal($0) != nil }
    }

    /// Other file extensions of the types, as Apple's systems declare them.
    private static let synonyms = [
        "jpeg": "jpg", "jpe": "jpg", "aif": "aiff", "aifc": "aiff", "wave": "wav", "mpeg": "mpg", "m4v": "mp4",
    ]

    private static func family(named name: String) -> AttachmentType.Family? {
        AttachmentType.all.first { $0.fileExtension == synonyms[name] ?? name }?.family
    }

    private static func fileExtension(of path: String) -> String {
        URL(fileURLWithPath: path).pathExtension.lowercased()
    }

    static func bytes(_ path: String) -> [UInt8]? {
        (try? Data(contentsOf: URL(fileURLWithPath: path))).map(Array.init)
    }
}

extension SimulatedNotificationCenter {
    /// The path of a file in the system's own storage.
    private static let storage = "system/"

    /// Takes the files of accepted content. `UNNotificationAttachment`: the system moves them into its own storage, and copies
    /// those of the app's bundle.
    func takeFiles(of content: NotificationContent) -> NotificationContent {
        var content = content
        for index in content.attachments.indices {
            let path = content.attachments[index].path
            guard !path.hasPrefix(Self.storage), let bytes = AttachmentFile.bytes(path) else { continue }
            if !isInBundle(path) { FileSystem.removeFile(path) }
            let stored = state.withLock { state in
                let stored = Self.storage + "\(state.files.count)"
                state.files[stored] = bytes
                return stored
            }
            content.attachments[index].path = stored
        }
        return content
    }

    private func isInBundle(_ path: String) -> Bool {
        guard let bundle = bundlePath else { return false }
        let folder = URL(fileURLWithPath: bundle).standardizedFileURL.path + "/"
        return URL(fileURLWithPath: path).standardizedFileURL.path.hasPrefix(folder)
    }
}
