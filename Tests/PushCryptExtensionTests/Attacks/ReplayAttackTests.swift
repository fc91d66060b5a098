import PushCryptExtension
import Testing

/// The attacker is a relay that recorded pushes. It sends them again, unchanged or in another outer payload, to an app with
/// a `store`. `docs/security.md` says what happens without one.
@Suite("Attacks by replay") struct ReplayAttackTests {
    typealias Profile = AttackedPhone.Profile

    @Test("a relay replays a push: replayed, the app's own text", arguments: Profile.all)
    func replays(profile: Profile) async throws {
        let phone = try AttackedPhone(profile)
        let payload = try phone.push()
        expectSecretShown(try await phone.show(payload))
        for delay: Int64 in [0, 61, 86_400, 29 * 86_400] {
            expectOwnTextShown(try await phone.show(payload, at: TestPush.now + delay), .replayed)
        }
        // A new push with the same content is no replay.
        expectSecretShown(try await phone.show(phone.push()))
    }

    @Test(
        "a relay replays the sealed field in another outer payload: replayed, the app's own text",
        arguments: Profile.all)
    func replaysInAnotherFrame(profile: Profile) async throws {
        let phone = try AttackedPhone(profile)
        let payload = try phone.push()
        expectSecretShown(try await phone.show(payload))
        let forms = try [
            payload.with("title", "Another placeholder"), Array(" ".utf8) + payload,
            payload.replacing(#"{"aps""#, with: #"{"n":1,"aps""#),
            payload.replacing(#""v":1"#, with: #""more":true,"v": 1"#),
            phone.push(#"{"aps":{"alert":"another"}}"#).with("sealed", payload.member("sealed")),
        ]
        for form in forms {
            expectOwnTextShown(try await phone.show(form), .replayed)
        }
    }

    @Test(
        "a relay replays a push while the phone's clock is wrong: replayed, notYetValid or expired, and never shown",
        arguments: Profile.all)
    func replaysWithAnotherClock(profile: Profile) async throws {
        let phone = try AttackedPhone(profile)
        let payload = try phone.push()
        expectSecretShown(try await phone.show(payload))
        expectOwnTextShown(try await phone.show(payload, at: TestPush.now - 86_400), .replayed)
        expectOwnTextShown(try await phone.show(payload, at: TestPush.now - 86_400 * 365), .notYetValid)
        expectOwnTextShown(try await phone.show(payload, at: TestPush.now + TestPush.window), .expired)
    }

    @Test("a relay replays a push that the app chose to show passively: its text is shown without sound and stages")
    func replaysToAPassiveApp() async throws {
        let phone = try AttackedPhone(Profile(key: "p256", isSigned: false))
        let payload = try phone.push(#"{"aps":{"alert":"x","sound":"s","interruption-level":"critical"}}"#)
        #expect(try await phone.show(payload).failure == nil)
        let again = try await phone.show(payload) { ($0.replays, $0.stages) = (.passive, [TestStage.suffix("!")]) }
        #expect(again.failure == .replayed && again.isRestored)
        #expect(again.content.body.literal == "x" && again.content.title.literal == nil)
        #expect(again.content.sound == nil && again.content.interruptionLevel == "passive")
    }
}
