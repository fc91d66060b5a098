import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import Testing

/// The input of a seal, the same for both implementations.
struct Push: Sendable, CustomStringConvertible {
    static let topic = "com.example.app"
    static let now: Int64 = 1_800_000_000
    static let window: Int64 = 30 * 86_400

    let description: String
    var inner = ReferenceVectors.shared.inner
    var placeholder = Placeholder.literal(title: "New message", body: nil)
    var padding = Request.Padding.multiple(128)
    var limit = 4_096
    var expires = Self.window
    var exposed: [String] = []

    /// The Swift side's payload.
    func seal(_ channel: Channel, _ backend: any CryptoBackend) throws -> [UInt8] {
        let options = Sealer.Options(
            padding: padding.policy, limitInBytes: limit, expiresAfter: .seconds(expires), exposed: exposed)
        let sealer = try Sealer(
            topic: Self.topic, signer: channel.signer.map { try .key($0.sender(backend)) }, options: options,
            clock: { UnixTime(Self.now) })
        let push = try sealer.seal(Array(inner.utf8), to: channel.key.recipient(backend), placeholder: placeholder)
        return Array(push.json)
    }

    /// The Python side's answer to the same input.
    func reference(_ channel: Channel) throws -> Answer {
        let texts = [
            ("title", placeholder.title), ("body", placeholder.body), ("title-loc-key", placeholder.titleLocKey),
            ("loc-key", placeholder.bodyLocKey),
        ]
        let alert = Dictionary(uniqueKeysWithValues: texts.compactMap { name, text in text.map { (name, $0) } })
        return try Reference.ask(
            Request.Seal(
                to: channel.key.withoutPrivateKey, topic: Self.topic, inner: inner, placeholder: alert, at: Self.now,
                expires: expires, pad: padding, limit: limit, expose: exposed, signWith: channel.signer))
    }
}

extension Request.Padding {
    fileprivate var policy: PaddingPolicy {
        switch self {
        case .multiple(let count): .multiple(of: count)
        case .limit: .limit
        case .none: .none
        }
    }
}

/// The result of opening, from either implementation.
enum Outcome: Equatable {
    case opened(inner: String, id: String, iat: Int64, exp: Int64, signedBy: String?)
    case refused(FailureClass)

    static func swift(
        _ payload: [UInt8], _ channel: Channel, _ backend: any CryptoBackend, at time: Int64 = Push.now,
        topic: String = Push.topic
    ) throws -> Outcome {
        let senders: SenderTrust =
            try channel.trusted.map { jwks in
                .pinned(try TrustedSenders(Keyset(jwks.map { try $0.keyset(backend).entries[0] })))
            } ?? .unsigned
        let keyring = KeysetKeyring(try channel.key.keyset(backend))
        let opener = try Opener(topic: topic, keyring: keyring, senders: senders)
        switch opener.open(payload, at: UnixTime(time)) {
        case .failure(let failure): return .refused(failure)
        case .success(let push):
            return .opened(
                inner: String(decoding: push.payload, as: UTF8.self), id: push.messageID, iat: push.issuedAt.seconds,
                exp: push.expiresAt.seconds, signedBy: push.signedBy?.description)
        }
    }

    static func python(
        _ payload: [UInt8], _ channel: Channel, at time: Int64 = Push.now, topic: String = Push.topic
    ) throws -> Outcome {
        let answer = try Reference.ask(
            Request.Open(
                keys: [channel.key], topic: topic, payloadB64: Data(payload), at: time, trust: channel.trusted))
        if let error = answer.error { return .refused(FailureClass(rawValue: error)) }
        return .opened(
            inner: try #require(answer.inner), id: try #require(answer.id), iat: try #require(answer.iat),
            exp: try #require(answer.exp), signedBy: answer.signedBy)
    }

    /// The inner payload; nil if it was refused.
    var inner: String? {
        if case .opened(let inner, _, _, _, _) = self { inner } else { nil }
    }
}
