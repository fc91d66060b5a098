import BenchmarkSupport
import PushCryptCore
import PushCryptPrimitives
import RunnerProtocol

/// Lines `SUITE SECRET KID MESSAGE SEALED`, bytes in hexadecimal, to verify that the floor does the same job. The keys
/// are fresh test keys, so the lines may contain their secrets.
enum Crosscheck {
    static func printSealed() throws {
        let topic = try Topic(TestMessage.topic)
        for suite in [Suite.p256, .x25519, .xWing, .shared] where suite.isAvailable {
            for count in [1, 64, 256, 512, 2_048] {
                let keys = try TestKeys(suite: suite)
                let message = try DefaultBackend.shared.randomBytes(count: count)
                let sealed = try Envelope.seal(message, to: keys.recipient, signer: nil, topic: topic)
                let bytes = [try keys.secret(), message, sealed].map(hexadecimal)
                print(suite.rawValue, bytes[0], keys.recipient.kid, bytes[1], bytes[2])
            }
        }
    }

    static func openAll() throws {
        let topic = try Topic(TestMessage.topic)
        var count = 0
        while let line = readLine() {
            let (key, message, sealed) = try parse(line.split(separator: " "))
            guard try Envelope.open(sealed, with: key, signedBy: nil, topic: topic) == message else {
                throw Difference(line: line)
            }
            count += 1
        }
        guard count > 0 else { throw Difference(line: "no message at all") }
        print("library: \(count) opened")
    }

    private static func parse(
        _ words: [Substring]
    ) throws -> (key: RecipientKey, message: [UInt8], sealed: [UInt8]) {
        guard words.count == 5, let suite = UInt8(words[0]).flatMap(Suite.init(rawValue:)),
            let secret = bytes(hexadecimal: words[1]), let message = bytes(hexadecimal: words[3]),
            let sealed = bytes(hexadecimal: words[4])
        else { throw Difference(line: words.joined(separator: " ")) }
        let record = try KeyRecord(try material(suite, secret), backend: DefaultBackend.shared)
        guard record.kid.description == words[2] else { throw Difference(line: "another kid") }
        return (try TestKeys(record).recipientKey, message, sealed)
    }

    private static func material(_ suite: Suite, _ secret: [UInt8]) throws -> KeyRecord.Material {
        guard let type = suite.keyPairType else { return .shared(SecretBytes(copying: secret.span), device: nil) }
        let key = try DefaultBackend.shared.privateKey(type, secret.span)
        return .recipient(publicKey: key.publicKey, privateKey: key, psk: nil)
    }
}

struct Difference: Error, CustomStringConvertible {
    let line: String
    var description: String { "differs from the sealed message: \(line)" }
}
