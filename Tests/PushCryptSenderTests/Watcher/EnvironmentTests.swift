import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptSender
import PushCryptTestSupport
import Testing

/// `Keyset(environment:)`: a keyset in one variable.
@Suite("a keyset in the environment") struct EnvironmentTests {
    private static let plain = try! KeysetFiles(.shared)
    private static let encrypted = try! KeysetFiles(.sender, .test("right")).rotated()

    /// All variables are set before the first is read, because setenv isn't safe while another thread reads.
    private static let variables: [String: String] = {
        let (plain, encrypted) = (Data(try! Self.plain.file), Data(try! Self.encrypted.file))
        let base64 = plain.base64EncodedString()
        func text(_ bytes: Data) -> String { String(decoding: bytes, as: UTF8.self) }
        let values = [
            "TEXT": text(plain), "SPACED": "\n\t " + text(plain), "OF_SHELL": text(plain.dropLast()),
            "JWK": text(Data(TestKeys.publicJWK("x25519"))), "PRIVATE_JWK": text(Data(TestKeys.privateJWK("x25519"))),
            "BASE64": base64, "BASE64_OF_SHELL": plain.dropLast().base64EncodedString(),
            "BASE64_LINES": plain.base64EncodedString(options: .lineLength76Characters) + "\n",
            "BASE64URL": base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: ""),
            "ENCRYPTED": text(encrypted), "ENCRYPTED_BASE64": encrypted.base64EncodedString(),
            "EMPTY": "", "SPACES": " \n", "PADDING": "==", "WORDS": "not a keyset!", "NUMBER": "17",
            "TRUNCATED": String(base64.dropLast(40)), "CUT_TEXT": text(plain.dropLast(40)),
            "DEMO": text(Data(DemoKeys.recipient.file)),
        ]
        for (name, value) in values { unsafe setenv("PUSHCRYPT_TEST_" + name, value, 1) }
        return values
    }()

    private func name(_ suffix: String) -> String {
        _ = Self.variables
        return "PUSHCRYPT_TEST_" + suffix
    }

    @Test(
        "a plain keyset or JWK in a variable is loaded, as it is or in base64, also without its last line feed",
        arguments: ["TEXT", "SPACED", "OF_SHELL", "BASE64", "BASE64_OF_SHELL", "BASE64_LINES", "BASE64URL"])
    func plainText(variable: String) throws {
        let keyset = try Keyset(environment: name(variable))
        #expect(keyset.keyIDs == Self.plain.kids)
        #expect(try keyset.recipient(at: Operator.start).suite == .shared)
        #expect(try Keyset(environment: name("JWK")).recipient(at: Operator.start).suite == .x25519)
    }

    @Test("an encrypted keyset in a variable is loaded with its secret", arguments: ["ENCRYPTED", "ENCRYPTED_BASE64"])
    func encrypted(variable: String) throws {
        let keyset = try Keyset(environment: name(variable), secret: .test("right"))
        #expect(keyset.keyIDs == Self.encrypted.kids)
        expectKeystoreError(.wrongSecret) { try Keyset(environment: name(variable), secret: .test("wrong")) }
        expectKeystoreError(.secretNeeded) { try Keyset(environment: name(variable)) }
    }

    @Test(
        "with a secret, a variable that isn't encrypted is refused",
        arguments: ["TEXT", "BASE64", "JWK", "PRIVATE_JWK"])
    func notEncrypted(variable: String) throws {
        let error = expectKeystoreError(.notEncrypted) {
            try Keyset(environment: name(variable), secret: .test("right"))
        }
        #expect(error?.reason.hasPrefix("the environment variable \(name(variable)) is not encrypted") == true)
    }

    @Test("demo keys in a variable are refused unless they are allowed") func demoKeys() throws {
        expectKeystoreError(.demoKeys) { try Keyset(environment: name("DEMO")) }
        #expect(try Keyset(environment: name("DEMO"), allowsDemoKeys: true).kind == .recipient)
        #expect(try Keyset(environment: name("DEMO"), secret: .test("any"), allowsDemoKeys: true).kind == .recipient)
    }

    @Test("a variable that isn't set is reported as not found") func notSet() {
        expectKeystoreError(.notFound) { try Keyset(environment: "PUSHCRYPT_TEST_UNSET") }
    }

    @Test("a variable with neither JSON nor base64 is refused", arguments: ["EMPTY", "SPACES", "PADDING", "WORDS"])
    func neitherJSONNorBase64(variable: String) {
        let error = expectKeystoreError(.notAKeyset) { try Keyset(environment: name(variable)) }
        #expect(error?.reason.contains(name(variable)) == true)
        #expect(error?.reason.contains("keyset!") == false)
    }

    @Test("a variable with JSON that isn't a keyset is refused", arguments: ["NUMBER", "TRUNCATED", "CUT_TEXT"])
    func notAKeyset(variable: String) {
        let error = #expect(throws: (any Error).self) { try Keyset(environment: name(variable)) }
        let code = (error as? KeystoreError)?.code
        #expect((error as? KeyError)?.code == .malformed || code == .notAKeyset || code == .damaged, "\(error as Any)")
    }
}
