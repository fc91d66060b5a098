import Foundation
import PushCryptExtension
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

    private func push(_ channel: Channel = .simple) throws -> SealedPush {
        try channel.seal(#"{"aps":{"alert":{"title":"\#(Self.secret)"}}}"#)
    }

    @Test("a sealed push prints its length and id, and not its bytes") func sealedPush() throws {
        let push = try push()
        #expect("\(push)" == "sealed push of \(push.byteCount) bytes, id \(push.id)")
        for text in texts(push) { #expect(text.utf8.count < 120, "\(text)") }
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
        let opened = try opener.open(Array(push(channel).json), at: Channel.now).get()
        for text in texts(opened) + texts(opened.content) {
            #expect(!text.contains(Self.secret) && !text.contains("66, 105, 111"), "\(text)")
        }
        #expect("\(opened)".contains("\(opened.kid)"))
    }

    @Test("a notification prints the members that it has, and none of their values") func notification() throws {
        let notification = PushNotification(
            title: Self.secret, body: Self.secret, badge: 3, threadID: Self.secret, custom: ["note": Self.secret])
        for text in texts(notification) { #expect(!text.contains(Self.secret), "\(text)") }
        let request = SealRequest(
            notification, to: try Channel.simple.recipient(), placeholder: Channel.placeholder, context: 1)
        for text in texts(request) { #expect(!text.contains(Self.secret), "\(text)") }
    }

    @Test("localizedDescription of an error is its reason") func localizedDescription() throws {
        let refusal = #expect(throws: SenderError.self) { try Channel.simple.seal("{}") }
        #expect(refusal?.localizedDescription == "the payload has no aps object")
        let key = #expect(throws: KeyError.self) { try Recipient(jwk: Data("{}".utf8)) }
        #expect(try #require(key).localizedDescription == "\(try #require(key))")
        let folder = #expect(throws: KeystoreError.self) { try KeysetWatcher(folder: "/nowhere") }
        #expect(try #require(folder).localizedDescription == "\(try #require(folder))")
    }
}
