import APNsStandIn
import BackendTestSupport
import Foundation
import GRDB
import Logging
import PushCryptSender
import PushCryptSimulator
import Testing

@testable import PushBackend

@Suite("one attempt, over the network", .serialized) struct DeliveryWorkerTests {
    @Test("an accepted push is stored as sent with its apns-id, and its text is on the screen")
    func sent() async throws {
        try await Sending.with { sending in
            let message = try await sending.accept("Your results are in.")
            let delivery = try #require(try await sending.claim())
            let result = try await sending.attempt(delivery)
            let push = try #require(sending.apns.accepted.first)
            #expect(push.id == delivery.apnsID && push.collapseID == delivery.apnsID && push.priority == 10)
            #expect(push.expiration == delivery.expiresAt / 1_000)
            let stored = try await storedNames(sending)
            let named = try JSONDecoder().decode(Named.self, from: Data(push.payload)).pushcrypt.skid
            #expect(result == .sent(receiptName: stored.receipt, skid: stored.skid) && stored.skid == named)
            #expect(try await sending.test.store.report(on: message.id)?.sent == 1)
            _ = await sending.phone.receive(Data(push.payload))
            let banner = sending.phone.device.center.lockScreen.groups.first?.banners.first
            #expect(banner?.body == "Your results are in.")
        }
    }

    private struct Named: Decodable {
        struct Envelope: Decodable { let skid: String }
        let pushcrypt: Envelope
    }

    private func storedNames(_ sending: Sending) async throws -> (receipt: String?, skid: String?) {
        try await sending.test.store.database.read { db in
            let row = try Row.fetchOne(db, sql: "SELECT receipt, skid FROM delivery WHERE state = 1")
            return (row?["receipt"], row?["skid"])
        }
    }

    @Test(
        "a 410 fails the push and removes the installation, unless the app has registered since APNs' time",
        arguments: [true, false])
    func tokenEnded(hasRegisteredSince: Bool) async throws {
        try await Sending.with { sending in
            let message = try await sending.accept("Hello")
            let delivery = try #require(try await sending.claim())
            var refusal = try #require(Refusal.named("Unregistered"))
            refusal.timestampInMilliseconds = delivery.registeredAt + (hasRegisteredSince ? -1 : 1)
            sending.apns.standIn.order(.answer(refusal))
            #expect(
                try await sending.attempt(delivery)
                    == .tokenEnded(at: delivery.registeredAt + (hasRegisteredSince ? -1 : 1), reason: "Unregistered"))
            let state = try await sending.test.store.registration(named: sending.registration.name, of: "zoe")
            let report = try await sending.test.store.report(on: message.id)
            #expect(state == (hasRegisteredSince ? sending.registration : nil))
            #expect(report?.failed == ["Unregistered": 1] && report?.queued == 0)
        }
    }

    @Test("a 429 for one device delays only this delivery, doubling its wait, and at least for Retry-After")
    func tooManyRequests() async throws {
        try await Sending.with { sending in
            _ = try await sending.accept("Hello")
            var refusal = try #require(Refusal.named("TooManyRequests"))
            for (retryAfter, wait) in [(nil, 100), (nil, 200), (7, 7_000), (nil, 800)] as [(Int?, Int64)] {
                refusal.retryAfterInSeconds = retryAfter
                sending.apns.standIn.order(.answer(refusal))
                let delivery = try #require(try await sending.claim())
                let result = try await sending.attempt(delivery)
                #expect(result == .retry(at: sending.clock.now + wait, reason: "TooManyRequests"))
                #expect(sending.worker.gate.isOpen(at: sending.clock.now))
                sending.clock.advance(by: wait - 1)
                #expect(try await sending.claim() == nil)
                sending.clock.advance(by: 1)
            }
        }
    }

    @Test("a 503 holds back everything for this server, doubling the wait, and at least for Retry-After")
    func unavailable() async throws {
        try await Sending.with { sending in
            _ = try await sending.accept("Hello")
            var refusal = try #require(Refusal.named("ServiceUnavailable"))
            for (retryAfter, wait) in [(nil, 100), (nil, 200), (9, 9_000)] as [(Int?, Int64)] {
                refusal.retryAfterInSeconds = retryAfter
                sending.apns.standIn.order(.answer(refusal))
                let delivery = try #require(try await sending.claim())
                let opensAt = sending.clock.now + wait
                #expect(try await sending.attempt(delivery) == .retry(at: opensAt, reason: "ServiceUnavailable"))
                #expect(!sending.worker.gate.isOpen(at: opensAt - 1) && sending.worker.gate.isOpen(at: opensAt))
                sending.clock.advance(by: wait)
            }
            let delivery = try #require(try await sending.claim())
            guard case .sent = try await sending.attempt(delivery) else {
                Issue.record("the push wasn't sent after the waits")
                return
            }
        }
    }

    @Test("a cut connection is tried again with the same apns-id, and the phone shows the push once")
    func cut() async throws {
        try await Sending.with { sending in
            _ = try await sending.accept("Hello")
            sending.apns.standIn.order(.reset(afterAccepting: true))
            let first = try #require(try await sending.claim())
            let result = try await sending.attempt(first)
            #expect(result == .unanswered(retryAt: sending.clock.now + 100, reason: "connection"))
            sending.clock.advance(by: 100)
            let second = try #require(try await sending.claim())
            _ = try await sending.attempt(second)
            let pushes = sending.apns.accepted
            #expect(pushes.map(\.id) == [first.apnsID, first.apnsID])
            for push in pushes {
                let headers = PushHeaders(topic: push.topic, collapseID: push.collapseID)
                _ = await sending.phone.receive(Data(push.payload), headers)
            }
            #expect(sending.phone.device.center.deliveredNotifications.count == 1)
        }
    }

    @Test(
        "a token that APNs doesn't know removes its installation",
        arguments: ["BadDeviceToken", "DeviceTokenNotForTopic"])
    func unknownToken(reason: String) async throws {
        try await Sending.with { sending in
            let message = try await sending.accept("Hello")
            sending.apns.standIn.order(.answer(try #require(Refusal.named(reason))))
            _ = try await sending.attempt(try #require(try await sending.claim()))
            #expect(try await sending.test.store.report(on: message.id)?.failed == [reason: 1])
            #expect(try await sending.test.store.registration(named: sending.registration.name, of: "zoe") == nil)
        }
    }

    @Test("a service with the wrong server or topic doesn't lose an installation that APNs has accepted before")
    func acceptedToken() async throws {
        try await Sending.with { sending in
            for name in [nil, "BadDeviceToken"] {
                if let name { sending.apns.standIn.order(.answer(try #require(Refusal.named(name)))) }
                _ = try await sending.accept("Hello")
                _ = try await sending.attempt(try #require(try await sending.claim()))
            }
            #expect(
                try await sending.test.store.registration(named: sending.registration.name, of: "zoe")
                    == sending.registration)
        }
    }

    @Test("a provider token that is expired and too young to be replaced holds back everything for this server")
    func expiredProviderToken() async throws {
        try await Sending.with { sending in
            _ = try await sending.accept("Hello")
            sending.apns.standIn.order(.answer(try #require(Refusal.named("ExpiredProviderToken"))))
            let opensAt = sending.clock.now + 100
            let result = try await sending.attempt(try #require(try await sending.claim()))
            #expect(result == .retry(at: opensAt, reason: "ExpiredProviderToken"))
            #expect(!sending.worker.gate.isOpen(at: opensAt - 1) && sending.worker.gate.isOpen(at: opensAt))
        }
    }

    @Test("a refused provider token is logged once as an error with what to do, until a push is accepted")
    func refusedProviderToken() async throws {
        try await Sending.with { sending in
            for _ in 0..<2 { _ = try await sending.accept("Hello") }
            sending.apns.standIn.order(.answer(try #require(Refusal.named("InvalidProviderToken"))), times: 2)
            // Both were sent before the first answer.
            let together = [try #require(try await sending.claim()), try #require(try await sending.claim())]
            for delivery in together {
                guard case .retry(_, "InvalidProviderToken") = try await sending.attempt(delivery) else {
                    Issue.record("the push doesn't wait")
                    return
                }
            }
            let errors = sending.log.lines.filter { $0.level == .error }
            #expect(errors.count == 1 && errors.first?.metadata["reason"] == "InvalidProviderToken")
            #expect(errors.first?.message.contains("--team-id") == true)
            #expect(sending.worker.gate.tokenRefusal == "InvalidProviderToken")
            sending.clock.advance(by: 60_000)
            _ = try await sending.attempt(try #require(try await sending.claim()))
            #expect(sending.worker.gate.tokenRefusal == nil)
        }
    }

    @Test("a push whose stream breaks off after the status 200 is sent, and isn't sent again")
    func cutAnswer() async throws {
        try await Sending.with { sending in
            let message = try await sending.accept("Hello")
            sending.apns.standIn.order(.cutAnswer)
            _ = try await sending.attempt(try #require(try await sending.claim()))
            #expect(try await sending.test.store.report(on: message.id)?.sent == 1)
        }
    }

    @Test("a push with a collapse id that HTTP can't have fails at once, and the next push is sent without a wait")
    func invalidRequest() async throws {
        try await Sending.with { sending in
            // A message that an earlier version has accepted.
            let message = try await sending.test.store.accept(
                NewMessage(
                    to: .user("zoe"), payload: Data(#"{"aps":{"alert":"Hi"}}"#.utf8), collapseID: "visit\u{7f}",
                    expiresAt: sending.clock.now + 30 * 86_400_000), at: sending.clock.now)
            let result = try await sending.attempt(try #require(try await sending.claim()))
            #expect(result == .failed(reason: "invalidRequest"))
            #expect(sending.worker.gate.isOpen(at: sending.clock.now))
            #expect(try await sending.test.store.report(on: message.id)?.failed == ["invalidRequest": 1])
            let errors = sending.log.lines.filter { $0.level == .error }
            #expect(errors.map { $0.metadata["reason"] } == ["Invalid header field values"])
            _ = try await sending.accept("Hello")
            _ = try await sending.attempt(try #require(try await sending.claim()))
            #expect(sending.apns.accepted.count == 1)
        }
    }

    @Test("with a revoked signing key nothing is sealed or sent, the push waits for the next key, and health says so")
    func revokedKey() async throws {
        try await Sending.with { sending in
            let message = try await sending.accept("Hello")
            sending.keys.revoke()
            sending.signingKeys.checkNow()
            #expect(!sending.worker.sealer.signingKeyStatus.isHealthy)
            let delivery = try #require(try await sending.claim())
            let opensAt = sending.clock.now + 100
            #expect(try await sending.attempt(delivery) == .retry(at: opensAt, reason: "sealing"))
            #expect(!sending.worker.gate.isOpen(at: opensAt - 1))
            #expect(sending.apns.accepted.isEmpty)
            #expect(try await sending.test.store.report(on: message.id)?.queued == 1)
            sending.keys.add()
            sending.signingKeys.checkNow()
            #expect(sending.worker.sealer.signingKeyStatus.isHealthy)
            sending.clock.advance(by: 100)
            let again = try #require(try await sending.claim())
            _ = try await sending.attempt(again)
            #expect(sending.apns.accepted.map(\.id) == [delivery.apnsID])
        }
    }
}
