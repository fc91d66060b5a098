import Foundation
import GRDB
import PushCryptSender
import Testing

@testable import PushBackend

@Suite("registrations") struct RegistrationTests {
    private let test: TestStore

    init() throws { test = try TestStore() }

    @Test("a device token belongs to the account that registered it last")
    func otherAccount() async throws {
        let first = try await test.register("zoe", token: "aa", kid: "kid-1")
        let message = try await test.accept()
        try await test.register("amara", token: "aa", kid: "kid-2")
        #expect(try await test.store.registration(named: first.name, of: "zoe") == nil)
        #expect(try await test.store.report(on: message.id)?.failed == ["replaced": 1])
    }

    @Test("a new token or a new key renews the installation, and what waits is sealed to the new key")
    func renewal() async throws {
        let first = try await test.register("zoe", token: "aa", kid: "kid-1")
        _ = try await test.accept()
        #expect(try await test.register("zoe", token: "aa", kid: "kid-2").name == first.name)
        #expect(try await test.register("zoe", token: "bb", kid: "kid-2").name == first.name)
        #expect(try await test.register("zoe", token: "cc", kid: "kid-2", environment: .sandbox).name == first.name)
        let delivery = try await test.claim(.sandbox)
        #expect(delivery.map(\.kid) == ["kid-2"] && delivery.map(\.token) == ["cc"])
    }

    @Test("a key of a lower suite doesn't renew an installation, and another user's or another device's key is stored")
    func lowerSuite() async throws {
        let first = try await test.register("zoe", token: "aa", kid: "kid-1", key: .shared)
        let error = await #expect(throws: StoreError.self) {
            try await test.register("zoe", token: "aa", kid: "kid-2", key: .p256)
        }
        #expect(error?.code == .conflict && error?.reason.contains("ranks below") == true)
        #expect(try await test.store.registration(named: first.name, of: "zoe")?.kid == "kid-1")
        #expect(try await test.register("zoe", token: "cc", kid: "kid-3", key: .p256).name != first.name)
        #expect(try await test.register("amara", token: "aa", kid: "kid-4", key: .p256).kid == "kid-4")
    }

    @Test("after the sign-out nothing is sent, and what waited has failed")
    func signOut() async throws {
        let first = try await test.register("zoe")
        let message = try await test.accept()
        #expect(try await test.store.signOut(first.name, of: "zoe", at: 2_000))
        #expect(try await test.claim().isEmpty)
        #expect(try await test.store.report(on: message.id)?.failed == ["signedOut": 1])
    }

    @Test("a late receipt and a late 410 of a removed device change nothing for the device that registers next")
    func lateAnswers() async throws {
        let zoe = try await test.register("zoe")
        _ = try await test.accept()
        try await test.send()
        _ = try await test.accept()
        let delivery = try await test.claim()[0]
        _ = try await test.store.signOut(zoe.name, of: "zoe", at: 2_000)
        let amara = try await test.register("amara", token: "bb", kid: "kid-2", at: 3_000)
        try await test.fail("undecryptable", at: 3_000)
        try await test.end(delivery, .tokenEnded(at: 4_000, reason: "Unregistered"))
        #expect(try await test.claim(at: 9_000).isEmpty)
        #expect(try await test.store.registration(named: amara.name, of: "amara") == amara)
    }

    @Test("a delivery for another user's installation isn't claimed")
    func foreignInstallation() async throws {
        try await test.register("zoe")
        _ = try await test.accept()
        try await test.store.database.write { try $0.execute(sql: "UPDATE installation SET user = 'amara'") }
        #expect(try await test.claim().isEmpty)
    }

    @Test(
        "a 410 for an earlier token or server leaves the renewed installation, and the push goes to the new token",
        arguments: [("bb", .production), ("aa", .sandbox)] as [(String, APNsEnvironment)])
    func renewedToken(token: String, environment: APNsEnvironment) async throws {
        let state = try await test.register("zoe", token: "aa")
        _ = try await test.accept()
        let delivery = try await test.claim()[0]
        try await test.register("zoe", token: token, environment: environment, at: 2_000)
        try await test.end(delivery, .tokenEnded(at: 3_000, reason: "Unregistered"), at: 4_000)
        #expect(try await test.store.registration(named: state.name, of: "zoe") == state)
        #expect(try await test.claim(environment, at: 4_000).map(\.token) == [token])
    }

    @Test("the installation that registered earliest makes room for a user's twenty-first")
    func manyInstallations() async throws {
        var names: [String] = []
        for number in 1...21 {
            let time = Int64(number) * 1_000
            names.append(try await test.register("zoe", token: "a\(number)", kid: "kid-\(number)", at: time).name)
        }
        #expect(try await test.store.registration(named: names[0], of: "zoe") == nil)
        #expect(try await test.store.registration(named: names[1], of: "zoe") != nil)
        #expect(try await test.accept().deliveries == 20)
    }
}
