import PushCryptSender
import PushCryptSimulator
import Testing

@Suite("a phone that pins its senders") struct SenderRecipes {
    private let text = PushNotification(title: "Zoë", body: "Hi")

    @Test("a push that the pinned sender signs is restored, and one of another sender or without a signature isn't")
    func pinnedSender() async throws {
        let sender = try TestSender()
        let phone = try await TestDevice(topic: "com.example.app", senders: sender.trust)
        let signers: [(Signer?, FailureClass?)] = [
            (.key(try SenderKey(jwk: sender.privateKey)), nil),
            (.key(try SenderKey(jwk: TestSender().privateKey)), .unknownKey),
            (nil, .undecryptable),
        ]
        for (signer, failure) in signers {
            let sealer = try Sealer(topic: "com.example.app", signer: signer)
            let push = try sealer.seal(text, to: Recipient(jwk: phone.registration), placeholder: .standard)
            let reception = await phone.receive(push.json)
            #expect(reception.failure == failure && reception.isRestored == (failure == nil))
        }
    }

    @Test("one of two pinned senders can't take back the other's push; the other can")
    func twoSenders() async throws {
        let (first, second) = (try TestSender(), try TestSender())
        let phone = try await TestDevice(topic: "com.example.app", senders: .pinned(first.senders, second.senders))
        func send(_ sender: TestSender, _ options: Sealer.Options = .init()) async throws -> String {
            let signer = Signer.key(try SenderKey(jwk: sender.privateKey))
            let sealer = try Sealer(topic: "com.example.app", signer: signer, options: options)
            let push = try sealer.seal(text, to: Recipient(jwk: phone.registration), placeholder: .standard)
            #expect(await phone.receive(push.json).isRestored)
            return push.id
        }
        let id = try await send(first)
        _ = try await send(second, .init(retractedIDs: [id]))
        #expect(phone.device.center.deliveredNotifications.count == 2)
        _ = try await send(first, .init(retractedIDs: [id]))
        #expect(phone.device.center.deliveredNotifications.count == 2)
    }
}
