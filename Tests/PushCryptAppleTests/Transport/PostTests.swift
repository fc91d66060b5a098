import FlyingFox
import Foundation
import PushCryptApple
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@Suite struct PostTests {
    private let transport = URLSessionTransport.loopback()

    private func post(_ body: [UInt8] = Array("{}".utf8), to address: String) async throws {
        try await transport.post(HTTPPost(body, contentType: "application/json", to: address))
    }

    @Test("a posted body reaches the server completely with its content type", arguments: [0, 2, 300_000])
    func arrives(byteCount: Int) async throws {
        let body = [UInt8](repeating: 0x41, count: byteCount)
        let seen = Locked<[String]>([])
        try await WebServer.serving { request in
            let type = request.headers[.contentType] ?? ""
            let isWhole = try await request.bodyData == Data(body)
            seen.withLock { $0 += [request.method.rawValue, type, request.path, "\(isWhole)"] }
            return HTTPResponse(statusCode: .ok, body: Data("thanks".utf8))
        } _: { server in
            try await post(body, to: server.address("receipts"))
        }
        #expect(seen.withLock { $0 } == ["POST", "application/json", "/receipts", "true"])
    }

    @Test func `a flush posts a receipt as JSON or as a form, with the user agent of the app`() async throws {
        let folder = try TemporaryFolder()
        let store = SharedStore(folder: folder.path + "/store", role: .app)
        let seen = Locked<[String]>([])
        try await WebServer.serving { request in
            let headers = [request.headers[.contentType], request.headers[HTTPHeader("User-Agent")]]
            let body = String(decoding: try await request.bodyData, as: UTF8.self)
            seen.withLock { $0 += headers.map { $0 ?? "" } + [body] }
            return HTTPResponse(statusCode: .noContent)
        } _: { [transport] server in
            for encoding in [ReceiptPosting.Encoding.json, .form] {
                var report = DeliveryReport(
                    failure: nil, isRestored: true, time: UnixTime(4_000_000_000), kid: nil, messageID: nil,
                    pushID: "é & ü", isSelfTest: false, stageFailures: [])
                let receipt = try Receipt(report)
                report.receipt = receipt
                _ = try store.record(DeliveryRecord(report: report))
                let posting = try ReceiptPosting(
                    to: server.address("receipts"), transport: transport, encoding: encoding,
                    userAgent: "Example/2 (receipts)", timer: ManualTimer())
                let sent = try await ReceiptSender(store: store, posting: posting).flush()
                #expect(sent.sentCount == 1 && sent.leftCount == 0)
                let json = #"{"id":"\#(receipt.id)","push":"é & ü","outcome":"opened","time":4000000000}"#
                let form = "id=\(receipt.id)&push=%C3%A9+%26+%C3%BC&outcome=opened&time=4000000000"
                let (type, body) = encoding == .json ? ("json", json) : ("x-www-form-urlencoded", form)
                #expect(seen.withLock { $0 }.suffix(3) == ["application/\(type)", "Example/2 (receipts)", body])
            }
        }
    }

    @Test("a post succeeds with each 2xx status", arguments: ["200", "201", "202", "204"])
    func success(code: String) async throws {
        let steps: [RawServer.Step] = [.head("\(code) X", "Content-Length: 0"), .hold()]
        try await RawServer.serving([steps]) { try await post(to: $0.address) }
    }

    @Test(
        "a post that is answered with a status outside of 2xx throws status",
        arguments: ["300", "304", "400", "403", "404", "413", "429", "500", "503"])
    func otherStatus(code: String) async throws {
        let steps: [RawServer.Step] = [.head("\(code) X", "Content-Length: 100"), .text("abc"), .hold()]
        try await RawServer.serving([steps]) { server in
            await expectFailure(.status) { try await post(to: server.address) }
        }
    }

    @Test("a redirect of a post is refused", arguments: ["301 X", "302 X", "303 X", "307 X", "308 X"])
    func redirect(status: String) async throws {
        let good: [RawServer.Step] = [.head("200 OK", "Content-Length: 0"), .hold()]
        try await RawServer.serving([[.redirect(to: "/y", status)], good]) { server in
            await expectFailure(.status) { try await post(to: server.address) }
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a post waits for a slow response head`() async throws {
        let (asked, go) = (Signal(), Signal())
        let steps: [RawServer.Step] = [.give(asked), .wait(go), .head("200 OK", "Content-Length: 0"), .hold()]
        try await RawServer.serving([steps]) { server in
            async let posted: Void = post(to: server.address)
            await asked.wait()
            go.give()
            try await posted
        }
    }

    private static let chunk = [UInt8](repeating: 0x78, count: 65_536)

    private static let endlessBodies: [[RawServer.Step]] = [
        [.head("200 OK", "Content-Length: 999999"), .text("a")],
        [.head("200 OK", "Transfer-Encoding: chunked"), .text("1\r\na\r\n")],
        [.head("202 Accepted", "Connection: close")],
        [.head("200 OK", "Connection: close"), .flood(chunk)],
        [.head("200 OK", "Content-Encoding: gzip"), .text("no gzip")],
    ]

    @Test("a post ends with the response head, and an endless response is closed", arguments: endlessBodies.indices)
    func endlessBody(index: Int) async throws {
        let closed = Signal()
        try await RawServer.serving([Self.endlessBodies[index] + [.hold(closed)]]) { server in
            try await post(to: server.address)
            if case .flood = Self.endlessBodies[index].last { return }
            await closed.wait()
        }
    }

    private static let withoutHead: [[RawServer.Step]] = [
        [], [.text("HTTP/1.1 200 OK\r\n")], [.text("HTTP/1.1 200 OK\r\nA: "), .send(chunk)],
        [.head("302 Found", "Location: /y", "Connection: close"), .text("a")],
    ]

    @Test("a post without a complete response head is cancelled at the time limit", arguments: withoutHead.indices)
    func endlessHead(index: Int) async throws {
        let (asked, closed, timer) = (Signal(), Signal(), ManualTimer())
        let transport = URLSessionTransport.loopback(timer: timer)
        try await RawServer.serving([Self.withoutHead[index] + [.give(asked), .hold(closed)]]) { server in
            let post = HTTPPost([1], contentType: "text/plain", to: server.address)
            let transfer = Task { try await transport.post(post) }
            await asked.wait()
            timer.fire(.seconds(10))
            await expectFailure(.cancelled) { try await transfer.value }
            await closed.wait()
            #expect(!timer.isPending)
        }
    }

    @Test func `a server that resets the connection makes a post throw network`() async throws {
        try await RawServer.serving([[]]) { server in
            await expectFailure(.network) { try await post(to: server.address) }
        }
    }

    @Test func `a cancelled post throws cancelled and closes its connection`() async throws {
        let (asked, closed) = (Signal(), Signal())
        try await RawServer.serving([[.give(asked), .hold(closed)]]) { server in
            let transfer = Task { try await post(to: server.address) }
            await asked.wait()
            transfer.cancel()
            await expectFailure(.cancelled) { try await transfer.value }
            await closed.wait()
        }
    }
}
