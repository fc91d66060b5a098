import Foundation
import Testing

/// Without keys nothing is read and nothing shown: that is the caller's mistake and not a failed push.
@Suite("open refuses keys", .ownThreads)
struct OpenKeyRefusalTests {
    @Test("that aren't there", arguments: [("none.json", Int32(66)), ("Keys", 66), ("text", 65)])
    func missing(_ path: String, _ status: Int32) throws {
        let place = try Workplace()
        try place.makeFolder("Keys")
        try place.write(Data("text".utf8), to: "text")
        expectRefusal(try place.open(keys: path, payload: Data("{}".utf8)), status, saying: path)
    }

    @Test("that are no sender keys behind --trust")
    func trust() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        expectRefusal(
            try place.open(keys: "Keys/ios", "--trust", "Keys/ios", payload: Data("{}".utf8)), 65,
            saying: "sender keys are needed")
        expectRefusal(try place.open(keys: "Keys/ios", "--trust", "none", payload: Data()), 66)
    }

    @Test("that can only seal or sign")
    func unusable() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        try place.create("Keys/push", "sender")
        try place.export("Keys/ios", to: "set.json")
        let sealed = try place.sealed(to: "set.json")
        expectRefusal(try place.open(keys: "set.json", payload: sealed), 65, saying: "public key")
        expectRefusal(try place.open(keys: "Keys/push", payload: sealed), 65, saying: "sender")
    }

    @Test("with --device unless they are shared keys")
    func device() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        try place.create("Keys/master", "shared")
        expectRefusal(try place.open(keys: "Keys/ios", "--device", "one", payload: Data()), 64)
        expectRefusal(try place.open(keys: "Keys/master", "--device", "o n e", payload: Data()), 64)
    }
}
