import BackendTestSupport
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import PushCryptSender
import Testing

@testable import PushBackend

@Suite("the interface for other parts of the backend") struct ServiceAPITests {
    private let api: TestAPI

    init() throws { api = try TestAPI() }

    @Test(
        "a payload that no device would show is refused with 422",
        arguments: [
            #""Hi""#, #"{}"#, #"{"aps":{}}"#, #"{"aps":{"alert":" "}}"#, #"{"aps":{"alert":{"badge":1}}}"#,
            #"{"aps":{"alert":"Hi"},"pushcrypt":{}}"#,
        ])
    func invisible(payload: String) async throws {
        let answer = try await api.send(payload)
        #expect(answer.status == 422 && answer.text("error") == "invalidPayload")
    }

    @Test("a payload of 2,500 bytes is accepted, and one of 3,500 that fits into no push is refused with 422")
    func size() async throws {
        func payload(_ count: Int) -> String {
            #"{"aps":{"alert":"\#(String(repeating: "x", count: count - 20))"}}"#
        }
        #expect(try await api.send(payload(2_500)).status == 202)
        let refused = try await api.send(payload(3_500))
        #expect(refused.status == 422 && refused.text("error") == "tooLarge")
    }

    @Test("a payload is accepted while no key signs")
    func noSigningKey() async throws {
        api.keys.revoke()
        api.signingKeys.checkNow()
        let text = String(repeating: "x", count: 2_400)
        #expect(try await api.send(#"{"aps":{"alert":"\#(text)"}}"#).status == 202)
    }

    @Test("a payload is kept byte for byte, with numbers that no Double has")
    func bytes() async throws {
        let payload = #"{ "id": 18446744073709551615, "x": 1.10, "aps": {"alert": "\"},{ \u00e9"} }"#
        try await api.test.register("zoe")
        #expect(try await api.send(payload).status == 202)
        let time = Int64(Date().timeIntervalSince1970 * 1_000) + 60_000
        #expect(try await api.test.claim(at: time).map { String(decoding: $0.payload, as: UTF8.self) } == [payload])
    }

    @Test("health is public and doesn't tell how many pushes wait, and the metrics need a service token")
    func health() async throws {
        let health = try await api.call(.get, "/health", by: .anonymous)
        #expect(health.status == 200 && health.text("status") == "ok" && health.text("queued") == nil)
        #expect(try await api.call(.get, "/metrics", by: .anonymous).status == 401)
        #expect(try await api.call(.get, "/metrics", by: .service).status == 200)
    }

    @Test("health is degraded while a server refuses the provider token, and names the server and its reason")
    func refusedToken() async throws {
        let api = try TestAPI(refusedTokens: { ["InvalidProviderToken by production"] })
        let health = try await api.call(.get, "/health", by: .anonymous)
        #expect(health.status == 200 && health.text("status") == "degraded")
        #expect(health.body.contains("provider token refused: InvalidProviderToken by production"))
    }

    @Test("health is degraded while a push waits after eight attempts, and names the reason and no number")
    func stuck() async throws {
        try await api.test.register("zoe")
        _ = try await api.send(#"{"aps":{"alert":"Hi"}}"#)
        var time = Int64(Date().timeIntervalSince1970 * 1_000) + 1_000
        func health() async throws -> TestAPI.Answer { try await api.call(.get, "/health", by: .anonymous) }
        func metric() async throws -> Double? {
            let text = try await api.call(.get, "/metrics", by: .service).body
            return text.firstMatch(of: #/(?m)^push_queue_stuck ([0-9.]+)$/#).flatMap { Double($0.1) }
        }
        for attempt in 1...8 {
            let delivery = try #require(try await api.test.claim(at: time).first)
            try await api.test.end(delivery, .retry(at: time + 1, reason: "InternalServerError"), at: time)
            time += 1
            #expect(try await health().text("status") == (attempt < 8 ? "ok" : "degraded"))
        }
        #expect(try await health().body.contains("\"pushes stuck: InternalServerError\""))
        #expect(try await metric() == 1)
        let delivery = try #require(try await api.test.claim(at: time).first)
        try await api.test.end(delivery, .sent(receiptName: nil), at: time)
        #expect(try await health().text("status") == "ok")
        #expect(try await metric() == 0)
    }

    @Test("health is degraded while no key signs")
    func degraded() async throws {
        api.keys.revoke()
        api.signingKeys.checkNow()
        let health = try await api.call(.get, "/health", by: .anonymous)
        #expect(health.text("status") == "degraded" && health.text("signingKeys") == "unhealthy")
    }

    @Test("the age of the signing key grows between two scrapes, also if nothing is sealed")
    func keyAge() async throws {
        let time = NIOLockedValueBox(Int64(Date().timeIntervalSince1970 * 1_000))
        let api = try TestAPI(milliseconds: { time.withLockedValue { $0 } })
        func age() async throws -> Double? {
            let text = try await api.call(.get, "/metrics", by: .service).body
            return text.firstMatch(of: #/(?m)^push_signing_key_age_seconds ([0-9.]+)$/#).flatMap { Double($0.1) }
        }
        let first = try #require(try await age())
        time.withLockedValue { $0 += 90_000 }
        #expect(try await age() == first + 90)
    }

    @Test("no metric of errors has the status 200, and each status has its own count of requests")
    func requestMetrics() async throws {
        for caller in [.anonymous, .service] as [TestAPI.Caller] {
            _ = try await api.call(.get, "/v1/messages/x", by: caller)
            _ = try await api.call(.get, "/health", by: caller)
        }
        let lines = try await api.call(.get, "/metrics", by: .service).body.split(separator: "\n")
        #expect(!lines.contains { $0.contains("error") && $0.contains("200") })
        for (route, status, count) in [
            ("/health", 200, 2), ("/v1/messages/{id}", 401, 1), ("/v1/messages/{id}", 404, 1),
        ] {
            let labels = #"{method="GET",route="\#(route)",status="\#(status)"}"#
            #expect(lines.contains("http_server_request_duration_seconds_count\(labels) \(count)"), "\(labels)")
        }
    }

    @Test("the log says why a bearer token is refused, without the token, and the answer is always the same")
    func tokenRefusals() async throws {
        let valid = api.token(for: "zoe", until: .max)
        let changed = String(valid.dropLast(4)) + "AAAA"
        let expired = api.token(for: "zoe", until: 1)
        var bodies: Set<String> = []
        for (path, header) in [
            ("/v1/registrations/x", nil), ("/v1/registrations/x", "Basic x"), ("/v1/registrations/x", "Bearer a.b"),
            ("/v1/registrations/x", "Bearer \(changed)"), ("/v1/registrations/x", "Bearer \(expired)"),
            ("/v1/messages/x", "Bearer an-unknown-token-of-a-service"),
        ] {
            let answer = try await api.call(.get, path, authorization: header)
            #expect(answer.status == 401)
            bodies.insert(answer.body)
        }
        let lines = api.log.lines.filter { $0.message == "request" }
        #expect(
            lines.map { $0.metadata["reason"] }
                == ["missing", "malformed", "malformed", "badSignature", "expired", "unknown"])
        let texts = lines.flatMap(\.metadata.values).joined()
        for token in [changed, expired, "unknown-token"] { #expect(!texts.contains(token)) }
        #expect(bodies.count == 1)
    }

    @Test("a body that is too long is refused with 413, and one that breaks off with 400")
    func body() async throws {
        func status(of body: RequestBody) async -> Int? {
            let head = HTTPRequest(
                method: .post, scheme: "http", authority: "localhost", path: "/",
                headerFields: [.contentType: "application/json"])
            let error = await #expect(throws: APIError.self) {
                _ = try await Request(head: head, body: body).json(upTo: 10, within: .seconds(60))
            }
            return error.map { Int($0.status.code) }
        }
        #expect(await status(of: RequestBody(buffer: ByteBuffer(string: "01234567890"))) == 413)
        let broken = AsyncThrowingStream<ByteBuffer, any Error> { $0.finish(throwing: ChannelError.inputClosed) }
        #expect(await status(of: RequestBody(asyncSequence: broken)) == 400)
    }

    @Test("a user's segments are the list of the last request, and only a service token can set them")
    func segments() async throws {
        try await api.test.register("zoë 1/2")
        let path = "/v1/users/zo%C3%AB%201%2F2/segments"
        for (list, caller, status) in [
            (#"["news","staff"]"#, .service, 204), (#"["staff","staff"]"#, .service, 204),
            (#"["news"]"#, .anonymous, 401),
            (#"["news"]"#, .user("zoë 1/2"), 401),
        ] as [(String, TestAPI.Caller, Int)] {
            #expect(try await api.call(.put, path, #"{"segments":\#(list)}"#, by: caller).status == status)
        }
        for (segment, count) in [("news", 0), ("staff", 1)] {
            let sent = try await api.send(#"{"aps":{"alert":"Hi"}}"#, to: #"{"segment":"\#(segment)"}"#)
            #expect(sent.body.contains(#""deliveries":\#(count)"#))
        }
    }

    @Test("65 segments, a name of another form and a user of 257 characters are refused with 422, and 64 are stored")
    func segmentLimits() async throws {
        func status(_ names: [String], user: String = "zoe") async throws -> Int {
            let body = String(decoding: try JSONEncoder().encode(["segments": names]), as: UTF8.self)
            return try await api.call(.put, "/v1/users/\(user)/segments", body, by: .service).status
        }
        #expect(try await status((1...64).map { "segment-\($0)" }) == 204)
        #expect(try await status((1...65).map { "segment-\($0)" }) == 422)
        #expect(try await status(["news!"]) == 422)
        #expect(try await status([], user: String(repeating: "x", count: 257)) == 422)
        #expect(try await api.call(.put, "/v1/users/zoe/segments", #"{"segments":1}"#, by: .service).status == 400)
        #expect(try await api.call(.get, "/v1/users/zoe/segments", by: .service).status == 405)
    }

    @Test(
        "a payload that is missing, or is there twice, is refused with 400",
        arguments: ["", #","payload":{"aps":{"alert":"a"}},"p\u0061yload":{"aps":{"alert":"b"}}"#])
    func payloadCount(members: String) async throws {
        let body = #"{"to":{"user":"zoe"}\#(members)}"#
        #expect(try await api.call(.post, "/v1/messages", body, by: .service).status == 400)
    }
}
