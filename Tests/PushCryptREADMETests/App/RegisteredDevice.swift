import Foundation
import PushCryptSender

/// The backend's part: one registered device.
struct RegisteredDevice {
    let deviceToken: String
    let recipient: Recipient

    /// - Parameter record: the uploaded record. Store it like a password: its psk is a secret.
    init(deviceToken: String, record: Data) throws {
        self.deviceToken = deviceToken
        recipient = try Recipient(Registration(json: record, requiring: [.psk, .asymmetric]))
    }

    /// Returns the request to APNs, without your provider token: HTTP/2 `POST` to `https://api.push.apple.com`.
    func request(
        _ notification: PushNotification, sealer: Sealer
    ) throws -> (path: String, headers: [String: String], body: Data) {
        let push = try sealer.seal(
            notification, to: recipient, placeholder: .localized(title: "NEW_MESSAGE", body: nil))
        let headers = [
            "apns-push-type": "alert",
            "apns-topic": "com.example.app",
            "apns-priority": "10",
            "apns-expiration": "\(push.expiresAt.seconds)",
        ]
        return ("/3/device/\(deviceToken)", headers, push.json)
    }
}
