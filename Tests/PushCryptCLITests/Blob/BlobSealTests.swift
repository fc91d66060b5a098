import Foundation
import Testing

@Suite("blob seal, then blob open", .ownThreads)
struct BlobSealTests {
    @Test("a blob of any length opens to the same bytes", arguments: [0, 1, 65_536, 65_537])
    func roundTrip(_ byteCount: Int) throws {
        let place = try BlobPlace(byteCount)
        let (blob, reference) = try place.sealed("--url", BlobPlace.url, "--id", "photo")
        #expect(blob.count == 4 + byteCount + 16 * max((byteCount + 65_535) / 65_536, 1))
        #expect(blob.prefix(4) == Data("PCB1".utf8))
        #expect(Set(reference.keys) == ["url", "key", "size", "sha256", "type", "id"])
        #expect(reference["size"] as? Int == byteCount)
        #expect(reference["url"] as? String == BlobPlace.url)
        let opened = try place.open(blob)
        #expect(opened.isSuccess && opened.stdout.isEmpty, "\(opened)")
        #expect(try place.place.read("back.png") == place.photo)
        for name in ["photo.ref", "back.png"] { #expect(try place.place.mode(of: name) == 0o600) }
        #expect(try place.place.names() == ["back.png", "photo.blob", "photo.png", "photo.ref"])
    }

    @Test("--from and --output work like stdin and stdout")
    func files() throws {
        let place = try BlobPlace()
        let sealed = try place.place.run(
            "blob", "seal", "--type", "image/png", "--from", "photo.png", "--output", "photo.blob", "--reference",
            "photo.ref")
        #expect(sealed.isSuccess && sealed.stdout.isEmpty, "\(sealed)")
        #expect(try place.place.mode(of: "photo.blob") == 0o600)
        let opened = try place.place.run(
            "blob", "open", "--from", "photo.blob", "--output", "back.png", "--reference", "photo.ref")
        #expect(opened.isSuccess && opened.stdout.isEmpty, "\(opened)")
        #expect(try place.place.read("back.png") == place.photo)
    }

    @Test("two blobs of one plaintext have different keys, and no output shows a key")
    func fresh() throws {
        let place = try BlobPlace(1_000)
        var keys: Set<String> = []
        for number in 0..<3 {
            let output = try place.place.shell(
                "\"$PUSHCRYPT\" blob seal --type a/b --reference ref\(number) <photo.png >blob\(number)")
            #expect(output.isSuccess, "\(output)")
            let key = try #require(place.reference("ref\(number)")["key"] as? String)
            #expect(!output.text.contains(key) && !output.stderr.contains(key))
            keys.insert(key)
        }
        #expect(keys.count == 3)
        #expect(try place.place.read("blob0") != place.place.read("blob1"))
    }

    @Test("a payload is padded, and one that can't be shown is refused")
    func payload() throws {
        let place = try BlobPlace()
        let json = Data(#"{"aps":{"alert":"long"},"n":1.50}"#.utf8)
        let output = try place.place.run(
            "blob", "seal", "--purpose", "payload", "--reference", "p.ref", "--url", BlobPlace.url, stdin: json)
        #expect(output.isSuccess, "\(output)")
        #expect(output.stdout.count == 4 + 4_096 + 16)
        #expect(Set(try place.reference("p.ref").keys) == ["url", "key", "size", "sha256"])
        #expect(try place.open(output.stdout, reference: "p.ref", to: "p.json").isSuccess)
        let opened = try place.place.read("p.json")
        #expect(opened == json + Data(repeating: UInt8(ascii: " "), count: 4_096 - json.count))
        for bad in ["", #"{"aps":{"alert":"x"},"pushcrypt":1}"#] {
            let refused = try place.place.run(
                "blob", "seal", "--purpose", "payload", "--reference", "q.ref", stdin: Data(bad.utf8))
            expectRefusal(refused, 65)
        }
        let long = try place.place.shell(
            "head -c 5000000 /dev/zero | \"$PUSHCRYPT\" blob seal --purpose payload --reference q.ref")
        expectRefusal(long, 65)
        try place.expectNothing(of: "q.ref")
    }

    @Test("an existing file is refused and stays unchanged")
    func taken() throws {
        let place = try BlobPlace(10)
        try place.place.write(Data("mine".utf8), to: "photo.ref")
        expectRefusal(try place.place.shell("\"$PUSHCRYPT\" blob seal --type a/b --reference photo.ref <photo.png"), 73)
        #expect(try place.place.read("photo.ref") == Data("mine".utf8))
        try place.place.write(Data("mine".utf8), to: "photo.blob")
        let command = "\"$PUSHCRYPT\" blob seal --type a/b --reference r --output photo.blob <photo.png"
        expectRefusal(try place.place.shell(command), 73)
        #expect(try place.place.read("photo.blob") == Data("mine".utf8))
        try place.expectNothing(of: "r")
    }

    @Test("an incomplete blob leaves no reference file")
    func broken() throws {
        let place = try BlobPlace()
        for redirection in ["<photo.png >&-", "<photo.png >/dev/full"] {
            let output = try place.place.shell("\"$PUSHCRYPT\" blob seal --type a/b --reference r \(redirection)")
            expectRefusal(output, 74, saying: "can't write to stdout")
        }
        expectRefusal(
            try place.place.shell("mkdir d; \"$PUSHCRYPT\" blob seal --type a/b --reference r <d >out"), 66,
            saying: "can't read stdin")
        let missing = try place.place.run("blob", "seal", "--type", "a/b", "--reference", "r", "--from", "none")
        expectRefusal(missing, 66, saying: "none")
        try place.expectNothing(of: "r")
    }
}
