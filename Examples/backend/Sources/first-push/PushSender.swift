import AsyncHTTPClient
import Foundation
import JWTKit
import PushCryptSender

/// Seals notifications and sends them to APNs. Make one and keep it, with its client and connections.
struct PushSender {
    let sealer: Sealer
    let client: HTTPClient
    /// https://api.push.apple.com, or https://api.sandbox.push.apple.com for an app that Xcode installed.
    let server: String
    let token: ProviderToken

    /// - Parameters:
    ///   - registration: the registration record that the app has uploaded.
    ///   - deviceToken: the device token in hexadecimal digits, uploaded with it.
    /// - Returns: the push's id at APNs.
    func send(
        _ notification: PushNotification, to registration: Data, deviceToken: String
    ) async throws -> String? {
        // A record without its psk is refused: no device could open the push.
        let registration = try Registration(json: registration, requiring: [.psk, .asymmetric])
        let push = try sealer.seal(notification, to: Recipient(registration))

        var request = HTTPClientRequest(url: "\(server)/3/device/\(deviceToken)")
        request.method = .POST
        request.headers = .init(push.headers)
        request.headers.add(name: "authorization", value: "bearer \(try await token.current())")
        request.body = .bytes(push.bytes)

        let response = try await client.execute(request, timeout: .seconds(15))
        // A body that isn't read resets its stream, and servers close connections with many resets.
        let answer = try await response.body.collect(upTo: 16_384)
        guard response.status == .ok else {
            throw Refusal(status: response.status.code, answer: String(buffer: answer))
        }
        return response.headers.first(name: "apns-id")
    }

    /// APNs didn't accept the push: `answer` has the reason, such as `{"reason":"BadDeviceToken"}`.
    struct Refusal: Error {
        let status: UInt
        let answer: String
    }
}

/// The token that authenticates a backend. APNs accepts it for an hour, and another one only after 20 minutes.
actor ProviderToken {
    private struct Claims: JWTPayload {
        let iss: IssuerClaim
        let iat: IssuedAtClaim

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private let keys = JWTKeyCollection()
    private let keyID: JWKIdentifier
    private let teamID: String
    private var made: (token: Task<String, any Error>, at: Date)?

    /// - Parameter key: the text of the `.p8` file from Apple's developer site, with the key's id and the team's id there.
    init(key: String, keyID: String, teamID: String) async throws {
        self.keyID = JWKIdentifier(string: keyID)
        self.teamID = teamID
        await keys.add(ecdsa: try ES256PrivateKey(pem: key), kid: self.keyID)
    }

    func current() async throws -> String {
        if let made, made.at.timeIntervalSinceNow > -50 * 60 { return try await made.token.value }
        // Whole seconds: jwt-kit would write the fraction, and APNs wants a number of seconds.
        let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        let claims = Claims(iss: IssuerClaim(value: teamID), iat: IssuedAtClaim(value: now))
        // One task for all pushes that wait: APNs refuses a backend that changes its token often.
        let token = Task { [keys, keyID] in try await keys.sign(claims, kid: keyID) }
        made = (token, now)
        do {
            return try await token.value
        } catch {
            made = nil
            throw error
        }
    }
}
