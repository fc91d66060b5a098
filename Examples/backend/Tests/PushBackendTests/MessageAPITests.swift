import BackendTestSupport
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PushCryptSender
import Testing

@testable import PushBackend

@Suite("the interface for other parts of the backend") struct MessageAPITests {
    private let api: TestAPI

    init() async throws { api = try await TestAPI() }

    @Test("the report on a message counts what was accepted by APNs, and only a service token can read it")
    func report() async throws {
        try await api.test.register("zoe")
        let id = try #require(try await api.send().text("id"))
        func report() async throws -> String { try await api.call(.get, "/v1/messages/\(id)", by: .service).body }
        #expect(try await report() == #"{"deliveries":1,"failed":{},"id":"\#(id)","opened":0,"queued":1,"sent":0}"#)
        try await api.test.send(at: Int64(Date().timeIntervalSince1970 * 1_000))
        #expect(try await report() == #"{"deliveries":1,"failed":{},"id":"\#(id)","opened":0,"queued":0,"sent":1}"#)
        #expect(try await api.call(.get, "/v1/messages/\(id)", by: .user("zoe")).status == 401)
    }

    @Test("a request with an idempotency key can be repeated, and is refused with 409 for another message")
    func idempotency() async throws {
        let payload = #"{"aps":{"alert":"Hi"},"b":1,"a":2,"c":3}"#
        let first = try await api.send(payload, key: "k")
        #expect(try await api.send(payload, key: "k").body == first.body)
        #expect(try await api.send(key: "k").status == 409)
    }

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

    @Test("a payload of 2,400 bytes is accepted, also while no key signs, and one of 3,500 is refused with the excess")
    func size() async throws {
        func payload(_ count: Int) -> String {
            #"{"aps":{"alert":"\#(String(repeating: "x", count: count - 20))"}}"#
        }
        let refused = try await api.send(payload(3_500))
        #expect(refused.status == 422 && refused.text("error") == "tooLarge")
        #expect(try #require(refused.text("message")).contains(#/which is [0-9]+ bytes too many/#))
        #expect(try await api.send(payload(2_400)).status == 202)
        api.keys.revoke()
        api.signingKeys.checkNow()
        #expect(try await api.send(payload(2_400)).status == 202)
    }

    @Test("a payload keeps its numbers and texts")
    func contents() async throws {
        try await api.test.register("zoe")
        let payload = #"{"aps":{"alert":"\"},{ é/"},"id":18446744073709551615,"isNew":true,"x":1.1}"#
        #expect(try await api.send(payload).status == 202)
        let claimed = try await api.test.claim(at: Int64(Date().timeIntervalSince1970 * 1_000))
        #expect(claimed.map { String(decoding: $0.payload, as: UTF8.self) } == [payload])
    }

    @Test(
        "a body of another form than documented is refused with 400, and the answer says why and quotes nothing",
        arguments: [
            (
                #"{"user":"zoe","payload":{},"expiresafter":5}"#, "unknownMember",
                "the members of the body are collapseID"
            ),
            (#"{"user":"zoe","payload":{},"<b>\u0007":5}"#, "unknownMember", "the members of the body are collapseID"),
            (#"{"payload":{"aps":{"alert":"Hi"}}}"#, "malformed", "the member user is missing"),
            (#"{"user":"zoe"}"#, "malformed", "the member payload is missing"),
            (#"{"user":"zoe","payload":{},"priority":"high"}"#, "malformed", "the member priority has another type"),
            (#"{"user":1,"payload":{}}"#, "malformed", "the member user has another type"),
            (#"{"user":"zoe","payload":{}} 1"#, "malformed", "the body isn't a JSON object"),
            ("[]", "malformed", "the body isn't a JSON object"), ("", "malformed", "the body isn't a JSON object"),
        ])
    func form(body: String, code: String, message: String) async throws {
        let answer = try await api.call(.post, "/v1/messages", body, by: .service)
        #expect(answer.status == 400 && answer.text("error") == code)
        #expect(answer.text("message")?.hasPrefix(message) == true, "\(answer.body)")
    }

    @Test("a body that is too long, breaks off or takes too long is refused")
    func limits() async throws {
        func status(of body: RequestBody) async -> Int? {
            let head = HTTPRequest(
                method: .post, scheme: "http", authority: "localhost", path: "/",
                headerFields: [.contentType: "application/json"])
            let error = await #expect(throws: APIError.self) {
                _ = try await Request(head: head, body: body).json(upTo: 10)
            }
            return error.map { Int($0.status.code) }
        }
        #expect(await status(of: RequestBody(buffer: ByteBuffer(string: "01234567890"))) == 413)
        let broken = AsyncThrowingStream<ByteBuffer, any Error> { $0.finish(throwing: ChannelError.inputClosed) }
        #expect(await status(of: RequestBody(asyncSequence: broken)) == 400)
        let late = await #expect(throws: APIError.self) {
            try await within(.milliseconds(5)) { try await Task.sleep(for: .seconds(86_400)) }
        }
        #expect(late?.status == .requestTimeout)
    }

    @Test("a path that the service doesn't have is answered with 404, and a message that doesn't exist in other words")
    func paths() async throws {
        for (path, message) in [
            ("/v2/nothing", "the service has no such path"),
            ("/v1/messages/\(UUID().uuidString)", "there is no message of this id"),
        ] {
            let answer = try await api.call(.get, path, by: .service)
            #expect(answer.status == 404 && answer.text("message")?.hasPrefix(message) == true)
        }
    }

    @Test("the log says why a bearer token is refused, without the token, and the answer is always the same")
    func tokenRefusals() async throws {
        let changed = try await TestAPI.token(for: "zoe", key: Data(repeating: 8, count: 32))
        let expired = try await TestAPI.token(for: "zoe", until: 1)
        let unsigned = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ6b2UiLCJleHAiOjQwMDAwMDAwMDB9."
        var bodies: Set<String> = []
        let headers = ["Basic x", "Bearer a.b", "Bearer \(unsigned)", "Bearer \(changed)", "Bearer \(expired)"]
        for caller in [.anonymous] + headers.map(TestAPI.Caller.header) {
            let answer = try await api.call(.get, "/v1/registrations/x", by: caller)
            #expect(answer.status == 401)
            bodies.insert(answer.body)
        }
        let answer = try await api.call(.get, "/v1/messages/x", by: .header("Bearer an-unknown-token-of-a-service"))
        #expect(answer.status == 401 && bodies == [answer.body])
        let lines = api.log.lines.filter { $0.message == "request" }
        #expect(
            lines.map { $0.metadata["reason"] } == [
                "missing", "malformedToken", "malformedToken", "signatureVerificationFailed",
                "signatureVerificationFailed", "expired", "unknown",
            ])
        let texts = lines.flatMap(\.metadata.values).joined()
        for token in [changed, expired, "unknown-token"] { #expect(!texts.contains(token)) }
    }

    // MARK: Health

    private func health() async throws -> TestAPI.Answer { try await api.call(.get, "/health", by: .anonymous) }

    @Test("health is public, and degraded while no key signs")
    func signingKeys() async throws {
        #expect(try await health().body == #"{"signingKeys":"healthy","status":"ok"}"#)
        api.keys.revoke()
        api.signingKeys.checkNow()
        let health = try await health()
        #expect(health.text("status") == "degraded" && health.text("signingKeys") == "unhealthy")
    }

    @Test("health is degraded while a server refuses the provider token, and names the server and its reason")
    func refusedToken() async throws {
        let gate = Gate(.testing)
        gate.tokenRefused("InvalidProviderToken")
        let health = try await TestAPI(gates: [.production: gate]).call(.get, "/health", by: .anonymous)
        #expect(health.status == 200 && health.text("status") == "degraded")
        #expect(health.body.contains("provider token refused: InvalidProviderToken by production"))
    }

    @Test("health is degraded while a push waits after eight attempts, and names the reason and no number")
    func stuck() async throws {
        try await api.test.register("zoe")
        _ = try await api.send()
        var time = Int64(Date().timeIntervalSince1970 * 1_000)
        for attempt in 1...8 {
            time += 1
            let delivery = try #require(try await api.test.claim(at: time).first)
            try await api.test.end(delivery, .retry(at: time + 1, reason: "InternalServerError"), at: time)
            #expect(try await health().text("status") == (attempt < 8 ? "ok" : "degraded"))
        }
        #expect(try await health().body.contains(#"["pushes stuck: InternalServerError"]"#))
        try await api.test.send(at: time + 1)
        #expect(try await health().text("status") == "ok")
    }
}
