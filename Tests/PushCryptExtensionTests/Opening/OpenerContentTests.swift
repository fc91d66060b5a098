import PushCryptExtension
import PushCryptSender
import Testing

/// Failures that are caused by the payload's bytes and times.
@Suite struct OpenerContentTests {
    @Test(
        "a JSON object without a pushcrypt member is notSealed",
        arguments: ["{}", #"{"aps":{"alert":"x","mutable-content":1}}"#, #"{"aps":5}"#])
    func notSealed(json: String) throws {
        try expectFailure(.notSealed) { try TestPush.open(Array(json.utf8)) }
    }

    @Test(
        "a payload that isn't a JSON object or has an invalid pushcrypt member is malformed",
        arguments: ["", " ", "{", "[]", "null", #"{"pushcrypt":null}"#, #"{"pushcrypt":{}}"#, "{}x", "\u{FEFF}{}"])
    func malformed(json: String) throws {
        try expectFailure(.malformed) { try TestPush.open(Array(json.utf8)) }
    }

    @Test("a payload that isn't UTF-8 is malformed")
    func notUTF8() throws {
        let sealed = try TestPush().sealed()
        try expectFailure(.malformed) { try TestPush.open(sealed.dropLast() + [0xff]) }
    }

    @Test("a payload with another version is unsupportedVersion", arguments: ["0", "2", "9007199254740991"])
    func unsupportedVersion(version: String) throws {
        let sealed = try TestPush().sealed().replacing(#""v":1"#, with: #""v":\#(version)"#)
        try expectFailure(.unsupportedVersion) { try TestPush.open(sealed) }
    }

    @Test(
        "a sealed field with a flipped bit, truncated or extended, is undecryptable",
        arguments: ["p256", "p256 psk", "x25519", "x25519 psk", "shared", "device"], [nil, "sender"])
    func tampered(key: String, signer: String?) throws {
        let payload = try TestPush(key: key, signer: signer).sealed()
        let outer = try OuterPayload(JSONText(payload))
        let flipped = [0, 1, 40, outer.sealed.count / 2, outer.sealed.count - 1].map { place in
            var sealed = outer.sealed
            sealed[place] ^= 1
            return sealed
        }
        let frame = OuterFrame(placeholder: Array("\"x\"".utf8), exposed: [], kid: outer.kid, skid: outer.skid)
        for (index, sealed) in (flipped + [outer.sealed.dropLast(), outer.sealed + [0]]).enumerated() {
            try expectFailure(.undecryptable, "change \(index)") {
                try TestPush.open(frame.payload(sealed: sealed), key: key, trusting: signer.map { [$0] })
            }
        }
    }

    @Test(
        "a payload that was sealed for another topic is undecryptable",
        arguments: ["com.example.App", "com.example.app.extension", "com.example"])
    func otherTopic(topic: String) throws {
        let sealed = try TestPush().sealed()
        try expectFailure(.undecryptable) { try TestPush.open(sealed, topic: topic) }
    }

    @Test("an unsigned payload is undecryptable if senders are pinned")
    func unsignedWithPinnedSenders() throws {
        let sealed = try TestPush().sealed()
        try expectFailure(.undecryptable) { try TestPush.open(sealed, trusting: ["sender"]) }
    }

    @Test("a payload that names another sender, or none, is undecryptable")
    func otherSkid() throws {
        let sealed = try TestPush(signer: "sender").sealed()
        let (own, other) = try (TestKeys.id("sender"), TestKeys.id("other sender"))
        let renamed = sealed.replacing("\(own)", with: "\(other)")
        try expectFailure(.undecryptable) { try TestPush.open(renamed, trusting: ["sender", "other sender"]) }
        let stripped = sealed.replacing(#","skid":"\#(own)""#, with: "")
        try expectFailure(.undecryptable) { try TestPush.open(stripped) }
    }

    @Test(
        "a payload is undecryptable with a key that has the same kid and another secret",
        arguments: [("shared", "device"), ("device", "shared"), ("device", "other device")])
    func otherSecretOfTheKid(keys: (String, String)) throws {
        let sealed = try TestPush(key: keys.0).sealed()
        try expectFailure(.undecryptable) { try TestPush.open(sealed, key: keys.1) }
    }

    @Test("a well-formed message opens with its id and no padding")
    func wellFormedMessage() throws {
        let push = try TestPush.open(TestPush.message().sealedAsMessage()).get()
        #expect(push.messageID == "AAECAwQFBgcICQoLDA0ODw")
        #expect(push.paddingByteCount == 0)
    }

    @Test(
        "a message with an invalid header is malformed",
        arguments: [
            TestPush.message(id: "null"), .message(id: "\"\""), .message(id: "1"),
            .message(id: "\"AAECAwQFBgcICQoLDA0O\""),
            .message(iat: "null"), .message(iat: "-1"), .message(iat: "1.8e9"), .message(iat: "\"1800000000\""),
            .message(exp: "null"), .message(exp: "1800000000"), .message(exp: "1799999999"),
            .message(exp: "1802592001"),
            TestPush(json: #"{"aps":{"alert":"x"}}"#), TestPush(json: #"{"aps":{"alert":"x"},"pushcrypt":[]}"#),
            TestPush(json: ""), TestPush(json: "   "), TestPush(json: "x"), TestPush(json: TestPush.json + "x"),
        ])
    func malformedMessage(push: TestPush) throws {
        try expectFailure(.malformed, "\(push.json)") { try TestPush.open(push.sealedAsMessage()) }
    }

    @Test(
        "a message whose alert has no text is malformed",
        arguments: ["{}", "\"\"", "null", "1", #"{"title":""}"#, #"{"title":1,"sound":"x"}"#])
    func messageWithoutText(alert: String) throws {
        let message = TestPush.message().json.split(separator: "\"x\"", maxSplits: 1).joined(separator: alert)
        try expectFailure(.malformed) { try TestPush.open(TestPush(json: message).sealedAsMessage()) }
    }

    @Test(
        "a push opens only between ten minutes before its iat and its exp",
        arguments: [
            (0, nil), (TestPush.window - 1, nil), (TestPush.window, FailureClass.expired),
            (10 * TestPush.window, .expired),
            (-600, nil), (-601, .notYetValid), (-1_800_000_000, .notYetValid),
        ])
    func freshness(seconds: Int64, failure: FailureClass?) throws {
        let sealed = try TestPush().sealed()
        let time = TestPush.now + seconds
        if let failure {
            try expectFailure(failure) { try TestPush.open(sealed, at: time) }
        } else {
            _ = try TestPush.open(sealed, at: time).get()
        }
    }

    @Test("if the clock is behind the highest accepted iat, that iat less ten minutes counts as the time")
    func highestIssuedAt() throws {
        let sealed = try TestPush(options: .init(expiresAfter: .seconds(60))).sealed()
        let highest = TestPush.now + 60 + 600
        _ = try TestPush.open(sealed, highestIssuedAt: highest - 1).get()
        try expectFailure(.expired) { try TestPush.open(sealed, highestIssuedAt: highest) }
        // With a clock that is behind, a push that isn't newer than the highest iat is not refused.
        try expectFailure(.notYetValid) { try TestPush.open(sealed, at: TestPush.now - 601) }
        _ = try TestPush.open(sealed, at: TestPush.now - 601, highestIssuedAt: TestPush.now).get()
        _ = try TestPush.open(sealed, highestIssuedAt: UnixTime(0)).get()
    }
}
