import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// The sealed message in a placeholder.
@Suite struct KeptMessageTests {
    private static let kept: Set<FailureClass> = [.keyLocked, .timedOut, .unknownKey, .keyExpired, .unsupportedSuite]

    private static func userInfo(of outer: [UInt8], _ failure: FailureClass) -> [UInt8] {
        Fallback.bundled(.standard).content(for: outer, failure).userInfo
    }

    @Test(
        "a placeholder keeps kid, sealed and skid only after failures that can pass, and they are opened like the push",
        arguments: FailureClass.Defined.allCases.map(FailureClass.init), [nil, "sender"])
    func members(_ failure: FailureClass, signer: String?) throws {
        // A relay has added members.
        let outer = try TestPush(signer: signer).sealed().replacing(
            #""pushcrypt":{"#, with: #""url":"x","pushcrypt":{"note":[1],"status":"failed","#)
        let userInfo = Self.userInfo(of: outer, failure)
        let root = try JSONText(userInfo).root
        #expect(root.members.map(\.name) == ["pushcrypt"])
        let message = ["v", "kid", "sealed"] + (signer == nil ? [] : ["skid"])
        let names = (Self.kept.contains(failure) ? message : []) + ["status", "reason"]
        #expect(root["pushcrypt"]?.members.map(\.name) == names)
        #expect(root["pushcrypt"]?["reason"]?.string == failure.rawValue)
        guard Self.kept.contains(failure) else { return }
        let kept = try #require(KeptMessage.outerPayload(userInfo: userInfo))
        #expect(!kept.text.contains("\"url\""))
        #expect(try TestPush.open(kept, trusting: signer.map { [$0] }).get().payload.text == TestPush.json)
    }

    @Test(
        "a payload that can't be read leaves a placeholder without a message",
        arguments: ["", "{}", #"{"pushcrypt":1}"#, #"{"aps":{"alert":"x","mutable-content":1},"pushcrypt":{"v":1}}"#])
    func unreadable(outer: String) throws {
        let userInfo = Self.userInfo(of: Array(outer.utf8), .timedOut)
        #expect(userInfo.text == #"{"pushcrypt":{"status":"failed","reason":"timedOut"}}"#)
        #expect(KeptMessage.outerPayload(userInfo: userInfo) == nil)
    }
}
