import Foundation
import PushCryptTestSupport
import Testing

/// What `simulate` shows of a push whose payload or attachments are blobs on a server.
@Suite("simulate with blobs", .ownThreads) struct SimulatedBlobTests {
    private let phone: SimulatedPhone
    private var place: Workplace { phone.place }

    init() throws { phone = try SimulatedPhone() }

    /// Seals a blob: the reference is in `NAME.ref`, its address is `https://a.b/NAME`.
    private func blob(_ name: String, _ content: Data, _ options: String...) throws -> Data {
        let output = try place.run(
            ["blob", "seal", "--url", "https://a.b/\(name)", "--reference", "\(name).ref"] + options, stdin: content)
        try #require(output.isSuccess, "\(output)")
        return output.stdout
    }

    private func simulate(_ sealed: Data, serving name: String, _ blob: Data) throws -> [String: Any] {
        try place.write(blob, to: name)
        return try phone.object(sealed, "--serve", "https://a.b/\(name)=\(name)")
    }

    @Test("a served blob of the whole payload is shown in place of the short one; without it or changed, the short one")
    func offloaded() throws {
        let long = String(repeating: "All of it. ", count: 600)
        let payload = Data(#"{"aps":{"alert":{"title":"Results","body":"\#(long)"}}}"#.utf8)
        let bytes = try blob("p", payload, "--purpose", "payload")
        let sealed = try place.sealed(to: "phone", "--offload", "p.ref")
        let whole = try simulate(sealed, serving: "p", bytes)
        #expect(whole.shown("body") == long && whole.isRestored, "\(whole)")
        let missing = try phone.object(sealed)
        #expect(missing.texts("missing") == ["https://a.b/p"])
        for json in [missing, try simulate(sealed, serving: "p", bytes.dropLast() + [bytes.last! ^ 1])] {
            #expect(!json.isRestored && json.shown("body") == "All clear.", "\(json)")
            #expect(json.verdict.contains("The longer payload couldn't be fetched"), "\(json)")
        }
    }

    @Test("a sealed picture is attached, and a changed, cut or longer one is refused with the reason")
    func sealedPicture() throws {
        let bytes = try blob("photo", SimulatedPhone.png, "--type", "image/png", "--id", "photo")
        let sealed = try place.sealed(to: "phone", "--attach", "photo.ref")
        for (served, isShown) in [
            (bytes, true), (bytes.dropLast() + [bytes.last! ^ 1], false), (bytes.dropLast(), false),
            (bytes + [0], false),
        ] {
            let json = try simulate(sealed, serving: "photo", Data(served))
            #expect(json.isRestored == isShown && json.shown("body") == "All clear.", "\(json)")
            let attachments = json["attachments"] as? [[String: Any]]
            #expect(attachments?.first?["bytes"] as? Int == (isShown ? SimulatedPhone.png.count : nil))
            #expect(json.verdict.contains("The attachment photo was refused") == !isShown, "\(json)")
        }
    }
}
