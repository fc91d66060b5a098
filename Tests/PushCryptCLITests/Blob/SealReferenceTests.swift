import Foundation
import Testing

@Suite("seal --attach and --offload", .ownThreads)
struct SealReferenceTests {
    private static func place() throws -> BlobPlace {
        let place = try BlobPlace(1_000)
        try place.place.create("Keys/ios", "recipient")
        _ = try place.sealed("--url", BlobPlace.url, "--id", "photo")
        let payload = Data(#"{"aps":{"alert":"all of it"}}"#.utf8)
        let offloaded = try place.place.run(
            "blob", "seal", "--purpose", "payload", "--url", "https://a.b/p", "--reference", "p.ref", stdin: payload)
        try #require(offloaded.isSuccess, "\(offloaded)")
        return place
    }

    /// Seals and opens a push with references. `open` only names what a device would fetch.
    @Test("references are sealed and not visible in the outer payload")
    func whole() throws {
        let place = try Self.place()
        let sealed = try place.place.sealed(
            to: "Keys/ios", "--attach", "photo.ref", "--offload", "p.ref", "--self-test")
        let text = String(decoding: sealed, as: UTF8.self)
        for name in ["photo.ref", "p.ref"] {
            let reference = try place.reference(name)
            for member in ["key", "sha256", "url"] {
                #expect(!text.contains(try #require(reference[member] as? String)))
            }
        }
        let opened = try place.place.open(keys: "Keys/ios", payload: sealed)
        #expect(opened.exit == 0, "\(opened)")
        #expect(opened.payload == Workplace.inner)
        #expect(opened.stderr.contains("a self-test of the extension; not fetched: 1 attachment and the whole payload"))
        let alone = try place.place.open(
            keys: "Keys/ios", payload: place.place.sealed(to: "Keys/ios", "--offload", "p.ref"))
        #expect(alone.stderr == "pushcrypt: not fetched: the whole payload, which was offloaded\n")
    }

    @Test("eight attachments are accepted and nine are refused")
    func several() throws {
        let place = try Self.place()
        let text = String(decoding: try place.place.read("photo.ref"), as: UTF8.self)
        let nameless = text.replacingOccurrences(of: ",\"id\":\"photo\"", with: "")
        try place.place.write(Data(nameless.utf8), to: "n.ref")
        func seal(_ count: Int) throws -> Output {
            let references = (0..<count).flatMap { _ in ["--attach", "n.ref"] }
            return try place.place.run(
                ["seal", "--bare", "--to", "Keys/ios", "--topic", Workplace.topic, "--at", Workplace.now] + references,
                stdin: Workplace.inner)
        }
        let opened = try place.place.open(keys: "Keys/ios", payload: seal(8).stdout)
        #expect(opened.stderr == "pushcrypt: not fetched: 8 attachments\n")
        expectRefusal(try seal(9), 64, saying: "at most 8 attachments")
        let twice = try place.place.seal(to: "Keys/ios", "--attach", "photo.ref", "--attach", "photo.ref")
        expectRefusal(twice, 64, saying: "same id")
    }

    @Test("incomplete references and references of the other kind are refused")
    func refused() throws {
        let place = try Self.place()
        let text = String(decoding: try place.place.read("photo.ref"), as: UTF8.self)
        let url = #""url":"\#(BlobPlace.url)","#
        try place.place.write(Data(text.replacingOccurrences(of: url, with: "").utf8), to: "nourl.ref")
        try place.place.write(
            Data(text.replacingOccurrences(of: "https://", with: "http://").utf8), to: "http.ref")
        let cases = [
            (["--attach", "p.ref"], Int32(65), "p.ref is the reference of a payload; use --offload"),
            (["--offload", "photo.ref"], 65, "photo.ref is the reference of an attachment; use --attach"),
            (["--attach", "nourl.ref"], 65, "nourl.ref has no url"),
            (["--attach", "http.ref"], 65, "http.ref: the URL"),
            (["--attach", "none"], 66, "none"), (["--attach", "photo.png"], 65, "photo.png is not a reference"),
        ]
        for (options, status, words) in cases {
            let output = try place.place.run(
                ["seal", "--bare", "--to", "Keys/ios", "--topic", Workplace.topic, "--at", Workplace.now] + options,
                stdin: Workplace.inner)
            expectRefusal(output, status, saying: words)
            #expect(!output.stderr.contains("cdn.example.com"))
        }
    }
}
