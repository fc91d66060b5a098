import PushCryptCore
import PushCryptExtension
import PushCryptSender
import Testing

/// The attacker is APNs, a relay or anyone with the provider's push credentials. It has every payload and no key. It
/// changes payloads or sends its own. Each attack runs with every suite and profile.
@Suite("Attacks of a relay") struct RelayAttackTests {
    typealias Profile = AttackedPhone.Profile

    @Test("a relay changes the title of the placeholder: the sealed alert is shown", arguments: Profile.all)
    func changesTitle(profile: Profile) async throws {
        let phone = try AttackedPhone(profile)
        let payload = try phone.push().with("title", "Your bank: call 0190")
        expectSecretShown(try await phone.show(payload))
    }

    @Test(
        "a relay adds category, badge, sound, thread and members of its own: the sealed alert is shown without them",
        arguments: Profile.all)
    func changesCategory(profile: Profile) async throws {
        let phone = try AttackedPhone(profile)
        let payload = try phone.push().replacing(
            #""mutable-content":1"#,
            with:
                #""mutable-content":1,"category":"PAY","badge":99,"sound":"siren","thread-id":"t","interruption-level":"critical""#
        ).replacing(#"{"aps""#, with: #"{"url":"https://evil.example","aps""#)
        expectSecretShown(try await phone.show(payload))
    }

    @Test(
        "a relay changes the category that the sender exposed: the sealed category is shown", arguments: Profile.all)
    func changesExposedCategory(profile: Profile) async throws {
        let phone = try AttackedPhone(profile)
        let payload = try phone.push(options: .init(exposed: ["category"])).with("category", "PAY")
        expectSecretShown(try await phone.show(payload))
    }

    @Test(
        "a relay adds members to a push that it broke: the app's own text is shown with the default sound only",
        arguments: Profile.all)
    func decoratesABrokenPush(profile: Profile) async throws {
        let phone = try AttackedPhone(profile)
        let payload = try phone.push().withTamperedTag().replacing(
            #""mutable-content":1"#,
            with: #""mutable-content":1,"category":"PAY","badge":99,"sound":"siren","target-content-id":"w""#)
        expectOwnTextShown(try await phone.show(payload), .undecryptable, hasSound: true)
    }

    @Test("a relay changes the kid to an unknown one: unknownKey, the app's own text", arguments: Profile.all)
    func changesKid(profile: Profile) async throws {
        let phone = try AttackedPhone(profile)
        let payload = try phone.push()
        for kid in ["AAAAAAAAAAA", try TestKeys.id("other p256").rawText, try TestKeys.id("sender").rawText] {
            expectOwnTextShown(try await phone.show(payload.with("kid", kid)), .unknownKey)
        }
        for kid in ["", "AAAAAAAAAAB", "AAAAAAAAAAAA", "AAAAAAAAAA="] {
            expectOwnTextShown(try await phone.show(payload.with("kid", kid)), .malformed)
        }
    }

    @Test("a relay changes the kid to another key of the phone: undecryptable, the app's own text")
    func changesKidToAnotherKey() async throws {
        let phone = try AttackedPhone(Profile(key: "p256", isSigned: false))
        let keys = try Keyset(["p256", "other p256"].map { try TestKeys.keyset($0).entries[0] })
        let payload = try phone.push().with("kid", TestKeys.id("other p256").rawText)
        expectOwnTextShown(try await phone.show(payload, keys: keys), .undecryptable)
    }

    @Test(
        "a relay changes the skid: unknownKey for a stranger, undecryptable for another pinned sender",
        arguments: Profile.signed)
    func changesSkid(profile: Profile) async throws {
        let phone = try AttackedPhone(profile)
        let payload = try phone.push().with("skid", TestKeys.id("other sender").rawText)
        expectOwnTextShown(try await phone.show(payload), .unknownKey)
        let both = try TestKeys.trusted(["sender", "other sender"])
        expectOwnTextShown(try await phone.show(payload, senders: .pinned(both)), .undecryptable)
    }

    @Test(
        "a relay adds a skid to an unsigned push: unknownKey, or undecryptable where that sender is pinned",
        arguments: Profile.unsigned)
    func addsSkid(profile: Profile) async throws {
        let phone = try AttackedPhone(profile)
        let payload = try phone.push().replacing(
            "\"}}", with: #"","skid":"\#(try TestKeys.id("sender").rawText)"}}"#)
        expectOwnTextShown(try await phone.show(payload), .unknownKey)
        let pinned = try AttackedPhone(Profile(key: profile.key, isSigned: true))
        expectOwnTextShown(try await pinned.show(payload), .undecryptable)
    }

    @Test(
        "a relay strips the signature: undecryptable, also without its skid, its 64 bytes or both",
        arguments: Profile.signed)
    func stripsSignature(profile: Profile) async throws {
        let phone = try AttackedPhone(profile)
        let payload = try phone.push()
        let header = ["p256": 65, "p256 psk": 65, "x25519": 32, "x25519 psk": 32][profile.key] ?? 16
        let cut = try payload.changingSealed { $0.removeSubrange(header..<(header + 64)) }
        let forms = try [payload.withoutSKID(), cut, cut.withoutSKID()]
        for form in forms {
            expectOwnTextShown(try await phone.show(form), .undecryptable)
        }
        // An app that accepts unsigned pushes doesn't show the signed one as unsigned.
        let lax = try AttackedPhone(Profile(key: profile.key, isSigned: false))
        for form in [forms[0], forms[2]] {
            expectOwnTextShown(try await lax.show(form), .undecryptable)
        }
    }

    @Test(
        "a relay sends an unsigned push to an app that pins senders: undecryptable, the app's own text",
        arguments: Profile.signed)
    func sendsUnsigned(profile: Profile) async throws {
        let phone = try AttackedPhone(profile)
        let unsigned = try AttackedPhone(Profile(key: profile.key, isSigned: false)).push()
        expectOwnTextShown(try await phone.show(unsigned), .undecryptable)
    }

    @Test("a relay changes the version: unsupportedVersion, or malformed for no integer", arguments: Profile.all)
    func changesVersion(profile: Profile) async throws {
        let phone = try AttackedPhone(profile)
        let payload = try phone.push()
        for version in ["0", "2", "9007199254740991"] {
            let changed = payload.replacing(#""v":1"#, with: #""v":\#(version)"#)
            expectOwnTextShown(try await phone.show(changed), .unsupportedVersion)
        }
        for version in ["\"1\"", "1.0", "1e0", "true", "null", "-1", "[1]", "9007199254740992"] {
            let changed = payload.replacing(#""v":1"#, with: #""v":\#(version)"#)
            expectOwnTextShown(try await phone.show(changed), .malformed)
        }
    }

    @Test("a relay changes one byte of sealed: undecryptable, the app's own text", arguments: Profile.all)
    func changesSealed(profile: Profile) async throws {
        let phone = try AttackedPhone(profile)
        expectOwnTextShown(try await phone.show(phone.push().withTamperedTag()), .undecryptable)
    }

    @Test(
        "a relay moves the sealed field into the push of another device: undecryptable on that device",
        arguments: [
            ("p256", "other p256"), ("x25519", "other x25519"), ("shared", "other shared"), ("device", "other device"),
        ],
        [false, true])
    func movesToAnotherDevice(keys: (String, String), isSigned: Bool) async throws {
        let first = try AttackedPhone(Profile(key: keys.0, isSigned: isSigned))
        let second = try AttackedPhone(Profile(key: keys.1, isSigned: isSigned))
        let moved = try second.push().with("sealed", first.push().member("sealed"))
        expectOwnTextShown(try await second.show(moved), .undecryptable)
    }

    @Test(
        "a relay swaps the payloads of two recipients: each shows the app's own text and nothing of the other's push",
        arguments: [
            ("p256", "other p256", FailureClass.unknownKey), ("x25519", "other x25519", .unknownKey),
            ("p256", "x25519", .unknownKey), ("shared", "other shared", .unknownKey),
            // Both devices have the kid of their master.
            ("device", "other device", .undecryptable),
        ], [false, true])
    func swapsRecipients(_ swap: (String, String, FailureClass), isSigned: Bool) async throws {
        let first = try AttackedPhone(Profile(key: swap.0, isSigned: isSigned))
        let second = try AttackedPhone(Profile(key: swap.1, isSigned: isSigned))
        expectOwnTextShown(try await first.show(second.push()), swap.2)
        expectOwnTextShown(try await second.show(first.push()), swap.2)
    }

    @Test("a relay sends a push to another app with the same key: undecryptable there", arguments: Profile.all)
    func movesToAnotherTopic(profile: Profile) async throws {
        let phone = try AttackedPhone(profile)
        var otherApp = try AttackedPhone(profile)
        otherApp.topic = "com.example.bank"
        expectOwnTextShown(try await otherApp.show(phone.push()), .undecryptable)
    }

    @Test("a relay holds a push back until it has expired: expired, the app's own text", arguments: Profile.all)
    func movesToALaterTime(profile: Profile) async throws {
        let phone = try AttackedPhone(profile)
        let payload = try phone.push(options: .init(expiresAfter: .seconds(3_600)))
        expectOwnTextShown(try await phone.show(payload, at: TestPush.now + 3_600), .expired)
        // In a new outer payload it is as old as before.
        let moved = try phone.push().with("sealed", payload.member("sealed"))
        expectOwnTextShown(try await phone.show(moved, at: TestPush.now + 3_600), .expired)
        // It has not been shown yet, so it still opens one second before.
        expectSecretShown(try await phone.show(payload, at: TestPush.now + 3_599))
    }

    @Test(
        "a push from the future is shown 10 minutes early at most: notYetValid before that", arguments: Profile.all)
    func movesToAnEarlierTime(profile: Profile) async throws {
        let phone = try AttackedPhone(profile)
        let payload = try phone.push()
        expectOwnTextShown(try await phone.show(payload, at: TestPush.now - 601), .notYetValid)
        expectSecretShown(try await phone.show(payload, at: TestPush.now - 600))
    }

    @Test(
        "a relay sends an unsealed push to an app that requires sealed ones: notSealed, the app's own text",
        arguments: Profile.all)
    func sendsUnsealed(profile: Profile) async throws {
        let phone = try AttackedPhone(profile)
        let alert =
            #""aps":{"alert":{"title":"Zoë","body":"Call 0190"},"mutable-content":1,"category":"PAY","badge":9}"#
        let bare = Array(#"{\#(alert),"url":"https://evil.example"}"#.utf8)
        expectOwnTextShown(try await phone.show(bare), .notSealed)
        for member in ["null", "{}", "[]", #""opened""#, #"{"status":"opened"}"#, #"{"id":"AAECAwQFBgcICQoLDA0ODw"}"#] {
            let mimic = Array(#"{\#(alert),"pushcrypt":\#(member)}"#.utf8)
            expectOwnTextShown(try await phone.show(mimic), .malformed, "\(member)")
        }
    }

    @Test(
        "a relay sends an unsealed push without mutable content in a sealed one's form: malformed, the app's own text",
        arguments: ["0", "2", "true", "null", "\"1\""])
    func changesMutableContent(value: String) async throws {
        let phone = try AttackedPhone(Profile(key: "p256", isSigned: false))
        let payload = try phone.push().replacing(#""mutable-content":1"#, with: #""mutable-content":\#(value)"#)
        expectOwnTextShown(try await phone.show(payload), .malformed)
    }

    @Test(
        "with the fallback outerAlert a relay's title is shown for a broken push, and nothing else of it",
        arguments: Profile.all)
    func outerAlertIsTheChoiceOfTheApp(profile: Profile) async throws {
        let phone = try AttackedPhone(profile)
        let payload = try phone.push().withTamperedTag().with("title", "Written by the relay")
        let delivery = try await phone.show(payload) { $0.fallback = .outerAlert(orElse: .standard) }
        #expect(delivery.failure == .undecryptable && !delivery.isRestored)
        #expect(delivery.content.title.literal == "Written by the relay")
        #expect(delivery.content.category == nil && delivery.content.body.isEmpty)
    }
}

extension KeyID {
    /// The 11 characters.
    var rawText: String { "\(self)" }
}
