import Foundation
import PushCryptExtension
import PushCryptHPKE
import PushCryptPrimitives
import PushCryptSender
import Testing

/// What a log shows if it prints a value of the library. `print`, `dump` and a debugger use the three texts.
@Suite struct DescriptionTests {
    private static let secret = "Biopsy results"

    private func texts(_ value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(reflecting: value), dumped]
    }

    @Test("a sealed or resealed push and a blob print their lengths, and not their bytes") func lengths() throws {
        let push = try Channel.simple.seal(#"{"aps":{"alert":"x"}}"#)
        let resealed = try Self.resealer().reseal(push.bytes)
        #expect("\(push)" == "sealed push of \(push.byteCount) bytes, id \(push.id)")
        #expect("\(resealed)" == "unchanged push of \(push.byteCount) bytes")
        #expect("\(try SealedBlob([1, 2], for: .attachment))" == "sealed blob of 22 bytes, attachment of 2 bytes")
        for text in texts(push) { #expect(text.utf8.count < 120, "\(text)") }
    }

    private static func resealer() throws -> Resealer {
        let shared = try Keyset(json: TestKeys.privateJWK("shared"))
        return try Resealer(topic: "com.example.app", keyset: shared, clock: { Channel.now })
    }

    @Test("an outcome of a batch prints no bytes of its push") func outcome() async throws {
        for try await outcome in BatchSealer(try Channel.simple.sealer()).seal(try Requests(Channel.simple, count: 1)) {
            for text in texts(outcome) { #expect(text.utf8.count < 300, "\(text)") }
        }
    }

    @Test("an opened push prints its keys and none of its content") func openedPush() throws {
        let channel = Channel.simple
        let keyring = try KeysetKeyring(Keyset(json: TestKeys.privateJWK(channel.key)))
        let opener = try Opener(topic: "com.example.app", keyring: keyring, senders: .unsigned)
        let push = try channel.seal(#"{"aps":{"alert":{"title":"\#(Self.secret)"}}}"#)
        let opened = try opener.open(push.bytes, at: Channel.now).get()
        for text in texts(opened) + texts(opened.content) {
            #expect(!text.contains(Self.secret) && !text.contains("66, 105, 111"), "\(text)")
        }
        #expect("\(opened)".contains("\(opened.kid)"))
    }

    /// A value of each public type of Core and Sender that contains bytes of a message, a key or a digest.
    private static func values() throws -> [Any] {
        let channel = Channel(key: "p256 psk", isSigned: true)
        let registration = try Registration(json: TestKeys.publicJWK(channel.key), requiring: .psk)
        let sealer = try channel.sealer()
        let notification = PushNotification(
            title: secret, body: secret, badge: 3, threadID: secret, custom: ["note": secret])
        let payload = try sealer.encode(notification)
        let push = try sealer.seal(payload, to: channel.recipient())
        let challenge = try sealer.challenge(registration, host: "a.example")
        let shared = try Keyset(json: TestKeys.privateJWK("shared"))
        let resealed = try resealer().reseal(Channel.simple.seal(#"{"aps":{"alert":"x"}}"#).bytes)
        let attachment = try SealedBlob([UInt8](repeating: 1, count: 500), for: .attachment)
        let offload = try Sealer.offload(notification)
        let name = try #require(push.receiptName)
        let receipt = #"{"id":"\#(name)","push":"x","outcome":"opened","time":1800000000}"#
        return [
            notification, SealRequest(notification, to: try channel.recipient(), context: 1),
            try channel.recipient(), sealer, shared, try RecipientKey(shared.entries[0]),
            try TestKeys.sender(channel.backend), try TrustedSenders(json: TestKeys.publicJWK("sender")),
            registration, challenge, challenge.pending, payload, push, resealed, attachment, attachment.reference,
            try AttachmentReference(url: "https://a.b/c", blob: attachment.reference, type: "image/png"), offload,
            try OffloadReference(url: "https://a.b/c", blob: offload.reference), name,
            StoredRegistration(registration, account: "a", deviceToken: "aa11"),
            try Receipt(json: receipt.utf8),
            try SenderSetVersion(json: #"{"epoch":1,"seq":7,"digest":"\#(name)"}"#.utf8),
            SecretBytes(copying: Array(Self.secret.utf8).bytes),
        ]
    }

    @Test("a value with bytes prints a short text, without its bytes and its content") func bytes() throws {
        for value in try Self.values() {
            for text in texts(value) {
                #expect(text.utf8.count < 1_200, "\(type(of: value)): \(text)")
                // An array is printed as "1, 2, 3", and dumped with one element on a line.
                #expect(!text.contains(/(\d+, ){8}|(- \d+\n\s*){8}/), "\(type(of: value)): \(text)")
                #expect(!text.contains(Self.secret), "\(type(of: value)): \(text)")
            }
        }
    }

    /// A value of each public error type that a backend and an extension can get.
    private static func errors() -> [any Error] {
        var errors: [any Error] = [
            CryptoError(.invalidLength, "nonce"), HPKEError(.open), FailureClass.undecryptable,
            KeyError(.wrongKind, "a sender's key"), DeviceKeyError(.locked, "before the first unlock"),
            TransferError(.network, "no route"), StageFailure.Ending.timedOut,
        ]
        func collect(_ body: () throws -> Void) { do { try body() } catch { errors.append(error) } }
        collect { _ = try Channel.simple.seal("{}") }
        collect { _ = try AttachmentReference(json: Array("{}".utf8)) }
        collect { _ = try KeysetWatcher(file: "/nowhere") }
        collect { _ = try SharedStore(folder: "/nowhere/store", role: .app).badge() }
        return errors
    }

    @Test("localizedDescription of an error is its description") func localizedDescription() throws {
        let errors = Self.errors()
        #expect(Set(errors.map { "\(type(of: $0))" }).count == 11)
        for error in errors { #expect(error.localizedDescription == "\(error)") }
    }
}
