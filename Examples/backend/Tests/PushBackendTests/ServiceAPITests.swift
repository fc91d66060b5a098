import BackendTestSupport
import Foundation
import HTTPTypes
import Hummingbird
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
        try api.keys.revoke()
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
        let health = try await api.call(.get, "/health", by: .nobody)
        #expect(health.status == 200 && health.text("status") == "ok" && health.text("queued") == nil)
        #expect(try await api.call(.get, "/metrics", by: .nobody).status == 401)
        #expect(try await api.call(.get, "/metrics", by: .service).status == 200)
    }

    @Test("a body that is too long is refused with 413, and one that breaks off with 400")
    func body() async throws {
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
    }

    @Test(
        "a payload that is missing, or is there twice, is refused with 400",
        arguments: ["", #","payload":{"aps":{"alert":"a"}},"p\u0061yload":{"aps":{"alert":"b"}}"#])
    func payloadCount(members: String) async throws {
        let body = #"{"to":{"user":"zoe"}\#(members)}"#
        #expect(try await api.call(.post, "/v1/messages", body, by: .service).status == 400)
    }
}
