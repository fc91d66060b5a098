public import Foundation

// swift-format-ignore: AlwaysUseLowerCamelCase
@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
public let UNNotificationAttachmentOptionsTypeHintKey = "UNNotificationAttachmentOptionsTypeHintKey"
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
public let UNNotificationAttachmentOptionsThumbnailHiddenKey = "UNNotificationAttachmentOptionsThumbnailHiddenKey"
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
public let UNNotificationAttachmentOptionsThumbnailClippingRectKey =
    "UNNotificationAttachmentOptionsThumbnailClippingRectKey"
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
public let UNNotificationAttachmentOptionsThumbnailTimeKey = "UNNotificationAttachmentOptionsThumbnailTimeKey"

public struct UNError: Error, Hashable {
    public enum Code: Int, Sendable, CaseIterable {
        case notificationsNotAllowed = 1
        case attachmentInvalidURL = 100
        case attachmentUnrecognizedType
        case attachmentInvalidFileSize
        case attachmentNotInDataStore
        case attachmentMoveIntoDataStoreFailed
        case attachmentCorrupt
        case notificationInvalidNoDate = 1400
        case notificationInvalidNoContent
        case contentProvidingObjectNotAllowed = 1500
        case contentProvidingInvalid
        case badgeInputInvalid = 1600
    }

    public let code: Code

    public init(_ code: Code) { self.code = code }
}

/// Accepts files of the documented types and sizes, and of three types that the documentation doesn't list.
@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
open class UNNotificationAttachment: NSObject {
    public let identifier: String
    public let url: URL
    public let type: String
    /// Apple's class doesn't expose its options.
    public let stubOptions: [AnyHashable: Any]

    public init(identifier: String, url URL: URL, options: [AnyHashable: Any]? = nil) throws {
        guard URL.isFileURL, let file = try? FileManager.default.attributesOfItem(atPath: URL.path) else {
            throw UNError(.attachmentInvalidURL)
        }
        let hint = options?[UNNotificationAttachmentOptionsTypeHintKey] as? String
        guard let type = hint ?? Self.typesByExtension[URL.pathExtension.lowercased()],
            let megabytes = Self.megabytesByType[type]
        else { throw UNError(.attachmentUnrecognizedType) }
        guard let size = file[.size] as? NSNumber, size.intValue <= megabytes << 20 else {
            throw UNError(.attachmentInvalidFileSize)
        }
        self.identifier = identifier.isEmpty ? UUID().uuidString : identifier
        // The system may write a path differently from the app.
        self.url = URL.standardizedFileURL
        self.type = type
        stubOptions = options ?? [:]
    }

    private static let typesByExtension = [
        "jpg": "public.jpeg", "jpeg": "public.jpeg", "gif": "com.compuserve.gif", "png": "public.png",
        "aiff": "public.aiff-audio", "wav": "com.microsoft.waveform-audio", "mp3": "public.mp3",
        "m4a": "public.mpeg-4-audio", "mpg": "public.mpeg", "mp4": "public.mpeg-4", "avi": "public.avi",
        "heic": "public.heic", "heif": "public.heif", "webp": "org.webmproject.webp",
    ]

    private static let megabytesByType = [
        "public.jpeg": 10, "com.compuserve.gif": 10, "public.png": 10, "public.aiff-audio": 5,
        "com.microsoft.waveform-audio": 5, "public.mp3": 5, "public.mpeg-4-audio": 5, "public.mpeg": 50,
        "public.mpeg-2-video": 50, "public.mpeg-4": 50, "public.avi": 50,
        "public.heic": 10, "public.heif": 10, "org.webmproject.webp": 10,
    ]
}
