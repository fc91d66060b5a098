import PushCryptApple
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// Pushes whose attachments are fetched from a faulty server, run by the simulated system. For any response the text is
/// delivered once and in time, and no file is left in the folder.
@Suite struct HostileServerTests {
    /// A device with an extension that fetches what pushes name from one server.
    private struct Device {
        let host: NotificationHost
        let timer = ManualTimer()
        let folder: TemporaryFolder
        let reports = RecordedReports()

        init(_ server: RawServer) throws {
            folder = try TemporaryFolder()
            var configuration = try StagePush.channel.get().configuration()
            let transport = LoopbackTransport(server)
            configuration.attachments = AttachmentStage(
                configuration: .init(folder: folder.path + "/files"), transport: transport, timer: ManualTimer())
            configuration.offload = OffloadFetcher(transport: transport)
            configuration.diagnostics = reports
            let hosted = SessionExtension { [configuration] payload, handler in
                DeliverySession(payload: payload, configuration: configuration, handler: handler)
            }
            host = NotificationHost(hosted, timer: timer)
        }

        var fileNames: [String] { (try? folder.names(in: "files")) ?? [] }
    }

    enum Answer: CaseIterable {
        case notFound, serverError, cutOff, tooLong, endless, lengthTooShort, lengthTooLong, foreign, wrongType
        case toPlainHTTP, toItself

        func scripts(_ file: TestFile) throws -> [[RawServer.Step]] {
            let blob = file.blob
            switch self {
            case .notFound: return [[.head("404 X", "Content-Length: 0")]]
            case .serverError: return [[.head("500 X", "Content-Length: 0")]]
            case .cutOff: return [[.head("200 OK", "Content-Length: \(blob.count)"), .send(Array(blob[..<100_000]))]]
            case .tooLong: return [.body(blob + [UInt8](repeating: 0, count: 100_000))]
            case .endless:
                return [[.head("200 OK", "Connection: close"), .flood([UInt8](repeating: 0, count: 65_536))]]
            case .lengthTooShort: return [[.head("200 OK", "Content-Length: 1000"), .send(blob)]]
            case .lengthTooLong:
                return [[.head("200 OK", "Content-Length: \(blob.count + 1)", "Connection: close"), .send(blob)]]
            case .foreign: return [.body(try TestFile().blob)]
            case .wrongType: return [.body(try TestFile(TestFile.html).blob)]
            case .toPlainHTTP: return [[.redirect(to: "http://example.com/a")]]
            case .toItself: return Array(repeating: [.redirect(to: "/a")], count: 20)
            }
        }
    }

    @Test("after each wrong response the restored text is shown with attachmentFailed", arguments: Answer.allCases)
    func wrongAnswer(_ answer: Answer) async throws {
        let file = try TestFile()
        try await RawServer.serving(answer.scripts(file)) { server in
            let device = try Device(server)
            let payload = try StagePush.sealed(attachments: [file.reference])
            let shown = try #require(await device.host.deliver(payload))
            #expect(shown.origin == .handedOver)
            #expect(shown.content?.body.literal == "Hello" && shown.content?.attachments == [])
            #expect(await device.reports.failures() == [.attachmentFailed])
            #expect((device.host.handlerCallCount, device.host.breachCount) == (1, 0))
            #expect(device.fileNames.isEmpty)
        }
    }

    @Test(
        "a stalled server doesn't prevent the text from being shown in time",
        arguments: ["", "HTTP/1.1 200 OK\r\nContent-", "HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\nPCB1"])
    func stall(sent: String) async throws {
        let file = try TestFile()
        let (asked, closed) = (Signal(), Signal())
        try await RawServer.serving([[.text(sent), .give(asked), .hold(closed)]]) { server in
            let device = try Device(server)
            let payload = try StagePush.sealed(attachments: [file.reference])
            async let delivered = device.host.deliver(payload)
            await asked.wait()
            device.timer.fire()
            let shown = try #require(await delivered)
            #expect(shown.origin == .handedOver && shown.content?.body.literal == "Hello")
            #expect(await device.reports.failures() == [.attachmentFailed])
            await closed.wait()
            #expect(device.host.breachCount == 0)
        }
    }

    @Test func `an offloaded payload and its attachment are both shown`() async throws {
        let file = try TestFile()
        let whole = try SealedBlob(Array(#"{"aps":{"alert":"All of it"}}"#.utf8), for: .payload)
        let offload = try OffloadReference(url: LoopbackTransport.origin + "p", blob: whole.reference)
        try await RawServer.serving([.body(whole.bytes), .body(file.blob)]) { server in
            let device = try Device(server)
            let payload = try StagePush.sealed(attachments: [file.reference], offload: offload)
            let shown = try #require(await device.host.deliver(payload))
            #expect(shown.content?.body.literal == "All of it")
            #expect(shown.content?.attachments.map(\.type) == [.png])
            #expect(await device.reports.failures() == [nil])
            #expect(device.fileNames.count == 1)
        }
    }
}
