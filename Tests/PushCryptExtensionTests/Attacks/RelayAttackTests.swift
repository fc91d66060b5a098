import PushCryptExtension
import PushCryptSender
import Testing

/// The attacker is APNs, a relay or anyone with the provider's push credentials. It has every payload and no key. It
/// changes payloads or sends its own. Each attack runs with every suite and profile.
@Suite("Attacks of a relay") struct RelayAttackTests {
    typealias Profile = AttackedPhone.Profile

    /// A change that a relay makes to a payload, and why the phone then shows the app's own text; nil if it shows the sealed
    /// alert.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let failure: FailureClass?
        let options: Sealer.Options
        let change: @Sendable ([UInt8]) throws -> [UInt8]

        init(
            _ name: String, _ failure: FailureClass?, _ options: Sealer.Options = .init(),
            _ change: @escaping @Sendable ([UInt8]) throws -> [UInt8]
        ) {
            (testDescription, self.failure, self.options, self.change) = (name, failure, options, change)
        }

        static func version(_ version: String, _ failure: FailureClass) -> Change {
            Change("version \(version)", failure) { $0.replacing(#""v":1"#, with: #""v":\#(version)"#) }
        }

        static func kid(_ kid: String, _ failure: FailureClass) -> Change {
            Change("kid \(kid)", failure) { try $0.with("kid", kid) }
        }
    }

    private static let decoration =
        #""mutable-content":1,"category":"PAY","badge":99,"sound":"siren","thread-id":"t","#
        + #""interruption-level":"critical","target-content-id":"w""#

    private static let payloadChanges: [Change] =
        [
            Change("the title of the placeholder", nil) { try $0.with("title", "Your bank: call 0190") },
            Change("the category that the sender exposed", nil, .init(exposed: ["category"])) {
                try $0.with("category", "PAY")
            },
            Change("category, badge, sound, thread and members of its own", nil) {
                $0.replacing(#""mutable-content":1"#, with: decoration)
                    .replacing(#"{"aps""#, with: #"{"url":"https://evil.example","aps""#)
            },
            // The app's own text has the default sound.
            Change("members of its own in a push that it broke", .undecryptable) {
                try $0.withTamperedTag().replacing(#""mutable-content":1"#, with: decoration)
            },
            Change("one byte of sealed", .undecryptable) { try $0.withTamperedTag() },
            .kid("AAAAAAAAAAA", .unknownKey), .kid("", .malformed), .kid("AAAAAAAAAAB", .malformed),
            .kid("AAAAAAAAAAAA", .malformed), .kid("AAAAAAAAAA=", .malformed),
            Change("the kid of another device", .unknownKey) { try $0.with("kid", "\(TestKeys.id("other p256"))") },
            Change("the kid of a sender", .unknownKey) { try $0.with("kid", "\(TestKeys.id("sender"))") },
            .version("0", .unsupportedVersion), .version("2", .unsupportedVersion),
            .version("9007199254740991", .unsupportedVersion),
        ]
        + ["\"1\"", "1.0", "1e0", "true", "null", "-1", "[1]", "9007199254740992"].map { .version($0, .malformed) }
        + ["0", "2", "true", "null", "\"1\""].map { value in
            Change("mutable content \(value)", .malformed) {
                $0.replacing(#""mutable-content":1"#, with: #""mutable-content":\#(value)"#)
            }
        }

    @Test(
        "a relay changes a payload: the sealed alert or the own text is shown",
        arguments: payloadChanges, Profile.all)
    func changes(_ change: Change, profile: Profile) async throws {
        let phone = AttackedPhone(profile)
        let payload = try change.change(phone.push(options: change.options))
        let delivery = try await phone.show(payload)
        if let failure = change.failure {
            expectOwnTextShown(delivery, failure, hasSound: payload.text.contains("siren"))
        } else {
            expectSecretShown(delivery)
        }
    }

    @Test("a relay changes the kid to another key of the phone: undecryptable, the app's own text")
    func changesKidToAnotherKey() async throws {
        let phone = AttackedPhone(Profile(key: "p256", isSigned: false))
        let keys = try Keyset(["p256", "other p256"].map { try TestKeys.keyset($0).entries[0] })
        let payload = try phone.push().with("kid", TestKeys.id("other p256").description)
        expectOwnTextShown(try await phone.show(payload, keys: keys), .undecryptable)
    }

    @Test("a relay changes the skid: unknownKey, or undecryptable for a pinned sender", arguments: Profile.signed)
    func changesSkid(profile: Profile) async throws {
        let phone = AttackedPhone(profile)
        let payload = try phone.push().with("skid", TestKeys.id("other sender").description)
        expectOwnTextShown(try await phone.show(payload), .unknownKey)
        let both = try TestKeys.trusted(["sender", "other sender"])
        expectOwnTextShown(try await phone.show(payload, senders: .pinned(both)), .undecryptable)
    }

    @Test("a relay sends an unsigned push, or adds a skid: undecryptable or unknownKey", arguments: Profile.unsigned)
    func addsSkid(profile: Profile) async throws {
        let phone = AttackedPhone(profile)
        let pinning = AttackedPhone(Profile(key: profile.key, isSigned: true))
        let unsigned = try phone.push()
        let payload = unsigned.replacing("\"}}", with: #"","skid":"\#(try TestKeys.id("sender").description)"}}"#)
        expectOwnTextShown(try await phone.show(payload), .unknownKey)
        expectOwnTextShown(try await pinning.show(payload), .undecryptable)
        expectOwnTextShown(try await pinning.show(unsigned), .undecryptable)
    }

    @Test("a relay strips skid, signature or both: undecryptable", arguments: Profile.signed)
    func stripsSignature(profile: Profile) async throws {
        let phone = AttackedPhone(profile)
        let payload = try phone.push()
        let header = ["p256": 65, "p256 psk": 65, "x25519": 32, "x25519 psk": 32][profile.key] ?? 16
        let cut = try payload.changingSealed { $0.removeSubrange(header..<(header + 64)) }
        let forms = try [payload.withoutSKID(), cut, cut.withoutSKID()]
        for form in forms { expectOwnTextShown(try await phone.show(form), .undecryptable) }
        // An app that accepts unsigned pushes doesn't show the signed one as unsigned.
        let lax = AttackedPhone(Profile(key: profile.key, isSigned: false))
        for form in [forms[0], forms[2]] { expectOwnTextShown(try await lax.show(form), .undecryptable) }
    }

    @Test(
        "a relay swaps the payloads of two recipients, or their sealed fields: each shows the app's own text",
        arguments: [
            ("p256", "other p256", FailureClass.unknownKey), ("x25519", "other x25519", .unknownKey),
            ("p256", "x25519", .unknownKey), ("shared", "other shared", .unknownKey),
            // Both devices have the kid of their master.
            ("device", "other device", .undecryptable),
        ], [false, true])
    func swapsRecipients(_ swap: (String, String, FailureClass), isSigned: Bool) async throws {
        let first = AttackedPhone(Profile(key: swap.0, isSigned: isSigned))
        let second = AttackedPhone(Profile(key: swap.1, isSigned: isSigned))
        expectOwnTextShown(try await first.show(second.push()), swap.2)
        expectOwnTextShown(try await second.show(first.push()), swap.2)
        let moved = try second.push().with("sealed", first.push().member("sealed"))
        expectOwnTextShown(try await second.show(moved), .undecryptable)
    }

    @Test("a relay sends a push to another app with the same key: undecryptable there", arguments: Profile.all)
    func movesToAnotherTopic(profile: Profile) async throws {
        let phone = AttackedPhone(profile)
        var otherApp = AttackedPhone(profile)
        otherApp.topic = "com.example.bank"
        expectOwnTextShown(try await otherApp.show(phone.push()), .undecryptable)
    }

    @Test(
        "a push is shown from 10 minutes before its time until it expires, in any outer payload", arguments: Profile.all
    )
    func movesToAnotherTime(profile: Profile) async throws {
        let phone = AttackedPhone(profile)
        let payload = try phone.push(options: .init(expiresAfter: .seconds(3_600)))
        // In a new outer payload it is as old as before.
        for form in [payload, try phone.push().with("sealed", payload.member("sealed"))] {
            expectOwnTextShown(try await phone.show(form, at: TestPush.now - 601), .notYetValid)
            expectOwnTextShown(try await phone.show(form, at: TestPush.now + 3_600), .expired)
        }
        // It has not been shown yet, so it still opens one second before.
        expectSecretShown(try await phone.show(payload, at: TestPush.now + 3_599))
        expectSecretShown(try await phone.show(phone.push(), at: TestPush.now - 600))
    }

    @Test(
        "a relay sends an unsealed push to an app that requires sealed ones: notSealed or malformed, the app's own text",
        arguments: [
            "null", "{}", "[]", #""opened""#, #"{"status":"opened"}"#, #"{"id":"AAECAwQFBgcICQoLDA0ODw"}"#, nil,
        ],
        Profile.all)
    func sendsUnsealed(member: String?, profile: Profile) async throws {
        let aps = #""aps":{"alert":{"title":"Zoë","body":"Call 0190"},"mutable-content":1,"category":"PAY","badge":9}"#
        let rest = member.map { #""pushcrypt":\#($0)"# } ?? #""url":"https://evil.example""#
        let delivery = try await AttackedPhone(profile).show(Array("{\(aps),\(rest)}".utf8))
        expectOwnTextShown(delivery, member == nil ? .notSealed : .malformed)
    }

    @Test("with the fallback outerAlert only a relay's text is shown for a broken push", arguments: Profile.all)
    func outerAlertIsTheChoiceOfTheApp(profile: Profile) async throws {
        let phone = AttackedPhone(profile)
        let payload = try phone.push().withTamperedTag().with("title", "Written by the relay")
        let delivery = try await phone.show(payload) { $0.fallback = .outerAlert(orElse: .standard) }
        #expect(delivery.failure == .undecryptable && !delivery.isRestored)
        #expect(delivery.content.title.literal == "Written by the relay")
        #expect(delivery.content.category == nil && delivery.content.body.isEmpty)
    }

    /// The relay recorded the push. `docs/security.md` says what happens to an app without a `store`.
    @Test("a relay replays a push at any time and in any outer payload: it isn't shown again", arguments: Profile.all)
    func replays(profile: Profile) async throws {
        let phone = AttackedPhone(profile)
        let payload = try phone.push()
        expectSecretShown(try await phone.show(payload))
        for (delay, failure) in [
            (0, .replayed), (61, .replayed), (86_400, .replayed), (29 * 86_400, .replayed), (TestPush.window, .expired),
            // The phone's clock is wrong.
            (-86_400, .replayed), (-86_400 * 365, .notYetValid),
        ] as [(Int64, FailureClass)] {
            expectOwnTextShown(try await phone.show(payload, at: TestPush.now + delay), failure)
        }
        for form in try [
            payload.with("title", "Another placeholder"), Array(" ".utf8) + payload,
            payload.replacing(#"{"aps""#, with: #"{"n":1,"aps""#),
            payload.replacing(#""v":1"#, with: #""more":true,"v": 1"#),
            phone.push(#"{"aps":{"alert":"another"}}"#).with("sealed", payload.member("sealed")),
        ] {
            expectOwnTextShown(try await phone.show(form), .replayed)
        }
        // A new push with the same content is no replay.
        expectSecretShown(try await phone.show(phone.push()))
    }

    @Test("a relay replays a push that the app chose to show passively: its text is shown without sound and stages")
    func replaysToAPassiveApp() async throws {
        let phone = AttackedPhone(Profile(key: "p256", isSigned: false))
        let payload = try phone.push(#"{"aps":{"alert":"x","sound":"s","interruption-level":"critical"}}"#)
        #expect(try await phone.show(payload).failure == nil)
        let again = try await phone.show(payload) { ($0.replays, $0.stages) = (.passive, [TestStage.suffix("!")]) }
        #expect(again.failure == .replayed && again.isRestored)
        #expect(again.content.body.literal == "x" && again.content.title.literal == nil)
        #expect(again.content.sound == nil && again.content.interruptionLevel == "passive")
    }
}
