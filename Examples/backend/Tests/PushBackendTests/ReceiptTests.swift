import Foundation
import GRDB
import Testing

@testable import PushBackend

@Suite("receipts of devices") struct ReceiptTests {
    private let test: TestStore

    init() throws { test = try TestStore() }

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
        "an opened push is sealed again if the device may have got it twice: the second one may have covered its text",
        arguments: [false, true])
    func covered(isTwice: Bool) async throws {
        try await test.register("zoe")
        let message = try await test.accept(.user("zoe"))
        if isTwice {
            try await test.end(try await test.claim()[0], .unanswered(retryAt: 1_000, reason: "connection"))
        }
        try await test.end(try await test.claim()[0], .sent(receiptName: "name"))
        let opened = DeviceReceipt(id: "name", name: "name", failure: nil, kid: nil, time: 2_000)
        try await test.store.add(opened, of: "zoe", at: 2_000)
        let covered = DeviceReceipt(id: "random", name: nil, failure: "keyRevoked", kid: "kid-1", time: 2_000)
        try await test.store.add(covered, of: "zoe", at: 3_000)
        #expect(try await test.store.report(on: message.id)?.queued == (isTwice ? 1 : 0))
    }

    @Test(
        "a device may get a push twice whose attempt had no outcome", arguments: ["after its lease", "after a restart"])
    func lostOutcome(case name: String) async throws {
        try await test.register("zoe")
        let message = try await test.accept(.user("zoe"))
        _ = try await test.claim()
        if name == "after a restart" { try test.restart() }
        try await test.end(try await test.claim(at: 61_000)[0], .sent(receiptName: "name"), at: 61_000)
        let opened = DeviceReceipt(id: "name", name: "name", failure: nil, kid: nil, time: 61_000)
        try await test.store.add(opened, of: "zoe", at: 61_000)
        let covered = DeviceReceipt(id: "random", name: nil, failure: "keyRevoked", kid: "kid-1", time: 61_000)
        try await test.store.add(covered, of: "zoe", at: 62_000)
        #expect(try await test.store.report(on: message.id)?.queued == 1)
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
        try await test.end(try await test.claim()[0], .unanswered(retryAt: 2_000, reason: "connection"))
        let opened = DeviceReceipt(id: "name", name: "name", failure: nil, kid: nil, time: 1_000)
        try await test.store.add(opened, of: "zoe", at: 1_500)
        let copy = try await test.claim(at: 2_000)[0]
        let failure = DeviceReceipt(id: "random", name: nil, failure: "keyRevoked", kid: "kid-1", time: 2_500)
        try await test.store.add(failure, of: "zoe", at: 2_500)
        try await test.end(copy, .sent(receiptName: "name"), at: 3_000)
        #expect(try await test.store.report(on: message.id)?.queued == 1)
    }

    @Test(
        "late receipts about pushes of the revoked signing key leave a push alone that was sealed again with the next one",
        arguments: [false, true])
    func formerSigningKey(isEarly: Bool) async throws {
        try await test.register("zoe")
        let message = try await test.accept(.user("zoe"))
        func fail(_ number: Int64) async throws {
            let receipt = DeviceReceipt(
                id: "random-\(number)", name: nil, failure: "keyRevoked", kid: "kid-1", skid: "former", time: 10_000)
            try await test.store.add(receipt, of: "zoe", at: 10_000 * number)
        }
        try await test.end(try await test.claim()[0], .sent(receiptName: "name", skid: "former"))
        try await fail(1)
        let again = try await test.claim(at: 15_000)[0]
        if isEarly { try await fail(2) }
        try await test.end(again, .sent(receiptName: "name", skid: "next"), at: 16_000)
        for number in 2...5 as ClosedRange<Int64> { try await fail(number) }
        let report = try #require(try await test.store.report(on: message.id))
        #expect(report.sent == 1 && report.failed == [:] && report.queued == 0)
    }

    @Test("a receipt without the signing key, or with the last one, seals a push again", arguments: [nil, "last"])
    func lastSigningKey(skid: String?) async throws {
        try await test.register("zoe")
        let message = try await test.accept(.user("zoe"))
        try await test.end(try await test.claim()[0], .sent(receiptName: "name", skid: "last"))
        let receipt = DeviceReceipt(
            id: "random", name: nil, failure: "keyRevoked", kid: "kid-1", skid: skid, time: 2_000)
        try await test.store.add(receipt, of: "zoe", at: 2_000)
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

    @Test("an app that doesn't register is asked again after a day, until it has registered")
    func asksAgain() async throws {
        let day: Int64 = 86_400_000
        try await test.register("zoe")
        let receipt = DeviceReceipt(id: "random", name: nil, failure: "unknownKey", kid: "kid-1", time: 2_000)
        try await test.store.add(receipt, of: "zoe", at: 2_000)
        for round in 0..<3 as Range<Int64> {
            let time = 2_000 + round * day
            try await test.store.tidy(at: time)
            let requests = try await test.claim(at: time)
            #expect(requests.map(\.kind) == [.registrationRequest])
            for request in requests { try await test.end(request, .sent(receiptName: nil), at: time) }
            try await test.store.tidy(at: time + day - 1)
            #expect(try await test.claim(at: time + day - 1).isEmpty)
        }
        try await test.register("zoe", token: "aa", kid: "kid-2", at: 3 * day)
        try await test.store.tidy(at: 5 * day)
        #expect(try await test.claim(at: 5 * day).isEmpty)
    }

    @Test("a failure receipt leaves pushes that were sent more than ten minutes before")
    func oldPush() async throws {
        try await test.register("zoe")
        let message = try await test.accept(.user("zoe"))
        try await test.end(try await test.claim()[0], .sent(receiptName: "name"), at: 1_000)
        let receipt = DeviceReceipt(id: "random", name: nil, failure: "undecryptable", kid: "kid-1", time: 2_000)
        try await test.store.add(receipt, of: "zoe", at: 601_000)
        let report = try await test.store.report(on: message.id)
        #expect(report?.sent == 1 && report?.failed == [:] && report?.queued == 0)
    }

    @Test("a push that APNs delayed and the device opened isn't sealed again")
    func delayedPush() async throws {
        try await test.register("zoe")
        let message = try await test.accept(.user("zoe"))
        try await test.end(try await test.claim()[0], .retry(at: 1_000, reason: "ServiceUnavailable"))
        try await test.end(try await test.claim()[0], .sent(receiptName: "name"))
        let opened = DeviceReceipt(id: "name", name: "name", failure: nil, kid: nil, time: 2_000)
        try await test.store.add(opened, of: "zoe", at: 2_000)
        let failure = DeviceReceipt(id: "random", name: nil, failure: "unknownKey", kid: "kid-1", time: 3_000)
        try await test.store.add(failure, of: "zoe", at: 3_000)
        let report = try await test.store.report(on: message.id)
        #expect(report?.opened == 1 && report?.queued == 0)
    }

    @Test("a push that is sealed again goes to the server of the app's new token")
    func otherServer() async throws {
        try await test.register("zoe")
        _ = try await test.accept(.user("zoe"))
        try await test.end(try await test.claim()[0], .sent(receiptName: "name"))
        try await test.register("zoe", token: "bb", environment: .sandbox, at: 2_000)
        let receipt = DeviceReceipt(id: "random", name: nil, failure: "undecryptable", kid: "kid-1", time: 2_000)
        try await test.store.add(receipt, of: "zoe", at: 2_000)
        #expect(try await test.claim(.production, at: 9_000).isEmpty)
        #expect(try await test.claim(.sandbox, at: 9_000).map(\.token) == ["bb"])
    }

    @Test("of a user's receipts only the latest are kept, and other users' stay")
    func limit() async throws {
        var options = SQLiteStore.Options()
        options.largestReceiptCount = 3
        try test.restart(options)
        for (number, user) in ["amara", "zoe", "zoe", "zoe", "zoe"].enumerated() {
            let receipt = DeviceReceipt(id: "r\(number)", name: "r\(number)", failure: nil, kid: nil, time: 2_000)
            try await test.store.add(receipt, of: user, at: 2_000 + Int64(number))
        }
        let ids = try await test.store.database.read {
            try String.fetchAll($0, sql: "SELECT id FROM receipt ORDER BY id")
        }
        #expect(ids == ["r0", "r2", "r3", "r4"])
    }
}
