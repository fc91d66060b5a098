import Foundation
import PushCryptTestSupport
import Testing

/// Examples/wrap-commands/pkcs11 with a token of SoftHSM.
@Suite("keysets that a PKCS#11 token encrypts", .ownThreads, .enabled(if: Token.isAvailable, Token.missing))
struct TokenTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.write(Data("5678\n".utf8), to: "pin")
        let made = try place.shell(
            """
            mkdir tokens && echo "directories.tokendir = $PWD/tokens" > softhsm.conf && export SOFTHSM2_CONF=$PWD/softhsm.conf &&
            softhsm2-util --init-token --free --label push --so-pin 1234 --pin 5678 &&
            pkcs11-tool --module \(Token.module) --token-label push --login --pin 5678 --keygen --key-type AES:32 \
                --label pushcrypt --sensitive
            """)
        try #require(made.exit == 0, "\(made)")
    }

    private func run(_ arguments: String, _ environment: String = "", stdin: Data = Data()) throws -> Output {
        try place.shell(
            """
            export SOFTHSM2_CONF=$PWD/softhsm.conf PKCS11_MODULE=\(Token.module) PKCS11_TOKEN=push PKCS11_KEY=pushcrypt \
                PKCS11_CONTEXT=Keys/push PKCS11_PIN_FILE=$PWD/pin PUSHCRYPT_WRAP_COMMAND='\(Token.script)' \(environment)
            "$PUSHCRYPT" \(arguments)
            """, stdin: stdin)
    }

    @Test("a keyset is created, rotated and used with the token")
    func use() throws {
        #expect(try run("keys create Keys/push --kind shared --at \(Workplace.newYear)").exit == 0)
        let rotated = try run("rotate Keys/push --at 2026-03-25T00:00:00Z")
        #expect(rotated.exit == 0 && rotated.text.contains("added key"), "\(rotated)")
        let sealed = try run(
            "seal --to Keys/push --device d --topic \(Workplace.topic) --at 2026-03-25T00:00:00Z",
            stdin: Workplace.inner)
        let opened = try run(
            "open --keys Keys/push --device d --topic \(Workplace.topic) --at 2026-03-25T00:00:00Z",
            stdin: sealed.stdout)
        #expect(opened.isSuccess && opened.payload == Workplace.inner, "\(opened)")
        #expect(try String(decoding: place.read("Keys/push.keyset"), as: UTF8.self).contains("\"command\":true"))
    }

    @Test(
        "a wrong PIN, another context, another key, a PIN that others can read, and a missing setting are refused",
        arguments: [
            ("PKCS11_PIN_FILE=$PWD/wrong", "CKR_PIN_INCORRECT"), ("PKCS11_CONTEXT=Keys/other", "pkcs11: CKR_"),
            ("PKCS11_KEY=other", "needs one"), ("PKCS11_TOKEN=other", "no token other"),
            ("PKCS11_PIN_FILE=$PWD/open", "chmod 600"), ("PKCS11_MODULE=", "set PKCS11_MODULE"),
        ])
    func refused(_ environment: String, _ message: String) throws {
        try place.write(Data("9999\n".utf8), to: "wrong")
        try place.write(Data("5678\n".utf8), to: "open", mode: 0o644)
        #expect(try run("keys create Keys/push --kind sender").exit == 0)
        let output = try run("keys export Keys/push", environment)
        #expect(output.exit == 65 && output.stdout.isEmpty, "\(output)")
        #expect(output.stderr.contains(message) && !output.stderr.contains("Traceback"), "\(output)")
        #expect(try run("keys export Keys/push").isSuccess)
    }
}

private enum Token {
    static let module = "/usr/lib/softhsm/libsofthsm2.so"
    static let script = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Examples/wrap-commands/pkcs11").path

    static let missing: Comment = "softhsm2, opensc or python3-pykcs11 isn't installed"

    static let isAvailable =
        FileManager.default.fileExists(atPath: module)
        && (try? ChildProcess(
            executable: "/bin/sh",
            arguments: ["-c", "command -v pkcs11-tool softhsm2-util && /usr/bin/python3 -c 'import PyKCS11'"]
        ).run()) == .exit(0)
}
