import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

/// A shared keyset and a sender's, each with an old key and the new primary.
struct Rotation: Sendable, CustomStringConvertible {
    /// Nil for the bare shared key.
    var device: String?
    var isSigned = false
    var backend: any CryptoBackend = Backends.openSSL.backend

    static let old = "shared"
    static let new = "other shared"
    static let oldSender = "sender"
    static let newSender = "other sender"
    static let all = [nil, "phone-1_A"].flatMap { device in
        [Rotation(device: device, isSigned: false), Rotation(device: device, isSigned: true)]
    }
    static let onBothBackends = Backends.all.flatMap { named in
        all.map { Rotation(device: $0.device, isSigned: $0.isSigned, backend: named.backend) }
    }

    static let now = Channel.now
    static let retired = KeyLifecycle(activatesAt: UnixTime(0), retiresAt: now - 60)
    static let primary = KeyLifecycle(activatesAt: now - 60)

    var description: String { "\(device ?? "bare")\(isSigned ? " signed" : "") \(backend.name)" }

    func entry(_ name: String, _ lifecycle: KeyLifecycle) throws -> Keyset.Entry {
        Keyset.Entry(try TestKeys.keyset(name, backend).entries[0].record, lifecycle)
    }

    func keyset(old: KeyLifecycle = retired) throws -> Keyset {
        try Keyset([entry(Self.old, old), entry(Self.new, Self.primary)])
    }

    func senders(old: KeyLifecycle = retired) throws -> Keyset {
        try Keyset([entry(Self.oldSender, old), entry(Self.newSender, Self.primary)])
    }

    func resealer(topic: String = Channel.topic, at time: UnixTime = now) throws -> Resealer {
        try Resealer(topic: topic, keyset: keyset(), senders: isSigned ? senders() : nil, clock: { time })
    }

    func deviceID() throws -> DeviceID? { try device.map { try DeviceID($0) } }

    /// Seals to and signs with the keys of those names, 60 seconds before now.
    func seal(
        _ json: String = #"{"aps":{"alert":"x"}}"#, to key: String = old, by sender: String = oldSender,
        options: Sealer.Options = .init()
    ) throws -> [UInt8] {
        let signer = isSigned ? try TestKeys.keyset(sender, backend).senderKey(at: Self.now) : nil
        let sealer = try Sealer(
            topic: Channel.topic, signer: signer.map(Signer.key), options: options, clock: { Self.now - 60 })
        let recipient = try deviceKeyset(key).recipient(at: Self.now)
        return Array(try sealer.seal(Array(json.utf8), to: recipient, placeholder: Channel.placeholder).json)
    }

    /// A recipient with that key, which pins that sender if messages are signed.
    func opener(_ key: String, _ sender: String) throws -> Opener {
        let trusted: SenderTrust =
            isSigned ? .pinned(try TrustedSenders(TestKeys.keyset(sender, backend))) : .unsigned
        return try Opener(topic: Channel.topic, keyring: KeysetKeyring(deviceKeyset(key)), senders: trusted)
    }

    private func deviceKeyset(_ key: String) throws -> Keyset {
        let keyset = try TestKeys.keyset(key, backend)
        return try deviceID().map { try keyset.device($0) } ?? keyset
    }
}

/// Expects a `SenderError` with that code and returns it.
@discardableResult
func expectSenderError(
    _ code: SenderError.Code, _ comment: Comment? = nil, location: SourceLocation = #_sourceLocation,
    _ body: () throws -> some Any
) -> SenderError? {
    let error = #expect(throws: SenderError.self, comment, sourceLocation: location) { _ = try body() }
    if let error { #expect(error.code == code, comment ?? "\(error)", sourceLocation: location) }
    return error
}
