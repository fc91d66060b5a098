import PushCryptSender
import PushCryptSimulator
import Testing

@Suite("pictures") struct PictureRecipes {
    private static let members = ["image_url", "image-url", "attachment-url", "aps.alert.image"]

    @Test(
        "a picture by address is shown with its type, also if the address has no file extension",
        arguments: [
            #"{"aps":{"alert":"Hi"},"image_url":"https://example.com/p"}"#,
            #"{"aps":{"alert":"Hi"},"image-url":"https://example.com/p"}"#,
            #"{"aps":{"alert":"Hi"},"attachment-url":"https://example.com/p"}"#,
            #"{"aps":{"alert":{"body":"Hi","image":"https://example.com/p"}}}"#,
        ])
    func byAddress(_ payload: String) async throws {
        let phone = try await TestDevice(topic: "com.example.app", plainMembers: Self.members)
        phone.device.network.serve(picture, at: "https://example.com/p")
        let shown = try #require(try await phone.receive(sealed: payload).content?.attachments.first)
        #expect(shown.type == .gif && phone.device.center.file(shown.path) == picture)
    }

    @Test("a film by address is shown with its type")
    func film() async throws {
        let phone = try await TestDevice(topic: "com.example.app", plainMembers: ["video_url"])
        let film = [0, 0, 0, 0x18] + [UInt8]("ftypisom".utf8) + [UInt8](repeating: 0, count: 2_000_000)
        phone.device.network.serve(film, at: "https://example.com/f")
        let payload = #"{"aps":{"alert":"Hi"},"video_url":"https://example.com/f"}"#
        let shown = try #require(try await phone.receive(sealed: payload).content?.attachments.first)
        #expect(shown.type == .mp4 && phone.device.center.file(shown.path) == film)
    }

    @Test(
        "a picture that is missing, isn't a picture, or has an http address leaves the text",
        arguments: ["https://example.com/none", "https://example.com/page", "http://example.com/p"])
    func missing(_ address: String) async throws {
        let phone = try await TestDevice(topic: "com.example.app", plainMembers: Self.members)
        phone.device.network.serve([UInt8]("<html>not found</html>".utf8), at: "https://example.com/page")
        phone.device.network.serve(picture, at: "http://example.com/p")
        let reception = try await phone.receive(sealed: #"{"aps":{"alert":"Hi"},"image_url":"\#(address)"}"#)
        #expect(reception.failure == .attachmentFailed && reception.content?.attachments == [])
        #expect(reception.content?.body.literal == "Hi" && reception.isRestored)
    }

    @Test("a picture that is encrypted is shown, and its server sees only encrypted bytes")
    func encrypted() async throws {
        let phone = try await TestDevice(topic: "com.example.app")
        let blob = try SealedBlob(picture, for: .attachment)
        phone.device.network.serve(blob.bytes, at: "https://example.com/b")
        let reception = try await phone.receive(
            sealed: #"{"aps":{"alert":"Hi"}}"#,
            attachments: [AttachmentReference(url: "https://example.com/b", blob: blob.reference, type: "image/gif")])
        let path = try #require(reception.content?.attachments.first?.path)
        #expect(phone.device.center.file(path) == picture && blob.bytes != picture)
    }
}
