import PushCryptSender
import PushCryptSimulator
import Testing

/// A stage that sees the picture of the message's sender.
private struct SenderPicture: ContentStage {
    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        var content = content
        content.subtitle.literal = push.avatarPicture.map { "with a picture of \($0.count) bytes" }
        return content
    }
}

@Suite("content beyond the payload") struct LargeContentRecipes {
    @Test("a text that is too long for a push is fetched, and the short one is shown if that fails")
    func longText() async throws {
        let long = String(repeating: "long ", count: 2_000)
        let blob = try Sealer.offload(PushNotification(title: "Zoë", body: long))
        for isServed in [true, false] {
            let phone = try await TestDevice(topic: "com.example.app")
            if isServed { phone.device.network.serve(blob.bytes, at: "https://example.com/o", for: .seconds(2)) }
            let reception = try await phone.receive(
                sealed: #"{"aps":{"alert":{"title":"Zoë","body":"long …"}}}"#,
                offload: OffloadReference(url: "https://example.com/o", blob: blob.reference))
            #expect(reception.content?.body.literal == (isServed ? long : "long …"))
            #expect(reception.failure == (isServed ? nil : .attachmentFailed))
        }
    }

    @Test("a text that can't be fetched within eight simulated seconds leaves the short one")
    func slowText() async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        let blob = try Sealer.offload(PushNotification(title: "Zoë", body: "long"))
        phone.device.network.serve(blob.bytes, at: "https://example.com/o", for: .seconds(9))
        let reception = try await phone.receive(
            sealed: #"{"aps":{"alert":{"title":"Zoë","body":"short"}}}"#,
            offload: OffloadReference(url: "https://example.com/o", blob: blob.reference))
        #expect(reception.content?.body.literal == "short" && phone.device.clock.elapsed == .seconds(8))
    }

    @Test("the sender's picture is fetched once from a host that the app names, and from no other")
    func avatar() async throws {
        let blob = try SealedBlob(picture, for: .attachment)
        let url = "https://pictures.example.com/zoe"
        for (hosts, subtitle, requested) in [
            (["pictures.example.com"], "with a picture of 16 bytes", [url]), (["example.com"], nil, []),
        ] as [(Set<String>, String?, [String])] {
            let phone = try await TestDevice(topic: "com.example.app", avatarHosts: hosts) { configuration, _ in
                configuration.stages = [SenderPicture()]
            }
            phone.device.network.serve(blob.bytes, at: url)
            let avatar = try AttachmentReference(url: url, blob: blob.reference, type: "image/gif", use: .avatar)
            for _ in 1...2 {
                let reception = try await phone.receive(sealed: #"{"aps":{"alert":"Hi"}}"#, attachments: [avatar])
                #expect(reception.content?.subtitle.literal == subtitle && reception.failure == nil)
            }
            #expect(phone.device.network.requested == requested)
        }
    }
}
