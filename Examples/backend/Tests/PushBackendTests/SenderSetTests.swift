import BackendTestSupport
import Foundation
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import Testing

@testable import PushBackend

@Suite("the set of sender keys that the service serves") struct SenderSetTests {
    private let folder: TemporaryFolder
    private let keys: SigningKeys
    private let publisher = Publisher()
    private let clock = NIOLockedValueBox(Int64(Date().timeIntervalSince1970))
    private let log = CapturedLog()
    private let end: Int64

    init() throws {
        folder = try TemporaryFolder()
        keys = SigningKeys()
        end = clock.withLockedValue { $0 } + 3_600
        try folder.write(publisher.pins, to: "pins.json")
    }

    private func publish(_ document: some DataProtocol) throws { try folder.write(document, to: "senders.json") }

    private func open() throws -> SenderSet {
        try SenderSet(
            path: folder.path + "/senders.json", pins: folder.path + "/pins.json", folder: folder.path + "/accepted",
            topic: Sending.topic, logger: log.logger, seconds: { [clock] in clock.withLockedValue { $0 } })
    }

    private func pass(_ seconds: Int64) { clock.withLockedValue { $0 += seconds } }

    private func refusal(_ document: Data?) throws -> ConfigurationError? {
        if let document { try publish(document) }
        return #expect(throws: ConfigurationError.self) { try open() }
    }

    @Test("a set that a pinned publisher has signed for the topic is served byte for byte")
    func valid() async throws {
        let document = try publisher.sign(keys, until: end)
        try publish(document)
        let answer = try await TestAPI(senderSet: try open()).call(.get, "/v1/senders", by: .anonymous)
        #expect(answer.status == 200 && answer.body == String(decoding: document, as: UTF8.self))
    }

    @Test("at the start a missing file and one that isn't JSON are refused with option, path and reason")
    func garbage() throws {
        let path = folder.path + "/senders.json"
        #expect(try refusal(nil)?.description == "--senders \(path): there is no such file")
        let error = try #require(try refusal(Data("{not JSON".utf8)))
        #expect(error.option == "senders \(path)" && error.reason.contains("JSON"))
    }

    @Test("at the start an unsigned set and one of another publisher are refused")
    func unsigned() throws {
        #expect(try refusal(Data(#"{"keys":[]}"#.utf8)) != nil)
        #expect(try refusal(try Publisher().sign(keys, until: end))?.reason.contains("signed") == true)
    }

    @Test("at the start a set for another topic is refused, and the error names the topic")
    func otherTopic() throws {
        let error = try refusal(try publisher.sign(keys, topic: "com.example.other", until: end))
        #expect(error?.reason.contains(Sending.topic) == true)
    }

    @Test("at the start a set that has ended is refused")
    func ended() throws {
        #expect(try refusal(try publisher.sign(keys, until: end - 3_601))?.reason.contains("valid until") == true)
    }

    @Test("at the start an older set than the accepted one is refused, as apps do")
    func rolledBack() throws {
        try publish(try publisher.sign(keys, sequence: 2, until: end))
        _ = try open()
        #expect(try refusal(try publisher.sign(keys, sequence: 1, until: end)) != nil)
    }

    @Test("pins that can't be read are refused with option and path")
    func pins() throws {
        try publish(try publisher.sign(keys, until: end))
        let path = try folder.write(Data("{}".utf8), to: "pins.json")
        let error = #expect(throws: ConfigurationError.self) { try open() }
        #expect(error?.option == "pins \(path)")
    }

    @Test("a new set is served at once, also within the same second: an app fetches the set only once a day")
    func replaced() throws {
        try publish(try publisher.sign(keys, until: end))
        let set = try open()
        let first = set.document
        let next = try publisher.sign(keys, sequence: 2, until: end)
        try publish(next)
        #expect(set.document.bytes == next && set.document.etag != first.etag && set.refusal == nil)
    }

    @Test(
        "a bad file keeps the last good set, is logged once as an error, and degrades health until it is corrected",
        arguments: ["missing", "garbage", "unsigned", "for another topic"])
    func badReload(kind: String) async throws {
        try publish(try publisher.sign(keys, until: end))
        let set = try open()
        let api = try TestAPI(senderSet: set)
        let good = set.document
        switch kind {
        case "missing": try FileManager.default.removeItem(atPath: folder.path + "/senders.json")
        case "garbage": try publish(Data("{".utf8))
        case "unsigned": try publish(try Publisher().sign(keys, sequence: 2, until: end))
        default: try publish(try publisher.sign(keys, topic: "com.example.other", sequence: 2, until: end))
        }
        for _ in 0..<3 {
            pass(1)
            #expect(set.document == good && set.refusal != nil)
        }
        #expect(log.lines.filter { $0.level == .error }.count == 1)
        let health = try await api.call(.get, "/health", by: .anonymous)
        #expect(health.text("status") == "degraded" && health.body.contains("sender set"))
        #expect(!health.body.contains(folder.path))
        try publish(try publisher.sign(keys, sequence: 3, until: end))
        pass(1)
        #expect(try await api.call(.get, "/health", by: .anonymous).text("status") == "ok")
    }

    @Test("a set that ends while the service runs is still served, and degrades health")
    func endsLater() async throws {
        try publish(try publisher.sign(keys, until: end))
        let set = try open()
        pass(3_600)
        #expect(set.refusal?.contains("valid until") == true)
        #expect(try await TestAPI(senderSet: set).call(.get, "/v1/senders", by: .anonymous).status == 200)
    }

    @Test(
        "a request with the ETag of the set is answered with 304 without a body, and after a change with 200 and another ETag"
    )
    func etag() async throws {
        try publish(try publisher.sign(keys, until: end))
        let api = try TestAPI(senderSet: try open())
        func get(_ known: String?) async throws -> TestAPI.Answer {
            try await api.call(.get, "/v1/senders", by: .anonymous, ifNoneMatch: known)
        }
        let first = try #require(try await get(nil).headers[.eTag])
        for known in [first, "\"other\", \(first)", "*"] {
            let answer = try await get(known)
            #expect(answer.status == 304 && answer.body.isEmpty && answer.headers[.eTag] == first, "\(known)")
        }
        #expect(try await get("\"other\"").status == 200)
        try publish(try publisher.sign(keys, sequence: 2, until: end))
        let next = try await get(first)
        #expect(next.status == 200 && next.headers[.eTag] != first)
    }

    @Test("a service without a set answers a request for it with 404")
    func none() async throws {
        let answer = try await TestAPI().call(.get, "/v1/senders", by: .anonymous)
        #expect(answer.status == 404 && answer.text("error") == "notFound")
    }
}
