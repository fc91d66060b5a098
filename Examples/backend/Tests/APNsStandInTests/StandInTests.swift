import AsyncHTTPClient
import BackendTestSupport
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTP2
import PushBackend
import Testing

@testable import APNsStandIn

/// A stand-in, and the service's own client for it, over TLS and HTTP/2.
private struct Connection {
    let apns: RunningStandIn
    let client: HTTPClient
    let token: String

    var standIn: APNsStandIn { apns.standIn }
    var accepted: [AcceptedPush] { apns.accepted }

    static func with(streamLimit: Int = 1_000, _ body: (Connection) async throws -> Void) async throws {
        try await RunningStandIn.with(streamLimit: streamLimit) { apns in
            apns.standIn.add(token: "aa11", topic: "com.example.app")
            let client = try APNsClient.httpClient(trustedPEM: apns.certificatePEM, connectTimeoutInSeconds: 60)
            let path = FileManager.default.temporaryDirectory.appendingPathComponent("StandIn." + UUID().uuidString)
                .path
            defer {
                for end in ["", "-wal", "-shm", "-lock"] { try? FileManager.default.removeItem(atPath: path + end) }
            }
            let token = await ProviderToken(
                try ProviderKey(pem: apns.providerKeyPEM), keyID: RunningStandIn.keyID, teamID: RunningStandIn.teamID,
                store: try SQLiteStore(path: path)
            ) { Int64(Date().timeIntervalSince1970 * 1_000) }
            let connection = Connection(apns: apns, client: client, token: try await token.current())
            let result: Result<Void, any Error>
            do { result = .success(try await body(connection)) } catch { result = .failure(error) }
            try await client.shutdown()
            try result.get()
        }
    }

    func send(
        token: String = "aa11", body: String = #"{"aps":{"alert":"Hi"}}"#, providerToken: String? = nil,
        _ change: (inout PushRequest) -> Void = { _ in }
    ) async throws -> PushResponse {
        var request = PushRequest(
            token: token, body: Array(body.utf8),
            headers: [
                "apns-id": UUID().uuidString, "apns-topic": "com.example.app", "apns-push-type": "alert",
                "apns-priority": "10", "apns-expiration": "2000000000",
            ])
        change(&request)
        return try await APNsClient(client, base: apns.base, timeoutInSeconds: 60)
            .send(request, providerToken: providerToken ?? self.token)
    }

    /// Sends a request that the service's client can't make.
    ///
    /// - Parameter headers: replace those of a correct request; nil leaves one out.
    /// - Returns: status and reason, and `apns-id` of the answer.
    func sendRaw(
        method: HTTPMethod = .POST, path: String = "/3/device/aa11", _ headers: [String: String?] = [:],
        adding more: [(String, String)] = []
    ) async throws -> (reason: String, id: String?) {
        struct Body: Decodable { let reason: String }
        var request = HTTPClientRequest(url: apns.base + path)
        request.method = method
        let correct: [String: String?] = [
            "authorization": "bearer \(token)", "apns-topic": "com.example.app", "apns-push-type": "alert",
        ]
        for (name, value) in correct.merging(headers, uniquingKeysWith: { $1 }) {
            if let value { request.headers.add(name: name, value: value) }
        }
        for (name, value) in more { request.headers.add(name: name, value: value) }
        if method == .POST { request.body = .bytes(Array(#"{"aps":{"alert":"Hi"}}"#.utf8)) }
        let response = try await client.execute(request, timeout: .seconds(60))
        let bytes = try await response.body.collect(upTo: 1_024)
        let reason = try? JSONDecoder().decode(Body.self, from: Data(bytes.readableBytesView)).reason
        return ("\(response.status.code) \(reason ?? "")", response.headers.first(name: "apns-id"))
    }

    func failsToSend() async -> Bool {
        do { _ = try await send() } catch { return true }
        return false
    }

    /// Sends until a request is answered: the first ones after a cut may still take the old connection.
    func sendUntilAnswered() async throws -> PushResponse {
        for _ in 0..<20 { if let response = try? await send() { return response } }
        return try await send()
    }
}

/// The tests run one after the other, because each opens connections, which takes long on a busy machine.
@Suite("the stand-in for APNs, over the network", .serialized) struct StandInTests {
    @Test("a push is accepted, and arrives with its headers")
    func accepted() async throws {
        try await Connection.with { apns async throws in
            #expect(try await apns.send { $0.headers["apns-collapse-id"] = "c" }.status == 200)
            let push = try #require(apns.accepted.first)
            #expect(push.token == "aa11" && push.collapseID == "c" && push.priority == 10)
            #expect(push.payload == Array(#"{"aps":{"alert":"Hi"}}"#.utf8))
        }
    }

    @Test("an accepted push is printed on one line, with its device token")
    func line() async throws {
        try await Connection.with { apns async throws in
            #expect(try await apns.send(body: "{\"aps\":\n{\"alert\":\"Hi\"}}").status == 200)
            let line = try #require(apns.accepted.first).line
            #expect(
                String(decoding: line, as: UTF8.self)
                    == #"{"token":"aa11","topic":"com.example.app","payload":{"aps": {"alert":"Hi"}}}"# + "\n")
        }
    }

    @Test("wrong requests are refused as Apple documents it")
    func refusals() async throws {
        try await Connection.with { apns async throws in
            func reason(_ response: PushResponse) -> String { "\(response.status) \(response.reason ?? "")" }
            #expect(try await reason(apns.send(token: "bb")) == "400 BadDeviceToken")
            #expect(try await reason(apns.send(token: "xyz")) == "400 BadDeviceToken")
            #expect(try await reason(apns.send(body: "")) == "400 PayloadEmpty")
            let large = String(repeating: "x", count: 4_097)
            #expect(try await reason(apns.send(body: large)) == "413 PayloadTooLarge")
            #expect(try await apns.send(body: String(large.dropLast())).status == 200)
            #expect(try await reason(apns.send(providerToken: "x")) == "403 InvalidProviderToken")
            #expect(
                try await reason(apns.send { $0.headers["apns-topic"] = "com.example.other" }) == "400 TopicDisallowed")
            apns.standIn.add(token: "cc", topic: "com.example.other")
            #expect(try await reason(apns.send(token: "cc")) == "400 DeviceTokenNotForTopic")
            #expect(try await reason(apns.send { $0.headers["apns-push-type"] = "x" }) == "400 InvalidPushType")
            #expect(try await reason(apns.send { $0.headers["apns-priority"] = "7" }) == "400 BadPriority")
            #expect(try await reason(apns.send { $0.headers["apns-id"] = "x" }) == "400 BadMessageId")
            #expect(try await reason(apns.send { $0.headers["apns-expiration"] = "-1" }) == "400 BadExpirationDate")
            let long = String(repeating: "c", count: 65)
            #expect(try await reason(apns.send { $0.headers["apns-collapse-id"] = long }) == "400 BadCollapseId")
            apns.standIn.end(token: "aa11")
            let ended = try await apns.send()
            #expect(reason(ended) == "410 Unregistered" && ended.timestamp != nil)
        }
    }

    @Test("a fault can have every status and reason of Apple's page", arguments: Refusal.all)
    func orders(refusal: Refusal) async throws {
        try await Connection.with { apns async throws in
            var refusal = refusal
            refusal.retryAfterInSeconds = 3
            apns.standIn.order(.answer(refusal))
            let response = try await apns.send()
            #expect(response.status == refusal.status && response.reason == refusal.reason)
            #expect(response.retryAfter == 3)
            #expect(apns.accepted.isEmpty)
            #expect(try await apns.send().status == 200)
        }
    }

    @Test("after GOAWAY, a reset or a cut the client opens another connection")
    func reconnects() async throws {
        try await Connection.with { apns async throws in
            #expect(try await apns.send().status == 200)
            apns.standIn.goAway()
            #expect(try await apns.sendUntilAnswered().status == 200)
            apns.standIn.order(.reset(afterAccepting: true))
            #expect(await apns.failsToSend())
            apns.standIn.order(.close(afterAccepting: false))
            #expect(await apns.failsToSend())
            #expect(try await apns.sendUntilAnswered().status == 200)
            #expect(apns.standIn.counts.connections == 3)
        }
    }

    @Test(
        "a reset says that nothing was processed only if the push wasn't accepted",
        arguments: [(true, .internalError), (false, .refusedStream)] as [(Bool, HTTP2ErrorCode)])
    func resetCode(isAccepted: Bool, code: HTTP2ErrorCode) async throws {
        try await Connection.with { apns async throws in
            apns.standIn.order(.reset(afterAccepting: isAccepted))
            let error = await #expect(throws: NIOHTTP2Errors.StreamClosed.self) { _ = try await apns.send() }
            #expect(error?.errorCode == code)
            #expect(apns.accepted.count == (isAccepted ? 1 : 0))
        }
    }

    @Test("many pushes at once share one connection")
    func streams() async throws {
        try await Connection.with { apns async throws in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<500 { group.addTask { try await apns.send().status } }
                for try await status in group { #expect(status == 200) }
            }
            #expect(apns.standIn.counts.connections == 1)
        }
    }

    @Test("requests of another form are refused as Apple documents it")
    func forms() async throws {
        try await Connection.with { apns async throws in
            let twice = [("apns-topic", "com.example.app")]
            let background = ["apns-push-type": "background", "apns-priority": "10"]
            #expect(try await apns.sendRaw(path: "/4/device/aa11").reason == "404 BadPath")
            #expect(try await apns.sendRaw(method: .GET).reason == "405 MethodNotAllowed")
            #expect(try await apns.sendRaw(path: "/3/device/").reason == "400 MissingDeviceToken")
            #expect(try await apns.sendRaw(["apns-topic": nil]).reason == "400 MissingTopic")
            #expect(try await apns.sendRaw(adding: twice).reason == "400 DuplicateHeaders")
            #expect(try await apns.sendRaw(["authorization": nil]).reason == "403 MissingProviderToken")
            #expect(try await apns.sendRaw(background).reason == "400 BadPriority")
            #expect(apns.accepted.isEmpty)
            #expect(try await apns.sendRaw(background.merging(["apns-priority": "5"]) { $1 }).reason == "200 ")
        }
    }

    @Test("the answer has the apns-id of the request, also of a refused one, or a new one that is the push's")
    func answerID() async throws {
        try await Connection.with { apns async throws in
            let id = UUID().uuidString.lowercased()
            #expect(try await apns.sendRaw(["apns-id": id]).id == id)
            #expect(try await apns.sendRaw(path: "/3/device/bb", ["apns-id": id]).id == id)
            let made = try #require(try await apns.sendRaw().id)
            #expect(UUID(uuidString: made) != nil && made != id && apns.accepted.map(\.id) == [id, made])
        }
    }

    @Test("a connection has as many streams at once as the stand-in allows", arguments: [1, 5])
    func streamLimit(limit: Int) async throws {
        try await Connection.with(streamLimit: limit) { apns async throws in
            apns.standIn.order(.delay(milliseconds: 100), times: 20)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<40 { group.addTask { try await apns.send().status } }
                for try await status in group { #expect(status == 200) }
            }
            #expect(apns.accepted.count == 40)
            #expect(apns.standIn.counts.mostStreams == limit && apns.standIn.counts.connections == 1)
        }
    }

    @Test("a connection has one stream until a request has a valid provider token")
    func firstToken() async throws {
        try await Connection.with { apns async throws in
            try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<40 { group.addTask { try await apns.send(providerToken: "x").reason } }
                for try await reason in group { #expect(reason == "InvalidProviderToken") }
            }
            #expect(apns.standIn.counts.mostStreams == 1)
            apns.standIn.order(.delay(milliseconds: 100), times: 20)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<40 { group.addTask { try await apns.send().status } }
                for try await status in group { #expect(status == 200) }
            }
            #expect(apns.standIn.counts.mostStreams > 1 && apns.standIn.counts.connections == 1)
        }
    }
}
