import BackendTestSupport
import Logging
import PushCryptSender
import Testing

@testable import PushBackend

@Suite(
    "one attempt, over the network", .enabled(if: RunningStandIn.isAvailable, RunningStandIn.requirement), .serialized)
struct DeliveryWorkerTests {
    @Test("an accepted push is stored as sent under the name of its receipt, and the phone opens its text")
    func sent() async throws {
        try await Sending.with { sending in
            let message = try await sending.accept("Your results are in.")
            let result = try await sending.attempt()
            let push = try #require(try sending.apns.accepted.first)
            guard case .sent(let name?, let skid) = result else {
                Issue.record("the push wasn't sent")
                return
            }
            #expect(skid == sending.keys.kid)
            #expect(try sending.phone.open(push) == #"{"aps":{"alert":{"body":"Your results are in."}}}"#)
            try await sending.test.store.add(
                DeviceReceipt(id: name, name: name, failure: nil, kid: nil, time: sending.clock.now), of: "zoe",
                at: sending.clock.now)
            #expect(try await sending.test.store.report(on: message.id)?.opened == 1)
        }
    }

    @Test("priority, collapse id and expiry of a message arrive at APNs, or 10, the apns-id and a day without them")
    func headers() async throws {
        try await Sending.with { sending in
            let api = try await TestAPI(over: sending.test, milliseconds: { sending.clock.now })
            for (members, priority, collapseID, lifetime) in [
                (#","priority":5,"collapseID":"visit-7","expiresAfter":600"#, 5, "visit-7", 600),
                (#","priority":1"#, 1, nil, 86_400), ("", 10, nil, 86_400),
            ] as [(String, Int, String?, Int64)] {
                #expect(try await api.send(more: members).status == 202)
                try await sending.attempt()
                let headers = try #require(try sending.apns.accepted.last?.headers)
                #expect(headers["apns-priority"] == "\(priority)" && headers["apns-push-type"] == "alert")
                #expect(headers["apns-collapse-id"] == collapseID ?? headers["apns-id"])
                #expect(headers["apns-expiration"] == "\(sending.clock.now / 1_000 + lifetime)")
            }
        }
    }

    @Test("Apple can read the placeholder, and not whether a text is short or long")
    func outside() async throws {
        let placeholder = Placeholder(title: "Clinic", body: "Open the app")
        try await Sending.with(placeholder: placeholder) { sending in
            for text in ["Results", "Your results are in."] {
                _ = try await sending.accept(text)
                try await sending.attempt()
            }
            let pushes = try sending.apns.accepted
            let outer = String(decoding: try #require(pushes.first).payload, as: UTF8.self)
            #expect(outer.contains("Clinic") && outer.contains("Open the app") && !outer.contains("Results"))
            #expect(pushes.map(\.payload.count).allSatisfy { $0 == pushes[0].payload.count })
        }
    }

    @Test(
        "a 410 fails the push and removes the installation, unless the app has registered since APNs' time",
        arguments: [true, false])
    func tokenEnded(hasRegisteredSince: Bool) async throws {
        try await Sending.with { sending in
            let message = try await sending.accept()
            let delivery = try #require(try await sending.claim())
            let time = delivery.registeredAt + (hasRegisteredSince ? -1 : 1)
            try await sending.attempt(delivery, .answer("Unregistered", timestamp: time))
            let state = try await sending.test.store.registration(named: sending.registration.name, of: "zoe")
            let report = try await sending.test.store.report(on: message.id)
            #expect(state == (hasRegisteredSince ? sending.registration : nil))
            #expect(report?.failed == ["Unregistered": 1] && report?.queued == 0)
        }
    }

    @Test(
        "a 429 for one device delays only this delivery, and a 503 everything for this server, at least for Retry-After",
        arguments: ["TooManyRequests", "ServiceUnavailable"])
    func delays(reason: String) async throws {
        try await Sending.with { sending in
            _ = try await sending.accept()
            for (retryAfter, wait) in [(nil, 100), (nil, 200), (7, 7_000), (nil, 800)] as [(Int?, Int64)] {
                let result = try await sending.attempt(nil, .answer(reason, retryAfter: retryAfter))
                #expect(result == .retry(at: sending.clock.now + wait, reason: reason))
                sending.clock.advance(by: wait - 1)
                #expect(try await sending.claim()?.id == nil)
                #expect(sending.worker.gate.isOpen(at: sending.clock.now) == (reason == "TooManyRequests"))
                sending.clock.advance(by: 1)
                #expect(sending.worker.gate.isOpen(at: sending.clock.now))
            }
            try await sending.attempt()
            #expect(try sending.apns.accepted.count == 1)
        }
    }

    @Test("a cut connection is tried again with the same apns-id and collapse id, so that it replaces itself")
    func cut() async throws {
        try await Sending.with { sending in
            _ = try await sending.accept()
            let result = try await sending.attempt(nil, .resetAfterAccepting)
            #expect(result == .unanswered(retryAt: sending.clock.now + 100, reason: "connection"))
            sending.clock.advance(by: 100)
            try await sending.attempt()
            let pushes = try sending.apns.accepted
            let ids = pushes.flatMap { [$0.headers["apns-id"], $0.headers["apns-collapse-id"]] }
            #expect(pushes.count == 2 && Set(ids).count == 1)
            for push in pushes { #expect(try sending.phone.open(push).contains("Hello")) }
        }
    }

    @Test(
        "a token that APNs doesn't know removes its installation, unless APNs has accepted a push to it before",
        arguments: ["BadDeviceToken", "DeviceTokenNotForTopic"], [false, true])
    func unknownToken(reason: String, wasAccepted: Bool) async throws {
        try await Sending.with { sending in
            if wasAccepted {
                _ = try await sending.accept()
                try await sending.attempt()
            }
            let message = try await sending.accept()
            try await sending.attempt(nil, .answer(reason))
            #expect(try await sending.test.store.report(on: message.id)?.failed == [reason: 1])
            let state = try await sending.test.store.registration(named: sending.registration.name, of: "zoe")
            #expect(state == (wasAccepted ? sending.registration : nil))
        }
    }

    @Test("a provider token that is expired and too young to be replaced holds back everything for this server")
    func expiredProviderToken() async throws {
        try await Sending.with { sending in
            _ = try await sending.accept()
            let opensAt = sending.clock.now + 100
            let result = try await sending.attempt(nil, .answer("ExpiredProviderToken"))
            #expect(result == .retry(at: opensAt, reason: "ExpiredProviderToken"))
            #expect(!sending.worker.gate.isOpen(at: opensAt - 1) && sending.worker.gate.isOpen(at: opensAt))
        }
    }

    @Test("a refused provider token is logged once as an error with what to do, until a push is accepted")
    func refusedProviderToken() async throws {
        try await Sending.with { sending in
            for _ in 0..<2 { _ = try await sending.accept() }
            let refusal = Fault.answer("InvalidProviderToken")
            // Both were sent before the first answer.
            for delivery in [try await sending.claim(), try await sending.claim()] {
                try await sending.attempt(delivery, refusal)
            }
            #expect(try await sending.claim()?.id == nil)
            let errors = sending.log.lines.filter { $0.level == .error }
            #expect(errors.count == 1 && errors.first?.metadata["reason"] == "InvalidProviderToken")
            #expect(errors.first?.message.contains("--team-id") == true)
            #expect(sending.worker.gate.tokenRefusal == "InvalidProviderToken")
            sending.clock.advance(by: 60_000)
            try await sending.attempt()
            #expect(sending.worker.gate.tokenRefusal == nil)
        }
    }

    @Test("a push whose stream breaks off after the status 200 is sent, and isn't sent again")
    func cutAnswer() async throws {
        try await Sending.with { sending in
            let message = try await sending.accept()
            try await sending.attempt(nil, .cutAnswer)
            #expect(try await sending.test.store.report(on: message.id)?.sent == 1)
        }
    }

    @Test("a push with a collapse id that HTTP can't have fails at once, and the next push is sent without a wait")
    func invalidRequest() async throws {
        try await Sending.with { sending in
            // A message that an earlier version has accepted.
            let message = try await sending.accept(collapseID: "visit\u{7f}")
            let result = try await sending.attempt()
            #expect(result == .failed(reason: "invalidRequest"))
            #expect(try await sending.test.store.report(on: message.id)?.failed == ["invalidRequest": 1])
            let errors = sending.log.lines.filter { $0.level == .error }
            #expect(errors.map { $0.metadata["reason"] } == ["Invalid header field values"])
            _ = try await sending.accept()
            try await sending.attempt()
            #expect(try sending.apns.accepted.count == 1)
        }
    }

    @Test("with a revoked signing key nothing is sealed or sent, and the push waits for the next key")
    func revokedKey() async throws {
        try await Sending.with { sending in
            let message = try await sending.accept()
            sending.keys.revoke()
            sending.signingKeys.checkNow()
            let delivery = try #require(try await sending.claim())
            let opensAt = sending.clock.now + 100
            #expect(try await sending.attempt(delivery) == .retry(at: opensAt, reason: "sealing"))
            #expect(!sending.worker.gate.isOpen(at: opensAt - 1))
            #expect(try sending.apns.accepted.isEmpty)
            #expect(try await sending.test.store.report(on: message.id)?.queued == 1)
            sending.keys.add()
            sending.signingKeys.checkNow()
            sending.clock.advance(by: 100)
            try await sending.attempt()
            #expect(try sending.apns.accepted.map { $0.headers["apns-id"] } == [delivery.apnsID])
        }
    }
}
