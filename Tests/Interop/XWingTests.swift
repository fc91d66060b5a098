import Foundation
import PushCryptHPKE
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// HPKE with X-Wing, HKDF-SHA256 and AES-256-GCM, the ciphersuite of suite 3, by three implementations of its KEM: OpenSSL's
/// parts, CryptoKit's interface, and the Python package cryptography with its own OpenSSL. And this project's Python package.
@Suite("X-Wing and Python", .enabled(if: XWingPeer.isAvailable, XWingPeer.missing)) struct XWingTests {
    private static let makers = Backends.supporting(.xWing).map(\.backend)
    /// Messages that each implementation makes.
    private static let count = LongTests.value(33_334, short: 60)

    private struct Message {
        let seed, info, plaintext: [UInt8]
        var sealed: [UInt8] = []

        func sealed(by backend: any CryptoBackend) throws -> Message {
            let recipient = try backend.privateKey(.xWing, seed.bytes).publicKey
            var sealed = [UInt8]()
            try HPKE(kem: .xWing, aead: .aes256GCM, backend: backend)
                .seal(plaintext.bytes, to: recipient, info: info.bytes, appendingTo: &sealed)
            return Message(seed: seed, info: info, plaintext: plaintext, sealed: sealed)
        }

        func opened(by backend: any CryptoBackend) throws -> [UInt8] {
            let key = try backend.privateKey(.xWing, seed.bytes)
            return try HPKE(kem: .xWing, aead: .aes256GCM, backend: backend)
                .open(sealed.bytes, with: key, info: info.bytes)
        }
    }

    /// Messages of 0 to 2,000 bytes to ten keys.
    private static func messages(_ random: inout SplitMix64) -> [Message] {
        let seeds = (0..<10).map { _ in bytes(32, &random) }
        return (0..<count).map { index in
            Message(
                seed: seeds[index % seeds.count], info: bytes(Int.random(in: 0...200, using: &random), &random),
                plaintext: bytes(Int.random(in: 0...2_000, using: &random), &random))
        }
    }

    private static func bytes(_ count: Int, _ random: inout SplitMix64) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    @Test("a message that one implementation makes opens with each other one")
    func opensElsewhere() throws {
        var random = SplitMix64(seed: 3)
        for maker in Self.makers {
            let sealed = try Self.messages(&random).map { try $0.sealed(by: maker) }
            let answers = try XWingPeer.ask(
                sealed.map { ["seed": $0.seed.hex, "info": $0.info.hex, "sealed": $0.sealed.hex] })
            #expect(answers.map { $0["plaintext"] } == sealed.map { $0.plaintext.hex }, "\(maker.name) to Python")
            for opener in Self.makers {
                let wrong = try sealed.filter { try $0.opened(by: opener) != $0.plaintext }
                #expect(wrong.isEmpty, "\(maker.name) to \(opener.name)")
            }
        }
        let messages = Self.messages(&random)
        let answers = try XWingPeer.ask(
            messages.map { ["seed": $0.seed.hex, "info": $0.info.hex, "plaintext": $0.plaintext.hex] })
        try #require(answers.count == messages.count)
        for (var message, answer) in zip(messages, answers) {
            message.sealed = [UInt8](hex: try #require(answer["sealed"]))
            for opener in Self.makers {
                #expect(try message.opened(by: opener) == message.plaintext, "Python to \(opener.name)")
            }
        }
    }

    @Test(
        "a push to an X-Wing key that Python generated opens in both, whichever of them seals",
        .enabled(if: Python.isAvailable, Python.missing), arguments: makers, [false, true])
    func pushes(_ backend: any CryptoBackend, isSigned: Bool) throws {
        for psk in [false, true] {
            let made = try Reference.ask(Request.Generate(kind: "xwing", psk: psk))
            let trusted = isSigned ? [JWK.named("sender").withoutPrivateKey] : nil
            let channel = Channel("X-Wing", try #require(made.private), trusted: trusted)
            #expect(made.public == channel.key.withoutPrivateKey)
            let push = Push(description: "")
            let python = Array(try #require(push.reference(channel).payload).utf8)
            for payload in [try push.seal(channel, backend), python] {
                let opened = try Outcome.swift(payload, channel, backend)
                #expect(opened.inner == push.inner)
                #expect(try Outcome.python(payload, channel) == opened)
            }
        }
    }

    @Test("a changed message opens with none of them")
    func changed() throws {
        var random = SplitMix64(seed: 4)
        for (maker, message) in zip(Self.makers + Self.makers, Self.messages(&random)) {
            var message = try message.sealed(by: maker)
            message.sealed[Int.random(in: message.sealed.indices, using: &random)] ^= 0x10
            let answers = try XWingPeer.ask([
                ["seed": message.seed.hex, "info": message.info.hex, "sealed": message.sealed.hex]
            ])
            #expect(answers.map { $0["plaintext"] } == [nil])
            for opener in Self.makers { #expect(throws: HPKEError(.open)) { try message.opened(by: opener) } }
        }
    }
}

/// The script xwing.py.
enum XWingPeer {
    static let missing: Comment =
        "no Python with cryptography 50, which has X-Wing: see Tests/Interop/python/requirements.txt"

    static let isAvailable =
        (try? Python.process(["-c", "from cryptography.hazmat.primitives.hpke import MLKEM768X25519PublicKey"]).run())
        == .exit(0)

    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("python/xwing.py").path

    /// - Returns: the responses, without members that are null.
    static func ask(_ requests: [[String: String]]) throws -> [[String: String]] {
        let folder = try TemporaryFolder()
        let (input, output) = (folder.file("requests"), folder.file("responses"))
        let lines = try requests.map { try JSONEncoder().encode($0) + Data("\n".utf8) }
        try Data(lines.joined()).write(to: input)
        try Data().write(to: output)
        let ending = try Python.process([script], stdin: input.path, stdout: output.path).run()
        try #require(ending == .exit(0))
        return try Data(contentsOf: output).split(separator: UInt8(ascii: "\n")).map { line in
            try JSONDecoder().decode([String: String?].self, from: Data(line)).compactMapValues(\.self)
        }
    }
}

extension [UInt8] {
    fileprivate var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
