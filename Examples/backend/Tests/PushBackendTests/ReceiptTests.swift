import GRDB
import PushCryptSender
import Testing

@testable import PushBackend

@Suite("receipts of devices") struct ReceiptTests {
    private let test: TestStore
    private let state: RegistrationState
    private let message: AcceptedMessage

    /// A message for one device waits in the queue.
    init() async throws {
        test = try TestStore()
        state = try await test.register("zoe")
        message = try await test.accept()
    }

    private var report: MessageReport {
        get async throws { try #require(try await test.store.report(on: message.id)) }
    }

    @Test("a receipt with unknownKey stops sealing to the key, asks the app to register, and repeats the push")
    func unknownKey() async throws {
        try await test.send()
        let waiting = try await test.accept()
        try await test.fail("unknownKey")
        #expect(try await test.store.registration(named: state.name, of: "zoe")?.asksForRegistration == true)
        #expect(try await test.claim(at: 9_000).map(\.kind) == [.registrationRequest])
        try await test.register("zoe", kid: "kid-2", at: 10_000)
        let again = try await test.claim(at: 10_000)
        #expect(Set(again.compactMap(\.messageID)) == [message.id, waiting.id])
        #expect(again.allSatisfy { $0.kid == "kid-2" })
    }

    /// Why a device may get a push twice; nil if it gets it once.
    enum Repetition: CaseIterable { case lostAnswer, restart }

    @Test(
        "an opened push is sealed again if the device may have got it twice: the second one may have covered its text",
        arguments: [nil, .lostAnswer, .restart] as [Repetition?])
    func covered(repetition: Repetition?) async throws {
        switch repetition {
        case .lostAnswer:
            try await test.end(try await test.claim()[0], .unanswered(retryAt: 1_000, reason: "connection"))
        case .restart:
            _ = try await test.claim()
            try test.restart()
        case nil: try await test.end(try await test.claim()[0], .retry(at: 1_000, reason: "ServiceUnavailable"))
        }
        try await test.send()
        try await test.confirm()
        try await test.fail("keyRevoked", at: 3_000)
        #expect(try await report.queued == (repetition == nil ? 0 : 1))
    }

    @Test("a push is sealed again if the device fails before APNs' answer is stored", arguments: [false, true])
    func earlyFailure(hasOpenedCopy: Bool) async throws {
        if hasOpenedCopy {
            try await test.end(try await test.claim()[0], .unanswered(retryAt: 2_000, reason: "connection"))
            try await test.confirm(at: 1_500)
        }
        let delivery = try await test.claim(at: 2_000)[0]
        try await test.fail("keyRevoked", at: 3_000)
        try await test.end(delivery, .sent(receiptName: "name"), at: 4_000)
        #expect(try await report.queued == 1)
    }

    @Test(
        "late receipts about pushes of the revoked signing key leave a push alone that was sealed again with the next one",
        arguments: [false, true])
    func formerSigningKey(isEarly: Bool) async throws {
        try await test.send(skid: "former")
        try await test.fail("keyRevoked", skid: "former", at: 10_000)
        let again = try await test.claim(at: 15_000)[0]
        if isEarly { try await test.fail("keyRevoked", skid: "former", at: 15_500) }
        try await test.end(again, .sent(receiptName: "name", skid: "next"), at: 16_000)
        for number in 2...5 as ClosedRange<Int64> {
            try await test.fail("keyRevoked", skid: "former", at: 10_000 * number)
        }
        #expect(try await report == MessageReport(id: message.id, deliveries: 1, sent: 1))
    }

    @Test("a receipt without the signing key, or with the last one, seals a push again", arguments: [nil, "last"])
    func lastSigningKey(skid: String?) async throws {
        try await test.send(skid: "last")
        try await test.fail("keyRevoked", skid: skid)
        #expect(try await report.queued == 1)
    }

    @Test("what a removed installation couldn't open is reported as failed")
    func removedInstallation() async throws {
        try await test.send()
        _ = try await test.store.signOut(state.name, of: "zoe", at: 2_000)
        try await test.fail("keyRevoked", at: 3_000)
        #expect(try await report.failed == ["keyRevoked": 1])
    }

    @Test("another user's receipt changes nothing")
    func foreignReceipt() async throws {
        try await test.fail("unknownKey", of: "amara")
        #expect(try await test.store.registration(named: state.name, of: "zoe")?.asksForRegistration == false)
    }

    @Test("a push that three seals couldn't bring to the screen is reported as failed")
    func seals() async throws {
        for round in 1...3 as ClosedRange<Int64> {
            try await test.send(at: round * 10_000)
            try await test.fail("undecryptable", at: round * 10_000)
        }
        #expect(try await report.failed == ["undecryptable": 1])
    }

    @Test("a receipt that arrives before the outcome is stored counts", arguments: [nil, "replayed"] as [String?])
    func earlyReceipt(failure: String?) async throws {
        let delivery = try await test.claim()[0]
        try await test.confirm(failure)
        try await test.end(delivery, .sent(receiptName: "name"))
        #expect(try await report.opened == 1)
    }

    @Test("an app that doesn't register is asked again after a day, until it has registered")
    func asksAgain() async throws {
        let day: Int64 = 86_400_000
        try await test.fail("unknownKey")
        for round in 0..<3 as Range<Int64> {
            let time = 2_000 + round * day
            try await test.store.tidy(at: time)
            let requests = try await test.claim(at: time)
            #expect(requests.map(\.kind) == [.registrationRequest])
            for request in requests { try await test.end(request, .sent(receiptName: nil), at: time) }
            try await test.store.tidy(at: time + day - 1)
            #expect(try await test.claim(at: time + day - 1).isEmpty)
        }
        try await test.register("zoe", kid: "kid-2", at: 3 * day)
        try await test.store.tidy(at: 5 * day)
        #expect(try await test.claim(at: 5 * day).isEmpty)
    }

    @Test("a failure receipt leaves pushes that were sent more than ten minutes before")
    func oldPush() async throws {
        try await test.send()
        try await test.fail("undecryptable", at: 601_000)
        #expect(try await report == MessageReport(id: message.id, deliveries: 1, sent: 1))
    }

    @Test("a push that is sealed again goes to the server of the app's new token")
    func otherServer() async throws {
        try await test.send()
        try await test.register("zoe", token: "bb", environment: .sandbox, at: 2_000)
        try await test.fail("undecryptable")
        #expect(try await test.claim(.production, at: 9_000).isEmpty)
        #expect(try await test.claim(.sandbox, at: 9_000).map(\.token) == ["bb"])
    }

    @Test("of a user's receipts only the latest 1,000 are kept, and other users' stay")
    func limit() async throws {
        try await test.fail("malformed", of: "amara")
        for number in 1...1_003 as ClosedRange<Int64> { try await test.fail("malformed", at: number) }
        let earliest = try await test.store.read {
            try Int.fetchOne($0, sql: "SELECT min(added) FROM receipt WHERE user = 'zoe'")
        }
        #expect(try await test.count("receipt") == 1_001 && earliest == 4)
    }
}
