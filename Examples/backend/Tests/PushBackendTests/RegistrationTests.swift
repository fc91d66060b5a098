import Foundation
import Testing

@testable import PushBackend

@Suite("registrations") struct RegistrationTests {
    private let test: TestStore

    init() throws { test = try TestStore() }

    @Test("a device token belongs to the account that registered it last")
    func otherAccount() async throws {
        let first = try await test.register("zoe", token: "aa", kid: "kid-1")
        let message = try await test.accept(.user("zoe"))
        try await test.register("amara", token: "aa", kid: "kid-2")
        #expect(try await test.store.registration(named: first.name, of: "zoe") == nil)
        #expect(try await test.store.report(on: message.id)?.failed == ["replaced": 1])
    }

    @Test("a new token or a new key renews the installation, and what waits is sealed to the new key")
    func renewal() async throws {
        let first = try await test.register("zoe", token: "aa", kid: "kid-1")
        _ = try await test.accept(.user("zoe"))
        #expect(try await test.register("zoe", token: "aa", kid: "kid-2").name == first.name)
        #expect(try await test.register("zoe", token: "bb", kid: "kid-2").name == first.name)
        let both = try await test.register("zoe", token: "cc", kid: "kid-3", environment: .sandbox, name: first.name)
        #expect(both.name == first.name)
        let delivery = try await test.claim(.sandbox)
        #expect(delivery.map(\.kid) == ["kid-3"] && delivery.map(\.token) == ["cc"])
    }

    @Test("a user can't renew, read or remove another user's installation")
    func otherUser() async throws {
        let first = try await test.register("zoe")
        await #expect(throws: StoreError.self) {
            try await test.register("amara", token: "bb", kid: "kid-2", name: first.name)
        }
        #expect(try await test.store.registration(named: first.name, of: "amara") == nil)
        #expect(try await !test.store.signOut(first.name, of: "amara", at: 1))
    }

    @Test("after the sign-out nothing is sent, and what waited has failed")
    func signOut() async throws {
        let first = try await test.register("zoe")
        let message = try await test.accept(.user("zoe"))
        #expect(try await test.store.signOut(first.name, of: "zoe", at: 2_000))
        #expect(try await test.claim().isEmpty)
        #expect(try await test.store.report(on: message.id)?.failed == ["signedOut": 1])
    }

    @Test("a receipt with unknownKey stops sealing to the key, asks the app to register, and repeats the push")
    func unknownKey() async throws {
        let first = try await test.register("zoe")
        let sent = try await test.accept(.user("zoe"))
        try await test.end(try await test.claim()[0], .sent(receiptName: "name"))
        let waiting = try await test.accept(.user("zoe"))
        let receipt = DeviceReceipt(id: "random", name: nil, failure: "unknownKey", kid: "kid-1", time: 2_000)
        try await test.store.add(receipt, of: "zoe", at: 2_000)
        #expect(try await test.store.registration(named: first.name, of: "zoe")?.asksForRegistration == true)
        #expect(try await test.claim(at: 9_000).map(\.kind) == [.registrationRequest])
        try await test.register("zoe", token: "aa", kid: "kid-2", at: 10_000)
        let again = try await test.claim(at: 10_000)
        #expect(Set(again.compactMap(\.messageID)) == [sent.id, waiting.id])
        #expect(again.allSatisfy { $0.kid == "kid-2" })
    }

    @Test(
        "a push that was attempted twice is sealed again, because its repetition may have replaced its text",
        arguments: [1, 2])
    func covered(attempts: Int) async throws {
        try await test.register("zoe")
        let message = try await test.accept(.user("zoe"))
        for _ in 1..<attempts { try await test.end(try await test.claim()[0], .retry(at: 1_000, reason: "connection")) }
        try await test.end(try await test.claim()[0], .sent(receiptName: "name"))
        let opened = DeviceReceipt(id: "name", name: "name", failure: nil, kid: nil, time: 2_000)
        try await test.store.add(opened, of: "zoe", at: 2_000)
        let covered = DeviceReceipt(id: "random", name: nil, failure: "keyRevoked", kid: "kid-1", time: 2_000)
        try await test.store.add(covered, of: "zoe", at: 3_000)
        #expect(try await test.store.report(on: message.id)?.queued == (attempts == 1 ? 0 : 1))
    }

    @Test("a push is sealed again if the device fails before APNs' answer is stored")
    func earlyFailure() async throws {
        try await test.register("zoe")
        let message = try await test.accept(.user("zoe"))
        let delivery = try await test.claim(at: 2_000)[0]
        let receipt = DeviceReceipt(id: "random", name: nil, failure: "keyRevoked", kid: "kid-1", time: 3_000)
        try await test.store.add(receipt, of: "zoe", at: 3_000)
        try await test.end(delivery, .sent(receiptName: "name"), at: 4_000)
        #expect(try await test.store.report(on: message.id)?.queued == 1)
    }

    @Test("a copy that the device can't open, before its outcome is stored, is sealed again, as it covers the first")
    func earlyFailureOfCopy() async throws {
        try await test.register("zoe")
        let message = try await test.accept(.user("zoe"))
        try await test.end(try await test.claim()[0], .retry(at: 2_000, reason: "connection"))
        let opened = DeviceReceipt(id: "name", name: "name", failure: nil, kid: nil, time: 1_000)
        try await test.store.add(opened, of: "zoe", at: 1_500)
        let copy = try await test.claim(at: 2_000)[0]
        let failure = DeviceReceipt(id: "random", name: nil, failure: "keyRevoked", kid: "kid-1", time: 2_500)
        try await test.store.add(failure, of: "zoe", at: 2_500)
        try await test.end(copy, .sent(receiptName: "name"), at: 3_000)
        #expect(try await test.store.report(on: message.id)?.queued == 1)
    }

    @Test("what a removed installation couldn't open is reported as failed")
    func removedInstallation() async throws {
        let state = try await test.register("zoe")
        let message = try await test.accept(.user("zoe"))
        try await test.end(try await test.claim()[0], .sent(receiptName: "name"))
        _ = try await test.store.signOut(state.name, of: "zoe", at: 2_000)
        let receipt = DeviceReceipt(id: "random", name: nil, failure: "keyRevoked", kid: "kid-1", time: 2_000)
        try await test.store.add(receipt, of: "zoe", at: 3_000)
        #expect(try await test.store.report(on: message.id)?.failed == ["keyRevoked": 1])
    }

    @Test("another user's receipt changes nothing")
    func foreignReceipt() async throws {
        let first = try await test.register("zoe")
        let receipt = DeviceReceipt(id: "random", name: nil, failure: "unknownKey", kid: "kid-1", time: 2_000)
        try await test.store.add(receipt, of: "amara", at: 2_000)
        #expect(try await test.store.registration(named: first.name, of: "zoe")?.asksForRegistration == false)
    }

    @Test("a push that three seals couldn't bring to the screen is reported as failed")
    func seals() async throws {
        try await test.register("zoe")
        let message = try await test.accept(.user("zoe"))
        for round in 1...3 {
            let time = Int64(round) * 10_000
            try await test.end(try await test.claim(at: time)[0], .sent(receiptName: "name"), at: time)
            let receipt = DeviceReceipt(
                id: "random-\(round)", name: nil, failure: "undecryptable", kid: "kid-1", time: time)
            try await test.store.add(receipt, of: "zoe", at: time)
        }
        #expect(try await test.store.report(on: message.id)?.failed == ["undecryptable": 1])
    }

    @Test("a receipt that arrives before the outcome is stored counts", arguments: [nil, "replayed"] as [String?])
    func earlyReceipt(failure: String?) async throws {
        try await test.register("zoe")
        let message = try await test.accept(.user("zoe"))
        let delivery = try await test.claim()[0]
        try await test.store.add(
            DeviceReceipt(id: "r", name: "name", failure: failure, kid: nil, time: 2_000), of: "zoe", at: 1)
        try await test.end(delivery, .sent(receiptName: "name"))
        #expect(try await test.store.report(on: message.id)?.opened == 1)
    }
}
