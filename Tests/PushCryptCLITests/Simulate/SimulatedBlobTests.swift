import Foundation
import PushCryptTestSupport
import Testing

/// What `simulate` shows of a push whose payload or attachments are blobs on a server.
@Suite("simulate with blobs", .ownThreads) struct SimulatedBlobTests {
    private static let png = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + [UInt8](repeating: 0, count: 20))

    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.create("phone", "recipient", "--psk")
    }

    /// Seals a blob: the reference is in `NAME.ref`, its address is `https://a.b/NAME`.
    private func blob(_ name: String, _ content: Data, _ options: String...) throws -> Data {
        let output = try place.run(
            ["blob", "seal", "--url", "https://a.b/\(name)", "--reference", "\(name).ref"] + options, stdin: content)
        try #require(output.isSuccess, "\(output)")
        return output.stdout
    }

    private func simulate(_ sealed: Data, serving names: String...) throws -> (json: [String: Any], exit: Int32?) {
        let output = try place.run(
            ["simulate", "--json", "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now]
                + names.flatMap { ["--serve", "https://a.b/\($0)=\($0)"] }, stdin: sealed)
        return (try output.object(), output.exit)
    }

    private static func text(_ json: [String: Any]) -> String? { (json["after"] as? [String: Any])?["body"] as? String }

    @Test("a served blob of the whole payload is shown in place of the short one")
    func offloaded() throws {
        let long = String(repeating: "All of it. ", count: 600)
        let payload = Data(#"{"aps":{"alert":{"title":"Results","body":"\#(long)"}}}"#.utf8)
        try place.write(blob("p", payload, "--purpose", "payload"), to: "p")
        let (json, exit) = try simulate(place.sealed(to: "phone", "--offload", "p.ref"), serving: "p")
        #expect(exit == 0 && Self.text(json) == long && json["restored"] as? Bool == true, "\(json)")
    }

    @Test("without the blob, and with a changed one, the short payload is shown with the reason")
    func offloadedAndLost() throws {
        let payload = Data(#"{"aps":{"alert":"All of it."}}"#.utf8)
        let bytes = try blob("p", payload, "--purpose", "payload")
        let sealed = try place.sealed(to: "phone", "--offload", "p.ref")
        let missing = try simulate(sealed)
        #expect(missing.json["missing"] as? [String] == ["https://a.b/p"])
        try place.write(bytes.dropLast() + [bytes.last! ^ 1], to: "p")
        for result in [missing, try simulate(sealed, serving: "p")] {
            #expect(result.exit == 65 && Self.text(result.json) == "All clear.", "\(result)")
            #expect((result.json["verdict"] as? String)?.contains("The longer payload couldn't be fetched") == true)
        }
    }

    @Test("a sealed picture is attached, and a changed, cut or longer one is refused with the reason")
    func sealedPicture() throws {
        let bytes = try blob("photo", Self.png, "--type", "image/png", "--id", "photo")
        let sealed = try place.sealed(to: "phone", "--attach", "photo.ref")
        for (served, isShown) in [
            (bytes, true), (bytes.dropLast() + [bytes.last! ^ 1], false), (bytes.dropLast(), false),
            (bytes + [0], false),
        ] {
            try place.write(Data(served), to: "photo")
            let (json, exit) = try simulate(sealed, serving: "photo")
            #expect((exit == 0) == isShown && Self.text(json) == "All clear.", "\(json)")
            let attachments = json["attachments"] as? [[String: Any]]
            #expect(attachments?.first?["bytes"] as? Int == (isShown ? Self.png.count : nil))
            let verdict = try #require(json["verdict"] as? String)
            #expect(verdict.contains("The attachment photo was refused") == !isShown, "\(verdict)")
        }
    }

    @Test("each of several pictures that fails is named with its reason, and the others are attached")
    func several() throws {
        for name in ["a", "b", "c"] {
            let bytes = try blob(name, Self.png, "--type", "image/png", "--id", name)
            try place.write(name == "b" ? Data(bytes.reversed()) : bytes, to: name)
        }
        let sealed = try place.sealed(to: "phone", "--attach", "a.ref", "--attach", "b.ref", "--attach", "c.ref")
        let (json, exit) = try simulate(sealed, serving: "a", "b")
        #expect(exit == 65 && json["failure"] as? String == "attachmentFailed", "\(json)")
        let verdict = try #require(json["verdict"] as? String)
        #expect(verdict.contains("The attachment b was refused"), "\(verdict)")
        #expect(verdict.contains("The attachment c isn't on the simulated network"), "\(verdict)")
        #expect(!verdict.contains("The attachment a "), "\(verdict)")
    }
}
