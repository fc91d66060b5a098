import Foundation
import NIOHPACK

/// Checks the path and headers of a request: "Sending notification requests to APNs".
struct RequestCheck {
    static let largestPayloadInBytes = 4_096
    /// "Sending notification requests to APNs". VoIP pushes have a larger limit, which isn't needed here.
    private static let pushTypes: Set<String> = [
        "alert", "background", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity", "pushtotalk",
        "widgets", "controls",
    ]
    private static let largestCollapseIDInBytes = 64
    /// The headers that APNs reads, each of which may occur once.
    private static let singleHeaders = [
        "authorization", "apns-id", "apns-topic", "apns-push-type", "apns-priority", "apns-expiration",
        "apns-collapse-id",
    ]

    let path: String
    let topic: String
    let pushType: String
    let priority: Int
    let expiration: Int64?
    let collapseID: String?
    let id: String?
    let authorization: String?

    /// - Throws: `Refused`
    init(_ headers: HPACKHeaders) throws(Refused) {
        path = headers.first(name: ":path") ?? ""
        guard Self.singleHeaders.allSatisfy({ headers[$0].count <= 1 }) else { throw Refused(.duplicateHeaders) }
        authorization = headers.first(name: "authorization")
        id = headers.first(name: "apns-id")
        if let id, UUID(uuidString: id) == nil { throw Refused(.badMessageID) }
        guard let topic = headers.first(name: "apns-topic"), !topic.isEmpty else { throw Refused(.missingTopic) }
        guard topic.utf8.count <= 255 else { throw Refused(.badTopic) }
        self.topic = topic
        pushType = headers.first(name: "apns-push-type") ?? "alert"
        guard Self.pushTypes.contains(pushType) else { throw Refused(.invalidPushType) }
        guard let priority = Int(headers.first(name: "apns-priority") ?? "10"), [1, 5, 10].contains(priority),
            pushType != "background" || priority != 10
        else { throw Refused(.badPriority) }
        self.priority = priority
        if let text = headers.first(name: "apns-expiration") {
            guard let time = Int64(text), time >= 0 else { throw Refused(.badExpirationDate) }
            expiration = time
        } else {
            expiration = nil
        }
        collapseID = headers.first(name: "apns-collapse-id")
        if let collapseID, collapseID.utf8.count > Self.largestCollapseIDInBytes { throw Refused(.badCollapseID) }
    }

    /// The device token of the path `/3/device/TOKEN`.
    ///
    /// - Throws: `Refused`
    func token() throws(Refused) -> String {
        guard path.hasPrefix("/3/device") else { throw Refused(.badPath) }
        let rest = path.dropFirst("/3/device".count)
        guard rest.count > 1, rest.first == "/" else { throw Refused(.missingDeviceToken) }
        let token = rest.dropFirst().lowercased()
        guard token.utf8.count.isMultiple(of: 2), token.allSatisfy(\.isHexDigit) else { throw Refused(.badDeviceToken) }
        return token
    }
}

/// A refusal as an error.
struct Refused: Error {
    let refusal: Refusal

    init(_ refusal: Refusal) { self.refusal = refusal }
}
