import Foundation
import Testing

/// Unusable keys are the caller's mistake, not a failed push: no placeholder is shown.
@Suite("keys that open refuses", .ownThreads)
struct OpenKeyRefusalTests {
    @Test("a missing key file or keyset is refused", arguments: [("none.json", Int32(66)), ("Keys", 65), ("text", 65)])
    func missing(_ path: String, _ status: Int32) throws {
        let place = try Workplace()
        try place.makeFolder("Keys")
        try place.write(Data("text".utf8), to: "text")
        expectRefusal(try place.open(keys: path, payload: Data("{}".utf8)), status, saying: path)
    }

    @Test("--trust refuses keys that aren't sender keys")
    func trust() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        expectRefusal(
            try place.open(keys: "Keys/ios", "--trust", "Keys/ios", payload: Data("{}".utf8)), 65,
            saying: "sender keys are needed")
        expectRefusal(try place.open(keys: "Keys/ios", "--trust", "none", payload: Data()), 66)
    }

    @Test("public keys and sender keys are refused")
    func unusable() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        try place.create("Keys/push", "sender")
        try place.export("Keys/ios", to: "set.json")
        let sealed = try place.sealed(to: "set.json")
        expectRefusal(try place.open(keys: "set.json", payload: sealed), 65, saying: "public key")
        expectRefusal(try place.open(keys: "Keys/push", payload: sealed), 65, saying: "sender")
    }

    @Test("--device is refused for keys that aren't shared, and so is a malformed device id")
    func device() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        try place.create("Keys/master", "shared")
        expectRefusal(try place.open(keys: "Keys/ios", "--device", "one", payload: Data()), 64)
        expectRefusal(try place.open(keys: "Keys/master", "--device", "o n e", payload: Data()), 64)
    }
}
