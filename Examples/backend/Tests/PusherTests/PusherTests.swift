import BackendTestSupport
import Foundation
import PushCryptAPNs
import PushCryptSender
import Testing

@Suite("the package that seals and sends", .enabled(if: RunningStandIn.isAvailable, RunningStandIn.requirement))
struct PusherTests {
    /// The waits that a pusher asked for.
    private final class Waits: @unchecked Sendable {
        private let lock = NSLock()
        private var found: [Duration] = []

        func add(_ wait: Duration) { lock.withLock { found.append(wait) } }
        var all: [Duration] { lock.withLock { found } }
    }

    private static let (topic, deviceToken) = ("com.example.app", String(repeating: "ab", count: 32))

    private static func row(_ token: String = deviceToken) throws -> StoredRegistration {
        let record =
            #"{"kty":"EC","crv":"P-256","x":"iHEHTDpYSUD3-P_oiGSmeMM5aHgkLzBgGtf1GUvA2nM","y":"GpUkuFwwQos2cYUBE5vdWjYpX702uk4jOdNYUchkejs","alg":"HPKE-7","kid":"QadDbZpSvrY"}"#
        return StoredRegistration(
            try Registration(json: record.utf8, requiring: []), account: "zoe", deviceToken: token,
            environment: .sandbox)
    }

    /// Sends pushes to a stand-in that has the device.
    private func send(
        _ count: Int = 1, to row: StoredRegistration? = nil, teamID: String = RunningStandIn.teamID,
        faults: [(Fault, times: Int)] = []
    ) async throws -> (results: [PushResult], waits: [Duration], accepted: [AcceptedPush]) {
        try await RunningStandIn.with { apns in
            try await apns.add(token: Self.deviceToken, topic: Self.topic)
            for (fault, times) in faults { try await apns.order(fault, times: times) }
            let waits = Waits()
            var options = Pusher.Options()
            options.servers[.sandbox] = apns.base
            options.sleep = { waits.add($0) }
            let token = try ProviderToken(key: apns.providerKeyPEM, keyID: RunningStandIn.keyID, teamID: teamID)
            let pusher = Pusher(
                sealer: try Sealer(topic: Self.topic), token: token, client: apns.client, options: options)
            let notification = PushNotification(title: "Dr. Amara Osei", body: "Your results are in.")
            var results: [PushResult] = []
            for _ in 0..<count { results.append(try await pusher.send(notification, to: row ?? Self.row())) }
            return (results, waits.all, try apns.accepted)
        }
    }

    @Test("a notification is sealed and sent in one statement, and 20 of them use one provider token")
    func sent() async throws {
        let (results, waits, accepted) = try await send(20)
        #expect(results.count { if case .sent = $0 { true } else { false } } == 20 && waits.isEmpty)
        #expect(accepted.count == 20)
        for (result, push) in zip(results, accepted) {
            guard case .sent(let sealed) = result else { continue }
            #expect(push.payload == sealed.bytes && push.token == Self.deviceToken)
            #expect(push.headers["apns-topic"] == Self.topic && push.headers["apns-id"]?.count == 36)
        }
    }

    @Test("an overloaded server is asked again after the time that it names, and a lost answer too")
    func retried() async throws {
        let (results, waits, accepted) = try await send(faults: [
            (.answer("ServiceUnavailable", retryAfter: 7), 1), (.answer("TooManyRequests"), 1),
        ])
        guard case .sent = results.first else { return #expect(Bool(false), "\(results)") }
        #expect(waits == [.seconds(7), .seconds(2)] && accepted.count == 1)
    }

    @Test("a connection that breaks after the push was accepted makes the same push twice")
    func repeated() async throws {
        let (results, _, accepted) = try await send(faults: [(.closeAfterAccepting, 1)])
        guard case .sent = results.first else { return #expect(Bool(false), "\(results)") }
        #expect(accepted.count == 2 && accepted[0].payload == accepted[1].payload)
        #expect(accepted[0].headers == accepted[1].headers)
    }

    @Test("a longer wait than the longest is a value, and so is the end of the attempts")
    func later() async throws {
        let asked = try await send(faults: [(.answer("Shutdown", retryAfter: 60), 1)])
        guard case .later(after: .seconds(60), reason: "Shutdown") = asked.results[0] else {
            return #expect(Bool(false), "\(asked.results)")
        }
        let busy = try await send(faults: [(.answer("InternalServerError"), 9)])
        guard case .later(after: .seconds(4), reason: "InternalServerError") = busy.results[0] else {
            return #expect(Bool(false), "\(busy.results)")
        }
        #expect(busy.waits == [.seconds(1), .seconds(2)])
    }

    @Test("an ended token is a value with its time, and so is what APNs refuses")
    func refused() async throws {
        let ended = try await send(faults: [(.answer("Unregistered", timestamp: 1_800_000_000_500), 1)])
        guard case .gone(since: .some(let time)) = ended.results[0] else { return #expect(Bool(false), "\(ended)") }
        #expect(time == Date(timeIntervalSince1970: 1_800_000_000.5))
        let wrong = try await send(to: Self.row(String(repeating: "cd", count: 32)))
        guard case .refused(400, "BadDeviceToken") = wrong.results[0] else {
            return #expect(Bool(false), "\(wrong.results)")
        }
        let team = try await send(teamID: "OTHER")
        guard case .refused(403, "InvalidProviderToken") = team.results[0] else {
            return #expect(Bool(false), "\(team.results)")
        }
    }

    @Test("an expired provider token is renewed once, and a second one within 20 minutes is too many, as at APNs")
    func renewed() async throws {
        let (results, _, _) = try await send(faults: [(.answer("ExpiredProviderToken"), 1)])
        guard case .later(_, reason: "TooManyProviderTokenUpdates") = results[0] else {
            return #expect(Bool(false), "\(results)")
        }
    }
}
