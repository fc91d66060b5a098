import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// Calls the service as apps and other parts of the backend do.
struct BackendClient: Sendable {
    /// An accepted message.
    struct Accepted: Decodable {
        let id: String
        let deliveries: Int
    }

    /// What became of a message.
    struct Report: Decodable {
        let deliveries: Int
        let queued: Int
        let sent: Int
        let opened: Int
        let failed: [String: Int]

        /// Whether each push was confirmed or has failed.
        var hasEnded: Bool { opened + failed.values.reduce(0, +) >= deliveries }
    }

    /// A status that isn't a success.
    struct Refusal: Error, CustomStringConvertible {
        let status: Int
        let body: String
        var description: String { "status \(status): \(body)" }
    }

    let client: HTTPClient
    let base: String
    let serviceToken: String

    /// Sends until the service has accepted the message or refused it for good. A repeated request has the same key.
    func send(_ payload: String, to: String, key: String, expiresAfter: Int = 3_600) async throws -> Accepted {
        let body = #"{"to":\#(to),"payload":\#(payload),"expiresAfter":\#(expiresAfter)}"#
        while true {
            do {
                let data = try await call(
                    .POST, "/v1/messages", body: Data(body.utf8), token: serviceToken, headers: ["idempotency-key": key]
                )
                return try JSONDecoder().decode(Accepted.self, from: data)
            } catch let refusal as Refusal where refusal.status != 503 {
                throw refusal
            } catch {
                // The service is being restarted, or its database can't take anything.
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    func report(on id: String) async throws -> Report {
        try JSONDecoder().decode(Report.self, from: try await call(.GET, "/v1/messages/\(id)", token: serviceToken))
    }

    /// The reports on messages, in their order.
    func reports(on ids: [String]) async throws -> [Report] {
        try await withThrowingTaskGroup(of: (Int, Report).self) { group in
            var reports: [Report?] = Array(repeating: nil, count: ids.count)
            for (index, id) in ids.enumerated() {
                // A few at once.
                if index >= 8, let (index, report) = try await group.next() { reports[index] = report }
                group.addTask { (index, try await self.report(on: id)) }
            }
            for try await (index, report) in group { reports[index] = report }
            return reports.compactMap(\.self)
        }
    }

    /// Makes a user belong to segments.
    func setSegments(_ names: [String], of user: String) async throws {
        let body = try JSONEncoder().encode(["segments": names])
        _ = try await call(.PUT, "/v1/users/\(user)/segments", body: body, token: serviceToken)
    }

    /// How many pushes wait in the service.
    func queuedCount() async throws -> Int? { try await metric("push_queue_depth") }

    /// A metric without labels.
    func metric(_ name: String) async throws -> Int? {
        let metrics = String(decoding: try await call(.GET, "/metrics", token: serviceToken), as: UTF8.self)
        let line = metrics.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
        return line.flatMap { Double($0.dropFirst(name.count + 1)) }.map { Int($0) }
    }

    func call(
        _ method: HTTPMethod, _ path: String, body: Data? = nil, token: String? = nil, headers: [String: String] = [:]
    ) async throws -> Data {
        var request = HTTPClientRequest(url: base + path)
        request.method = method
        if let token { request.headers.add(name: "authorization", value: "Bearer \(token)") }
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(body)
        }
        let response = try await client.execute(request, timeout: .seconds(15))
        let bytes = try await response.body.collect(upTo: 1 << 20)
        guard (200..<300).contains(response.status.code) else {
            throw Refusal(status: Int(response.status.code), body: String(buffer: bytes))
        }
        return Data(buffer: bytes)
    }
}
