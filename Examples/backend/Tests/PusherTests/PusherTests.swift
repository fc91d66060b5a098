import AsyncHTTPClient
import Foundation
import NIOSSL
import PushCryptAPNs
import PushCryptSender
import Testing

/// The stand-in for APNs of the Python package, in a process of its own.
final class StandIn: @unchecked Sendable {
    static let (topic, deviceToken) = ("com.example.app", String(repeating: "ab", count: 32))

    let folder: URL
    let port: Int
    private let process = Process()

    /// The interpreter with the package and its extra `standin`.
    static let python = ProcessInfo.processInfo.environment["PUSHCRYPT_PYTHON"] ?? "python3"
    static let isAvailable: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [python, "-c", "import pushcrypt.standin.server"]
        (process.standardError, process.standardOutput) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try? process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// - Parameter faults: for the first pushes.
    init(faults: [String] = []) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("standin-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(faults.joined(separator: "\n").utf8).write(to: folder.appendingPathComponent("faults"))
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.currentDirectoryURL = folder
        process.arguments = [
            Self.python, "-m", "pushcrypt.standin", "--provider-key", "key.p8", "--provider-key-id", "ABCDEFGHIJ",
            "--team-id",
            "TEAM123456", "--certificate", "ca.pem", "--port-file", "port", "--faults", "faults", "--device",
            "\(Self.deviceToken)=\(Self.topic)",
        ]
        FileManager.default.createFile(atPath: folder.path + "/pushes", contents: nil)
        process.standardOutput = try FileHandle(forWritingTo: folder.appendingPathComponent("pushes"))
        let messages = Pipe()
        process.standardError = messages
        try process.run()
        // It prints a line as soon as it listens.
        _ = messages.fileHandleForReading.availableData
        let text = try String(contentsOf: folder.appendingPathComponent("port"), encoding: .utf8)
        port = Int(text.trimmingCharacters(in: .newlines)) ?? 0
    }

    deinit {
        process.terminate()
        try? FileManager.default.removeItem(at: folder)
    }

    func pushes() throws -> [Substring] {
        try String(contentsOf: folder.appendingPathComponent("pushes"), encoding: .utf8).split(separator: "\n")
    }
}

@Suite(.enabled(if: StandIn.isAvailable, "no Python with pushcrypt[standin]: see Senders/python")) struct PusherTests {
    /// The waits that a pusher asked for.
    private final class Waits: @unchecked Sendable {
        private let lock = NSLock()
        private var found: [Duration] = []

        func add(_ wait: Duration) { lock.withLock { found.append(wait) } }
        var all: [Duration] { lock.withLock { found } }
    }

    private static func row(_ token: String = StandIn.deviceToken) throws -> StoredRegistration {
        let record =
            #"{"kty":"EC","crv":"P-256","x":"iHEHTDpYSUD3-P_oiGSmeMM5aHgkLzBgGtf1GUvA2nM","y":"GpUkuFwwQos2cYUBE5vdWjYpX702uk4jOdNYUchkejs","alg":"HPKE-7","kid":"QadDbZpSvrY"}"#
        return StoredRegistration(
            try Registration(json: record.utf8, requiring: []), account: "zoe", deviceToken: token,
            environment: .sandbox)
    }

    /// Sends pushes with a client that trusts the stand-in.
    private func send(
        _ standIn: StandIn, _ count: Int = 1, to row: StoredRegistration? = nil, topic: String = StandIn.topic,
        teamID: String = "TEAM123456"
    ) async throws -> (results: [PushResult], waits: [Duration]) {
        var configuration = HTTPClient.Configuration()
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(standIn.folder.path + "/ca.pem")
        configuration.tlsConfiguration = tls
        let client = HTTPClient(configuration: configuration)
        let key = try String(contentsOf: standIn.folder.appendingPathComponent("key.p8"), encoding: .utf8)
        let waits = Waits()
        var options = Pusher.Options()
        options.servers[.sandbox] = "https://localhost:\(standIn.port)"
        options.sleep = { waits.add($0) }
        let pusher = Pusher(
            sealer: try Sealer(topic: topic), token: try ProviderToken(key: key, keyID: "ABCDEFGHIJ", teamID: teamID),
            client: client, options: options)
        let notification = PushNotification(title: "Dr. Amara Osei", body: "Your results are in.")
        do {
            var results: [PushResult] = []
            for _ in 0..<count { results.append(try await pusher.send(notification, to: row ?? Self.row())) }
            try await client.shutdown()
            return (results, waits.all)
        } catch {
            try await client.shutdown()
            throw error
        }
    }

    @Test("a notification is sealed and sent in one statement, and 20 of them use one provider token")
    func sent() async throws {
        let standIn = try StandIn()
        let (results, waits) = try await send(standIn, 20)
        for case .sent(let push) in results { #expect(push.bytes.count < 4_096) }
        #expect(results.count { if case .sent = $0 { true } else { false } } == 20 && waits.isEmpty)
        let pushes = try standIn.pushes()
        #expect(pushes.count == 20 && pushes.allSatisfy { $0.contains(#""sealed":""#) && !$0.contains("Amara") })
    }

    @Test("an overloaded server is asked again after the time that it names, and a lost answer too")
    func retried() async throws {
        let standIn = try StandIn(faults: [
            #"{"fault":"answer","reason":"ServiceUnavailable","retryAfter":7}"#,
            #"{"fault":"answer","reason":"TooManyRequests"}"#,
        ])
        let (results, waits) = try await send(standIn)
        guard case .sent = results.first else { return #expect(Bool(false), "\(results)") }
        #expect(waits == [.seconds(7), .seconds(2)])
        #expect(try standIn.pushes().count == 1)
    }

    @Test("a connection that breaks after the push was accepted makes the same push twice")
    func repeated() async throws {
        let standIn = try StandIn(faults: [#"{"fault":"closeAfterAccepting"}"#])
        let (results, _) = try await send(standIn)
        guard case .sent = results.first else { return #expect(Bool(false), "\(results)") }
        let pushes = try standIn.pushes()
        #expect(pushes.count == 2 && pushes[0] == pushes[1])
    }

    @Test("a longer wait than the longest is a value, and so is the end of the attempts")
    func later() async throws {
        let asked = try await send(StandIn(faults: [#"{"fault":"answer","reason":"Shutdown","retryAfter":60}"#]))
        guard case .later(after: .seconds(60), reason: "Shutdown") = asked.results[0] else {
            return #expect(Bool(false), "\(asked.results)")
        }
        let busy = try await send(StandIn(faults: [#"{"fault":"answer","reason":"InternalServerError","times":9}"#]))
        guard case .later(after: .seconds(4), reason: "InternalServerError") = busy.results[0] else {
            return #expect(Bool(false), "\(busy.results)")
        }
        #expect(busy.waits == [.seconds(1), .seconds(2)])
    }

    @Test("an ended token is a value, and so is what APNs refuses")
    func refused() async throws {
        let ended = try await send(StandIn(faults: [#"{"fault":"answer","reason":"Unregistered"}"#]))
        guard case .gone(since: nil) = ended.results[0] else { return #expect(Bool(false), "\(ended.results)") }
        let wrong = try await send(StandIn(), to: Self.row(String(repeating: "cd", count: 32)))
        guard case .refused(400, "BadDeviceToken") = wrong.results[0] else {
            return #expect(Bool(false), "\(wrong.results)")
        }
        let team = try await send(StandIn(), teamID: "OTHER")
        guard case .refused(403, "InvalidProviderToken") = team.results[0] else {
            return #expect(Bool(false), "\(team.results)")
        }
    }

    @Test("an expired provider token is renewed once, and the push is sent")
    func renewed() async throws {
        let standIn = try StandIn(faults: [#"{"fault":"answer","reason":"ExpiredProviderToken"}"#])
        let (results, _) = try await send(standIn)
        // The stand-in then refuses another token within 20 minutes, as APNs does.
        guard case .later(_, reason: "TooManyProviderTokenUpdates") = results[0] else {
            return #expect(Bool(false), "\(results)")
        }
    }
}
