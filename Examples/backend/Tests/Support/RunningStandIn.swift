public import AsyncHTTPClient
public import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOSSL
public import Testing

/// The stand-in for APNs of the Python package, a process on this machine with a provider key of its own. `PUSHCRYPT_PYTHON` names
/// the interpreter that has `pushcrypt[standin]`; otherwise it is `python3`.
public struct RunningStandIn: Sendable {
    /// The id of the team that owns the provider key.
    public static let teamID = "TEAM123456"
    /// The id of the provider key.
    public static let keyID = "KEY1234567"
    /// What a test needs to start one.
    public static let requirement: Comment = "no Python with pushcrypt[standin] is in PUSHCRYPT_PYTHON"
    /// Whether a test can start one.
    public static let isAvailable: Bool = {
        let process = interpreter(["-c", "import pushcrypt.standin.server"])
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// Its address, which begins with `https:`.
    public let base: String
    /// The certificate for clients to trust.
    public let certificatePEM: String
    /// The provider key, the text of a `.p8` file.
    public let providerKeyPEM: String
    /// Trusts its certificate.
    public let client: HTTPClient
    private let folder: TemporaryFolder

    /// Starts a stand-in, and ends it after the body.
    public static func with<Value>(_ body: (RunningStandIn) async throws -> Value) async throws -> Value {
        let folder = try TemporaryFolder()
        let process = interpreter([
            "-m", "pushcrypt.standin", "--provider-key", "key.p8", "--provider-key-id", keyID, "--team-id", teamID,
            "--certificate", "certificate.pem", "--port-file", "port",
        ])
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        let pushes = try folder.write(Data(), to: "pushes")
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: pushes))
        let messages = Pipe()
        process.standardError = messages
        try process.run()
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        // It prints a line as soon as it listens.
        _ = messages.fileHandleForReading.availableData
        func text(_ name: String) throws -> String {
            try String(contentsOf: URL(fileURLWithPath: "\(folder.path)/\(name)"), encoding: .utf8)
        }
        let port = try text("port").trimmingCharacters(in: .newlines)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file("\(folder.path)/certificate.pem")
        let client = HTTPClient(configuration: .init(tlsConfiguration: tls))
        let running = try RunningStandIn(
            base: "https://127.0.0.1:\(port)", certificatePEM: text("certificate.pem"), providerKeyPEM: text("key.p8"),
            client: client, folder: folder)
        let result: Result<Value, any Error>
        do { result = .success(try await body(running)) } catch { result = .failure(error) }
        try await client.shutdown()
        return try result.get()
    }

    private static func interpreter(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [ProcessInfo.processInfo.environment["PUSHCRYPT_PYTHON"] ?? "python3"] + arguments
        return process
    }

    /// Every push that it has accepted. It writes a push before it answers.
    public var accepted: [AcceptedPush] {
        get throws {
            let lines = try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/pushes")).split(separator: 10)
            return try lines.map { try AcceptedPush(line: $0) }
        }
    }

    /// Returns when it has accepted so many pushes.
    public func waitForPushes(_ count: Int) async throws {
        struct Counts: Decodable { let accepted: Int }
        while try JSONDecoder().decode(Counts.self, from: try await send("counts")).accepted < count {}
    }

    /// Adds a device with the app of a topic.
    public func add(token: String, topic: String) async throws {
        _ = try await send("devices", ["token": token, "topic": topic])
    }

    /// Orders what happens to the next pushes that would be accepted.
    public func order(_ fault: Fault, times: Int = 1) async throws {
        var order: [String: any Sendable] = ["fault": fault.kind.rawValue, "times": times]
        order["reason"] = fault.reason
        order["retryAfter"] = fault.retryAfter
        order["timestamp"] = fault.timestamp
        _ = try await send("faults", order)
    }

    /// - Parameter order: nil for a request that changes nothing.
    private func send(_ path: String, _ order: [String: any Sendable]? = nil) async throws -> Data {
        struct Refused: Error { let answer: String }
        var request = HTTPClientRequest(url: "\(base)/stand-in/\(path)")
        if let order {
            request.method = .POST
            request.body = .bytes(try JSONSerialization.data(withJSONObject: order))
        }
        let response = try await client.execute(request, timeout: .seconds(60))
        let answer = Data(buffer: try await response.body.collect(upTo: 16_384))
        guard response.status == .ok else { throw Refused(answer: String(decoding: answer, as: UTF8.self)) }
        return answer
    }
}

/// What happens to a push that would be accepted. `python -m pushcrypt.standin --help` lists more.
public struct Fault: Sendable {
    enum Kind: String { case answer, resetAfterAccepting, cutAnswer, closeAfterAccepting }

    let kind: Kind
    var reason: String?
    var retryAfter: Int?
    var timestamp: Int64?

    /// The answer with a reason of APNs.
    ///
    /// - Parameters:
    ///   - retryAfter: the header, in seconds.
    ///   - timestamp: of 410, in milliseconds since 1970.
    public static func answer(_ reason: String, retryAfter: Int? = nil, timestamp: Int64? = nil) -> Fault {
        Fault(kind: .answer, reason: reason, retryAfter: retryAfter, timestamp: timestamp)
    }

    /// The stream is reset after the push was accepted.
    public static let resetAfterAccepting = Fault(kind: .resetAfterAccepting)
    /// The stream is reset after the status 200.
    public static let cutAnswer = Fault(kind: .cutAnswer)
    /// The connection is closed after the push was accepted.
    public static let closeAfterAccepting = Fault(kind: .closeAfterAccepting)
}

/// A push that the stand-in has accepted for a device.
public struct AcceptedPush: Sendable {
    /// The device token, hexadecimal digits in lower case.
    public let token: String
    /// The headers of the request, and `apns-id` of the answer.
    public let headers: [String: String]
    /// The body of the request, UTF-8 JSON of at most 4,096 bytes.
    public let payload: [UInt8]

    /// - Parameter line: `{"token", "topic", "headers", "payload"}`
    init(line: Data) throws {
        struct Head: Decodable {
            let token: String
            let headers: [String: String]
        }
        let name = Data(#","payload":"#.utf8)
        guard let range = line.range(of: name) else { throw CocoaError(.fileReadCorruptFile) }
        let head = try JSONDecoder().decode(Head.self, from: line[..<range.lowerBound] + Data("}".utf8))
        (token, headers) = (head.token, head.headers)
        payload = Array(line[range.upperBound...].dropLast())
    }
}
