import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptSender
import Testing

/// `Keyset(environment:)`: a keyset in one variable.
@Suite("a keyset in the environment") struct EnvironmentTests {
    private static let plain = try! Operator()
    private static let encrypted = try! Operator(.sender, under: .cheap, .test("right"))
    private static let logged = try! LoggedKeyset(.sender)
    private static let loggedEncrypted = try! LoggedKeyset(.sender, .test("right")).rotated()

    /// All variables are set before the first is read, because setenv isn't safe while another thread reads.
    private static let variables: [String: String] = {
        let (plain, encrypted) = (Data(try! Self.plain.text()), Data(try! Self.encrypted.text()))
        let base64 = plain.base64EncodedString()
        let values = [
            "TEXT": String(decoding: plain, as: UTF8.self),
            "SPACED": "\n\t " + String(decoding: plain, as: UTF8.self),
            "JWK": String(decoding: TestKeys.publicJWK("x25519"), as: UTF8.self),
            "PRIVATE_JWK": String(decoding: TestKeys.privateJWK("x25519"), as: UTF8.self),
            "BASE64": base64,
            "BASE64_LINES": plain.base64EncodedString(options: .lineLength76Characters) + "\n",
            "BASE64URL": base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: ""),
            "ENCRYPTED": encrypted.base64EncodedString(),
            "EMPTY": "", "SPACES": " \n", "PADDING": "==", "WORDS": "not a keyset!", "NUMBER": "17",
            "TRUNCATED": String(base64.dropLast(40)), "CUT_TEXT": String(decoding: plain.dropLast(40), as: UTF8.self),
            "DEMO": DemoKeys.recipientJSON,
            "LOG": String(decoding: try! logged.file, as: UTF8.self),
            "LOG_OF_SHELL": String(decoding: try! logged.file.dropLast(), as: UTF8.self),
            "LOG_BASE64": Data(try! logged.file).base64EncodedString(),
            "LOG_BASE64_OF_SHELL": Data(try! logged.file.dropLast()).base64EncodedString(),
            "LOG_CUT": String(decoding: try! logged.file.dropLast(2), as: UTF8.self),
            "LOG_ENCRYPTED": String(decoding: try! loggedEncrypted.file, as: UTF8.self),
        ]
        for (name, value) in values { unsafe setenv("PUSHCRYPT_TEST_" + name, value, 1) }
        return values
    }()

    private func name(_ suffix: String) -> String {
        _ = Self.variables
        return "PUSHCRYPT_TEST_" + suffix
    }

    @Test(
        "a plain-text keyset in a variable is loaded",
        arguments: ["TEXT", "SPACED", "BASE64", "BASE64_LINES", "BASE64URL"])
    func plainText(variable: String) throws {
        let keyset = try Keyset(environment: name(variable))
        #expect(keyset.keyIDs == (try Self.plain.keyset().keyIDs))
        #expect(try keyset.recipient(at: Operator.start).suite == .shared)
    }

    @Test(
        "a plain keyset's file in a variable is loaded, as it is or in base64, also without its last line feed",
        arguments: ["LOG", "LOG_OF_SHELL", "LOG_BASE64", "LOG_BASE64_OF_SHELL"])
    func log(variable: String) throws {
        #expect(try Keyset(environment: name(variable)).keyIDs == Self.logged.kids)
        expect(.notEncrypted) { try Keyset(environment: name(variable), secret: .test("right")) }
    }

    @Test("an encrypted keyset's file in a variable is loaded with its secret, and a part of a file isn't")
    func encryptedLog() throws {
        let keyset = try Keyset(environment: name("LOG_ENCRYPTED"), secret: .test("right"))
        #expect(keyset.keyIDs == Self.loggedEncrypted.kids)
        expect(.wrongSecret) { try Keyset(environment: name("LOG_ENCRYPTED"), secret: .test("wrong")) }
        expect(.secretNeeded) { try Keyset(environment: name("LOG_ENCRYPTED")) }
        expect(.damaged) { try Keyset(environment: name("LOG_CUT")) }
    }

    @Test("a single JWK in a variable is loaded") func aSingleKey() throws {
        #expect(try Keyset(environment: name("JWK")).recipient(at: Operator.start).suite == .x25519)
    }

    @Test("an encrypted keyset in a variable is loaded with its secret") func encrypted() throws {
        let keyset = try Keyset(environment: name("ENCRYPTED"), secret: .test("right"))
        #expect(try keyset.senderKey(at: Operator.start).kid == keyset.keyIDs[0])
        expect(.wrongSecret) { try Keyset(environment: name("ENCRYPTED"), secret: .test("wrong")) }
        expect(.secretNeeded) { try Keyset(environment: name("ENCRYPTED")) }
    }

    @Test(
        "with a secret, a variable that isn't encrypted is refused",
        arguments: ["TEXT", "SPACED", "BASE64", "BASE64URL", "JWK", "PRIVATE_JWK", "DEMO"])
    func notEncrypted(variable: String) throws {
        let error = expect(.notEncrypted) { try Keyset(environment: name(variable), secret: .test("right")) }
        #expect(error?.reason.hasPrefix("the environment variable \(name(variable)) is not encrypted") == true)
    }

    @Test("demo keys in a variable are refused unless they are allowed") func demoKeys() throws {
        expect(.demoKeys) { try Keyset(environment: name("DEMO")) }
        #expect(try Keyset(environment: name("DEMO"), allowsDemoKeys: true).kind == .recipient)
        #expect(try Keyset(environment: name("DEMO"), secret: .test("any"), allowsDemoKeys: true).kind == .recipient)
    }

    @Test("a variable that isn't set is reported as not found") func notSet() {
        expect(.notFound) { try Keyset(environment: "PUSHCRYPT_TEST_UNSET") }
    }

    @Test("a variable with neither JSON nor base64 is refused", arguments: ["EMPTY", "SPACES", "PADDING", "WORDS"])
    func neitherJSONNorBase64(variable: String) {
        let error = expect(.notAKeyset) { try Keyset(environment: name(variable)) }
        #expect(error?.reason.contains(name(variable)) == true)
        #expect(error?.reason.contains("keyset!") == false)
    }

    @Test("a variable with JSON that isn't a keyset is refused", arguments: ["NUMBER", "TRUNCATED", "CUT_TEXT"])
    func notAKeyset(variable: String) {
        let error = #expect(throws: (any Error).self) { try Keyset(environment: name(variable)) }
        #expect((error as? KeyError)?.code == .malformed || (error as? KeystoreError)?.code == .notAKeyset)
    }

    @discardableResult
    private func expect(_ code: KeystoreError.Code, _ body: () throws -> Keyset) -> KeystoreError? {
        let error = #expect(throws: KeystoreError.self) { _ = try body() }
        #expect(error?.code == code, "\(error.map(\.reason) ?? "")")
        return error
    }
}
