public import Foundation
public import PushCryptSender

/// One of Apple's two servers. A device token belongs to one of them.
public enum APNsEnvironment: String, Hashable, Sendable, Codable, CaseIterable {
    /// Builds from Xcode.
    case sandbox
    /// TestFlight and the App Store.
    case production
}

/// What an installation of the app has uploaded.
public struct RegistrationUpload: Sendable {
    /// The user who is signed in.
    public var user: String
    /// The device token, hexadecimal digits in lower case.
    public var token: String
    /// The server that the token belongs to.
    public var environment: APNsEnvironment
    /// The registration record: a public JWK with its `psk`. It is a secret between app and backend.
    public var record: Data
    /// The id of the record's key.
    public var kid: String
    /// Which set of sender keys the app has accepted, as JSON; nil for none.
    public var senderSet: String?
    /// The server's name of the installation to renew; nil to find it by its token or key.
    public var name: String?

    /// Creates an upload; the parameters are the properties of the same names.
    public init(
        user: String, token: String, environment: APNsEnvironment, record: Data, kid: String,
        senderSet: String? = nil
    ) {
        self.user = user
        self.token = token
        self.environment = environment
        self.record = record
        self.kid = kid
        self.senderSet = senderSet
    }
}

/// An upload whose app hasn't answered the challenge yet.
public struct PendingUpload: Codable, Sendable {
    /// The record, and what the answer to the challenge is compared with.
    public var pending: PendingRegistration
    /// The user who is signed in.
    public var user: String
    /// The device token, hexadecimal digits in lower case.
    public var token: String
    /// The server that the token belongs to.
    public var environment: APNsEnvironment
    /// Which set of sender keys the app has accepted.
    public var senderSet: String?
    /// The installation to renew.
    public var name: String?
    /// The record as uploaded.
    public var record: Data

    /// The registration that the answer confirms.
    var upload: RegistrationUpload {
        var upload = RegistrationUpload(
            user: user, token: token, environment: environment, record: record,
            kid: pending.registration.kid.description, senderSet: senderSet)
        upload.name = name
        return upload
    }
}

/// What the service answers to a registration.
public struct RegistrationState: Hashable, Sendable {
    /// The server's name of the installation.
    public let name: String
    /// The id of the key that pushes are sealed to.
    public let kid: String
    /// Whether the server asks for a new registration and seals nothing to this key.
    public let asksForRegistration: Bool
}
