import PushCryptExtension
import PushCryptSender
import Testing

/// A payload that a test seals to one recipient.
struct TestPush {
    static let topic = "com.example.app"
    static let now = UnixTime(1_800_000_000)
    static let window: Int64 = 30 * 86_400
    static let json = #"{"aps":{"alert":{"title":"Zoë","body":"Build 1.10 is ready"},"badge":3},"thread":[7,1.50]}"#
    var key = "p256"
    var signer: String?
    var json = Self.json
    var options = Sealer.Options()
    var attachments: [AttachmentReference] = []
    var offload: OffloadReference?
    var isSelfTest = false
    var time = Self.now

    /// Seals the payload with a `Sealer`.
    func seal(to recipient: Recipient? = nil) throws -> SealedPush {
        let sealer = try Sealer(
            topic: Self.topic, signer: signer.map { try .key(TestKeys.sender($0)) }, options: options,
            clock: { [time] in time })
        return try sealer.seal(
            Array(json.utf8), to: recipient ?? TestKeys.recipient(key),
            placeholder: .literal(title: "New message", body: nil), attachments: attachments, offload: offload,
            isSelfTest: isSelfTest)
    }

    func sealed() throws -> [UInt8] { try seal().bytes }

    /// Seals a push with the body "short" to a key, whose offloaded payload is the blob.
    static func offloading(_ blob: SealedBlob, key: String = "p256") throws -> [UInt8] {
        let reference = try OffloadReference(url: "https://example.com/9", blob: blob.reference)
        return try TestPush(key: key, json: #"{"aps":{"alert":"short"}}"#, offload: reference).sealed()
    }

    /// Encrypts a message, the text by default, unchanged and without adding a header, as everyone with the public key can.
    func sealedAsMessage(_ message: [UInt8]? = nil) throws -> [UInt8] {
        let recipient = try TestKeys.recipient(key)
        let signer = try signer.map(TestKeys.sender)
        let sealed = try Envelope.seal(
            message ?? Array(json.utf8), to: recipient, signer: signer, topic: try Topic(Self.topic))
        let frame = OuterFrame(
            placeholder: Array(#"{"title":"New message"}"#.utf8), exposed: [], kid: recipient.kid, skid: signer?.kid)
        return frame.payload(sealed: sealed)
    }

    /// Seals the push, and opens it with its key.
    func opened(trusting senders: SenderTrust) throws -> Result<OpenedPush, FailureClass> {
        try Opener(topic: Self.topic, keyring: KeysetKeyring(TestKeys.keyset(key)), senders: senders)
            .open(sealed(), at: Self.now)
    }

    static func open(
        _ payload: [UInt8], key: String = "p256", trusting senders: [String]? = nil, topic: String = topic,
        at time: UnixTime = now, highestIssuedAt: UnixTime? = nil
    ) throws -> Result<OpenedPush, FailureClass> {
        let opener = try Opener(
            topic: topic, keyring: KeysetKeyring(TestKeys.keyset(key)),
            senders: senders.map { .pinned(try TestKeys.trusted($0)) } ?? .unsigned)
        return opener.open(payload, at: time, highestIssuedAt: highestIssuedAt)
    }
}

func expectCode<Failure: Error, Code: Equatable>(
    _ code: Code, of path: KeyPath<Failure, Code>, _ comment: Comment? = nil,
    location: SourceLocation = #_sourceLocation, _ body: () throws -> some Any
) {
    let error = #expect(throws: Failure.self, comment, sourceLocation: location) { _ = try body() }
    #expect(error?[keyPath: path] == code, comment, sourceLocation: location)
}

func expectKeyError(
    _ code: KeyError.Code, location: SourceLocation = #_sourceLocation, _ body: () throws -> some Any
) {
    expectCode(code, of: \KeyError.code, location: location, body)
}

extension Result {
    var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}

extension [UInt8] {
    var text: String { String(decoding: self, as: UTF8.self) }

    /// Returns the text with the first `old` replaced. It traps if the text doesn't contain `old`.
    func replacing(_ old: String, with new: String) -> [UInt8] {
        guard let range = text.firstRange(of: old) else { preconditionFailure("no \(old) in \(text)") }
        return Array(text.replacingSubrange(range, with: new).utf8)
    }
}

extension String {
    fileprivate func replacingSubrange(_ range: Range<Index>, with new: String) -> String {
        self[..<range.lowerBound] + new + self[range.upperBound...]
    }
}
