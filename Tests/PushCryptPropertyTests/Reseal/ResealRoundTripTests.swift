import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptSender
import PushCryptTestSupport
import Testing

/// A resealed push opens with the new key as the queued push opened with the old key.
@Suite struct ResealRoundTripTests {
    @Test(
        "a resealed push has the same length, ids, times and content, and opens only with the new key",
        arguments: Rotation.onBothBackends)
    func randomPayloads(rotation: Rotation) throws {
        var payloads = RandomPayload(seed: 31)
        let resealer = try rotation.resealer()
        let before = try rotation.opener(Rotation.old, Rotation.oldSender)
        let after = try rotation.opener(Rotation.new, Rotation.newSender)
        let paddings: [PaddingPolicy] = [.none, .multiple(of: 128), .limit]
        for index in 0..<LongTests.value(24, short: 9) {
            let options = Sealer.Options(padding: paddings[index % 3], exposed: ["badge"])
            let queued = try rotation.seal(payloads.json(), options: options)
            let push = try resealer.reseal(queued, device: rotation.deviceID())
            #expect(push.isChanged)
            #expect(push.payload.count == queued.count)
            let expected = try before.open(queued, at: Rotation.now).get()
            let found = try after.open(push.payload, at: Rotation.now).get()
            #expect(found.messageID == expected.messageID)
            #expect(found.issuedAt == expected.issuedAt)
            #expect(found.expiresAt == expected.expiresAt)
            #expect(found.paddingByteCount == expected.paddingByteCount)
            #expect(found.payload == expected.payload)
            #expect(found.signedBy?.description == (rotation.isSigned ? TestKeys.kid(Rotation.newSender) : nil))
            expect(.unknownKey, before.open(push.payload, at: Rotation.now))
        }
    }

    @Test("resealing keeps all other members, their order and the white space byte for byte", arguments: Rotation.all)
    func restOfTheOuterPayload(rotation: Rotation) throws {
        let sealed = OuterText(try rotation.seal())
        var members = ["sealed", "kid", "skid"].compactMap { name in
            sealed.member(name).map { "\"\(name)\" :\t\"\($0)\"" }
        }
        members += [#""x":{"kid":"é","n":1.50e0}"#, #""v": 1"#]
        let text = """
             { "pushcrypt" : { \(members.joined(separator: " , ")) },
            "relay":[1E2,{"sealed":null}] , "aps":{"badge":1.50, "alert":{"title":"\\u0041"},"mutable-content":1}}
            """
        let push = try rotation.resealer().reseal(Array(text.utf8), device: rotation.deviceID())
        let changed = OuterText(push.payload)
        for name in ["sealed", "kid"] + (rotation.isSigned ? ["skid"] : []) {
            let (old, new) = (try #require(sealed.member(name)), try #require(value(name, in: changed)))
            #expect(old != new)
            #expect(old.utf8.count == new.utf8.count)
        }
        let newMembers = ["sealed", "kid", "skid"].compactMap { name in
            value(name, in: changed).map { (name: name, value: $0) }
        }
        let expected = newMembers.reduce(text) { text, member in
            text.replacing(sealed.member(member.name) ?? "", with: member.value)
        }
        #expect(changed.text == expected)
        let opener = try rotation.opener(Rotation.new, Rotation.newSender)
        #expect(throws: Never.self) { try opener.open(push.payload, at: Rotation.now).get() }
    }

    @Test("resealing a resealed push changes nothing", arguments: Rotation.onBothBackends)
    func again(rotation: Rotation) throws {
        let (resealer, device) = (try rotation.resealer(), try rotation.deviceID())
        let first = try resealer.reseal(try rotation.seal(), device: device)
        let second = try resealer.reseal(first.payload, device: device)
        #expect(second.payload == first.payload)
        #expect(!second.isChanged)
    }

    @Test("two resealings of one push have different sealed members", arguments: Rotation.all)
    func twice(rotation: Rotation) throws {
        let (resealer, queued) = (try rotation.resealer(), try rotation.seal())
        let sealed = try (0..<2).map { _ in
            try #require(OuterText(try resealer.reseal(queued, device: rotation.deviceID()).payload).member("sealed"))
        }
        let same = zip(sealed[0].utf8, sealed[1].utf8).filter { $0 == $1 }.count
        #expect(same < sealed[0].utf8.count / 4)
        #expect(sealed[0].prefix(20) != sealed[1].prefix(20))
    }

    @Test("an envelope with escapes is replaced by one without escapes")
    func escapedEnvelope() throws {
        let rotation = Rotation()
        let plain = OuterText(try rotation.seal())
        let kid = try #require(plain.member("kid"))
        let first = try #require(kid.utf8.first)
        let escaped = plain.with("kid", "\\u00\(String(first, radix: 16))\(kid.dropFirst())")
        #expect(escaped.bytes.count == plain.bytes.count + 5)
        let push = try rotation.resealer().reseal(escaped.bytes)
        #expect(push.payload.count == plain.bytes.count)
        let opener = try rotation.opener(Rotation.new, Rotation.newSender)
        #expect(throws: Never.self) { try opener.open(push.payload, at: Rotation.now).get() }
    }

    private func value(_ name: String, in outer: OuterText) -> String? {
        guard let start = outer.text.range(of: "\"\(name)\" :\t\"")?.upperBound else { return nil }
        return String(outer.text[start...].prefix { $0 != "\"" })
    }
}
