import Foundation
import PushCryptTestSupport
import Testing

@Suite("keys import of a publisher key", .ownThreads)
struct PublisherImportTests {
    private static func exported(_ place: Workplace, _ path: String, _ format: String) throws {
        let output = try place.run(
            "keys", "export", path, "--private", "--insecure-plaintext", "--format", format, "--at", Workplace.now)
        try #require(output.isSuccess, "\(output)")
        try place.write(output.stdout, to: "key")
    }

    private static func `import`(_ place: Workplace, _ path: String, _ options: String...) throws -> Output {
        try place.run(
            ["keys", "import", path, "--from", "key", "--insecure-plaintext", "--at", Workplace.now] + options)
    }

    @Test("a publisher key in every format becomes the same publisher key", arguments: ["jwk", "pem", "der", "raw"])
    func formats(_ format: String) throws {
        let signed = try SignedSetPlace()
        let place = signed.place
        try Self.exported(place, "Keys/publisher", format)
        let imported = try Self.import(place, "Keys/copy", "--kind", "publisher")
        #expect(imported.isSuccess, "\(imported)")
        #expect(try imported.line == signed.kid("Keys/publisher"))
        #expect(try place.keys("Keys/copy", at: Workplace.now).first?["suite"] == "ed25519-publisher")
        let (first, second) = (
            try signed.export(),
            try place.run(
                "keys", "export", "Keys/senders", "--signed-by", "Keys/copy", "--at", Workplace.now)
        )
        #expect(first.isSuccess && second.stdout == first.stdout)
    }

    @Test("a sender key isn't imported into a publisher keyset, nor a publisher key into a sender keyset")
    func otherKind() throws {
        let place = try SignedSetPlace().place
        for (from, to, kind) in [
            ("Keys/senders", "Keys/publisher", "sender"), ("Keys/publisher", "Keys/senders", "publisher"),
        ] {
            try Self.exported(place, from, "jwk")
            let refused = try place.run("keys", "import", to, "--from", "key", "--at", Workplace.now)
            expectRefusal(refused, 65, saying: "is a \(kind) key")
        }
    }

    @Test("a policy of a new publisher keyset exits 64")
    func policy() throws {
        let place = try SignedSetPlace().place
        try Self.exported(place, "Keys/publisher", "jwk")
        expectRefusal(try Self.import(place, "Keys/copy", "--keep", "3"), 64, saying: "have no policy")
        #expect(!place.has("Keys/copy"))
    }
}
