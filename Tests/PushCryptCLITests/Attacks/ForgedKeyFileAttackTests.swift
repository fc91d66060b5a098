import Foundation
import Testing

/// The attacker replaces a key file or a published set that the tool reads, or the operator takes the wrong one.
/// `KeyAttackTests` has every forgery on the library's side, `DemoKeyTests` the published demo keys in production.
@Suite("Attacks with forged key files", .ownThreads) struct ForgedKeyFileAttackTests {
    struct Forgery: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let jwk: @Sendable () throws -> String
        let message: String
    }

    static let forgeries = [
        Forgery(testDescription: "a private key", jwk: { try BatchPlace.jwk("p256") }, message: "private key"),
        Forgery(
            testDescription: "the kid of another key",
            jwk: {
                try BatchPlace.registration("p256").replacing(
                    BatchPlace.kid("p256"), with: BatchPlace.kid("other p256"))
            }, message: "thumbprint"),
        Forgery(
            testDescription: "a point off the curve",
            jwk: {
                let x = try #require(try BatchPlace.jwk("p256").firstMatch(of: /"x":"([^"]*)"/)?.1)
                return try BatchPlace.registration("p256").replacing(/"y":"[^"]*"/, with: "\"y\":\"\(x)\"")
            }, message: "point"),
        Forgery(
            testDescription: "one key twice",
            jwk: {
                let (jwk, kid) = (try BatchPlace.registration("p256"), try BatchPlace.kid("p256"))
                return #"{"keys":[\#(jwk),\#(jwk)],"pushcrypt":{"seq":1,"keys":{"\#(kid)":{}}}}"#
            }, message: "twice"),
    ]

    @Test("a forged key file of seal: exit 65 with its reason, nothing is sealed", arguments: forgeries)
    func sealing(forgery: Forgery) throws {
        let place = try Workplace()
        let jwk = try forgery.jwk()
        try place.write(Data(jwk.utf8), to: "keys.json")
        let output = try place.seal(to: "keys.json")
        expectRefusal(output, 65, saying: forgery.message)
        let d = try BatchPlace.jwk("p256").firstMatch(of: /"d":"([^"]*)"/)?.1
        #expect(try !output.stderr.contains(#require(d)))
    }

    @Test("a forged key among the trusted senders of open: exit 65, nothing is opened")
    func trusted() throws {
        let place = try Workplace()
        try place.write(Data(BatchPlace.jwk("shared").utf8), to: "keys.json")
        let sealed = try place.sealed(to: "keys.json")
        let sender = try BatchPlace.registration("sender")
        let forged = [
            sender.replacing("\"alg\":\"Ed25519\"", with: "\"alg\":\"none\""),
            sender.replacing(try BatchPlace.kid("sender"), with: try BatchPlace.kid("other sender")),
            try BatchPlace.registration("x25519"),
        ]
        for jwk in forged {
            try place.write(Data(jwk.utf8), to: "senders.json")
            expectRefusal(
                try place.open(keys: "keys.json", "--trust", "senders.json", payload: sealed), 65,
                saying: "senders.json")
        }
    }
}
