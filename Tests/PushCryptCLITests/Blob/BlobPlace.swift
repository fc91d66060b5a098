import Foundation
import PushCryptTestSupport
import Testing

/// A workplace with a file to seal.
struct BlobPlace {
    static let url = "https://cdn.example.com/a/photo"

    let place: Workplace
    let photo: Data

    /// - Parameter byteCount: the size of `photo.png`.
    init(_ byteCount: Int = 150_000) throws {
        place = try Workplace()
        var generator = SplitMix64(seed: 70)
        photo = Data(generator.bytes(byteCount))
        try place.write(photo, to: "photo.png", mode: 0o644)
    }

    /// Seals `photo.png` to `photo.blob` and `photo.ref`.
    func sealed(_ options: String...) throws -> (blob: Data, reference: [String: Any]) {
        let output = try place.shell(
            (["\"$PUSHCRYPT\" blob seal --type image/png --reference photo.ref"] + options + ["<photo.png >photo.blob"])
                .joined(separator: " "))
        try #require(output.isSuccess, "\(output)")
        return (try place.read("photo.blob"), try reference("photo.ref"))
    }

    func reference(_ name: String) throws -> [String: Any] {
        try Payload.object(place.read(name))
    }

    func open(_ blob: Data, reference: String = "photo.ref", to output: String = "back.png") throws -> Output {
        try place.run("blob", "open", "--reference", reference, "--output", output, stdin: blob)
    }

    /// Expects neither the file nor a part of it under another name.
    func expectNothing(of name: String, location: SourceLocation = #_sourceLocation) throws {
        #expect(try !place.names().contains { $0.hasPrefix(name) }, sourceLocation: location)
    }
}
