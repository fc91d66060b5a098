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
}
