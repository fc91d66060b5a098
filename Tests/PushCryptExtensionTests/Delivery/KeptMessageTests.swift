import PushCryptSimulator
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// The sealed message in a placeholder.
@Suite struct KeptMessageTests {
    /// A payload with members that a relay added.
    private static func payload(signed: Bool = false) throws -> [UInt8] {
        let sealed = try TestPush(signer: signed ? "sender" : nil).sealed()
        return Array(
            sealed.text.replacing(#""pushcrypt":{"#, with: #""url":"x","pushcrypt":{"note":[1],"status":"failed","#)
                .utf8)
    }

    private static let kept: Set<FailureClass> = [.keyLocked, .timedOut, .unknownKey, .keyExpired, .unsupportedSuite]
    private static let failures = FailureClass.Defined.allCases.map(FailureClass.init)

    @Test(
        "a placeholder keeps kid, sealed and skid only after failures that can pass", arguments: failures,
        [false, true])
    func members(_ failure: FailureClass, signed: Bool) throws {
        let outer = try Self.payload(signed: signed)
        let userInfo = Fallback.bundled(.standard).content(for: outer, failure).userInfo
        let root = try JSONText(userInfo).root
        #expect(root.members.map(\.name) == ["pushcrypt"])
        let names = root["pushcrypt"].map { $0.members.map(\.name) }
        let message = ["v", "kid", "sealed"] + (signed ? ["skid"] : [])
        #expect(names == (Self.kept.contains(failure) ? message : []) + ["status", "reason"])
        #expect(root["pushcrypt"]?["reason"]?.string == failure.rawValue)
    }

    @Test("the kept message is opened like the push", arguments: [false, true])
    func opened(signed: Bool) throws {
        let outer = try Self.payload(signed: signed)
        let userInfo = Fallback.bundled(.standard).content(for: outer, .keyLocked).userInfo
        let kept = try #require(KeptMessage.outerPayload(userInfo: userInfo))
        #expect(!kept.text.contains("\"url\""))
        let push = try TestPush.open(kept, trusting: signed ? ["sender"] : nil).get()
        #expect(push.payload.text == TestPush.json)
    }

    @Test(
        "a payload that can't be read leaves a placeholder without a message",
        arguments: ["", "{}", #"{"pushcrypt":1}"#, #"{"aps":{"alert":"x","mutable-content":1},"pushcrypt":{"v":1}}"#])
    func unreadable(outer: String) throws {
        let userInfo = Fallback.bundled(.standard).content(for: Array(outer.utf8), .timedOut).userInfo
        #expect(userInfo.text == #"{"pushcrypt":{"status":"failed","reason":"timedOut"}}"#)
        #expect(KeptMessage.outerPayload(userInfo: userInfo) == nil)
    }
}
