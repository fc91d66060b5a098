import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@testable import pushcrypt

@Suite("secrets in the tool's output", .ownThreads)
struct SecrecyTests {
    @Test("no command prints a secret of a keyset on stdout or stderr")
    func outputs() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient", "--psk")
        try place.create("Keys/master", "shared")
        try place.create("Keys/push", "sender")
        let keysets = ["Keys/ios", "Keys/master", "Keys/push"]
        let secrets = try keysets.flatMap { try place.secrets(in: $0) }
        #expect(secrets.count == 4)
        for output in try outputs(of: place, keysets) {
            for secret in secrets {
                #expect(!output.text.contains(secret) && !output.stderr.contains(secret), "\(output)")
            }
        }
    }

    private func outputs(of place: Workplace, _ keysets: [String]) throws -> [Output] {
        let sealed = try place.sealed(to: "Keys/ios", "--sign-with", "Keys/push")
        let open = ["--topic", Workplace.topic, "--at", Workplace.now]
        var outputs = try keysets.flatMap { path in
            [
                try place.run("keys", "list", path), try place.run("keys", "list", path, "--json"),
                try place.run("keys", "export", path), try place.run("keys", "export", path, "--device", "one"),
                try place.run("keys", "log", path), try place.run("keys", "policy", path, "--json"),
                try place.run("rotate", path, "--now", "--dry-run"), try place.run("status", "--long", path),
                try place.run("keys", "create", path, "--kind", "shared", "--insecure-plaintext"),
                try place.seal(to: path), try place.seal(to: "\(path).keyset"),
                try place.seal(to: path, "--sign-with", path), try place.open(keys: path, payload: sealed),
                try place.open(keys: path, "--trust", path, payload: sealed),
                try place.run(["inspect", "--keys", path] + open, stdin: sealed),
                try place.run(["inspect", "--keys", path, "--trust", "Keys/push"] + open, stdin: sealed),
                try place.run(["inspect", "--json", "--keys", path, "--trust", "Keys/push"] + open, stdin: sealed),
            ]
        }
        for path in keysets {
            try place.setMode(0o644, of: "\(path).keyset")
            outputs.append(try place.run("keys", "list", path))
        }
        return outputs
    }

    /// The ways in which reading a key file can fail.
    @Test("the error for a damaged key file contains no secret", arguments: ["recipient", "shared", "sender"])
    func damaged(_ kind: String) throws {
        let place = try Workplace()
        try place.create("Keys/ios", kind)
        let secret = try #require(place.secrets(in: "Keys/ios").first)
        let changed = secret.first == "A" ? "B" + secret.dropFirst() : "A" + secret.dropFirst()
        for (file, whole) in [("keys.json", try place.privateKeys("Keys/ios")), ("Keys/ios.keyset", nil)] {
            let whole = try whole ?? place.read(file)
            let damages = [
                Payload.replacing(secret, with: secret + "A", in: whole),
                Payload.replacing(secret, with: secret + "=", in: whole),
                Payload.replacing(secret, with: changed, in: whole),
                Payload.replacing("\"kid\":\"", with: "\"kid\":\"A", in: whole),
                Payload.replacing("\"alg\":\"", with: "\"alg\":\"\(secret)", in: whole),
                Payload.replacing("\"kty\":\"", with: "\"kty\":\"\(secret)", in: whole),
                Payload.replacing("\"at\":\"", with: "\"at\":\"\(secret)", in: whole),
                Payload.replacing("\"kid\"", with: "\"\(secret)\":1,\"\(secret)\":1,\"kid\"", in: whole),
                whole.prefix(whole.count / 2), whole + Data(secret.utf8),
            ]
            for damage in damages where damage != whole {
                try place.write(damage, to: file)
                let error = #expect(throws: (any Error).self) { try Keyset(file: place.folder.file(file).path) }
                let failure = Failure(try #require(error))
                #expect(failure.status == .dataError && !failure.message.contains(secret.dropFirst(4)), "\(failure)")
            }
            let output = try place.seal(to: file)
            expectRefusal(output, 65, saying: "\(file)")
            #expect(!output.stderr.contains(secret.dropFirst(4)), "\(output)")
        }
    }
}
