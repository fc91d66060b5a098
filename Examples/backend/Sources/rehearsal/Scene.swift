import APNsStandIn
import Crypto
import Dispatch
import Foundation
import GRDB
import PushBackend
import PushCryptExtension

/// A folder with keys that the tool has made, both stand-ins, and the service as a process of its own.
final class Scene: Sendable {
    static let topic = "com.example.clinic"
    /// The host that the app registers with, as the app knows it. On this machine the service has another address.
    static let host = "push.example.com"
    private static let teamID = "TEAM123456"
    private static let providerKeyID = "KEY1234567"

    let folder: String
    let userTokens: UserToken
    let serviceToken: String
    /// Apple's two servers.
    let apns: [APNsEnvironment: APNsStandIn]
    /// The phones, which receive the pushes that the stand-ins accept.
    let phones: PhoneBook
    private let ports: [APNsEnvironment: Int]
    private let tools: Tools
    private let log: FileHandle
    private let logLevel: String
    private let signals = SignalSources(sources: ChildProcess.endWithThisProcess())

    /// - Parameters:
    ///   - tools: the programs.
    ///   - logLevel: of the service.
    ///   - onReceive: called after a phone has received a push.
    init(
        _ tools: Tools, logLevel: String = "warning",
        onReceive: @escaping @Sendable (Phone, AcceptedPush) -> Void = { _, _ in }
    ) async throws {
        self.tools = tools
        self.logLevel = logLevel
        folder =
            tools.keep
            ?? FileManager.default.temporaryDirectory.appendingPathComponent("rehearsal." + UUID().uuidString).path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        _ = FileManager.default.createFile(atPath: "\(folder)/service.log", contents: nil)
        log = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(folder)/service.log"))
        let userKey = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
        userTokens = try UserToken(key: userKey)
        serviceToken = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0).base64EncodedString() }
        let providerKey = P256.Signing.PrivateKey()
        let identity = try SelfSignedIdentity()
        let files = [
            "user.key": userKey, "service.tokens": Data(serviceToken.utf8),
            "provider.p8": Data(providerKey.pemRepresentation.utf8), "apns.pem": Data(identity.certificatePEM.utf8),
        ]
        for (name, data) in files {
            _ = FileManager.default.createFile(
                atPath: "\(folder)/\(name)", contents: data, attributes: [.posixPermissions: 0o600])
        }
        let tokens = ProviderTokenCheck(teamID: Self.teamID, keys: [Self.providerKeyID: providerKey.publicKey])
        let phones = PhoneBook(onReceive: onReceive)
        self.phones = phones
        var apns: [APNsEnvironment: APNsStandIn] = [:]
        var ports: [APNsEnvironment: Int] = [:]
        for environment in APNsEnvironment.allCases {
            let standIn = APNsStandIn(tokens: tokens, identity: identity) { phones.deliver($0) }
            ports[environment] = try await standIn.start()
            apns[environment] = standIn
        }
        self.apns = apns
        self.ports = ports
        try await makeKeys()
    }

    // MARK: Keys, with the real tool

    /// Makes the keysets `senders` and `app`, the settings, and the set of sender keys that the service serves.
    private func makeKeys() async throws {
        try await pushcrypt(
            "init", "--topic", Self.topic, "--insecure-plaintext", "--yes", "--keystore", "\(folder)/Keys",
            "--publisher-keystore", "\(folder)/Publisher", "--history", "\(folder)/history", "--publish-to",
            "\(folder)/www", "--pins", "\(folder)/sender-pins.json")
        try await pushcrypt("rotate")
    }

    private struct Pins: Decodable {
        let set: String
        let epoch: Int
    }

    /// The signed set of sender keys. Its address derives from the app's pins.
    private func senderSet() throws -> String {
        let pins = try JSONDecoder().decode(
            Pins.self, from: Data(contentsOf: URL(fileURLWithPath: "\(folder)/sender-pins.json")))
        return "\(folder)/www/\(pins.set).\(pins.epoch).json"
    }

    private struct ListedKey: Decodable {
        let kid: String
        let state: String
    }

    /// Returns the signing key with a state of its lifecycle.
    func senderKey(_ state: String) async throws -> String {
        let json = try await pushcrypt("keys", "list", "senders", "--json")
        guard let key = try JSONDecoder().decode([ListedKey].self, from: json).first(where: { $0.state == state })
        else {
            throw RehearsalError("the keyset has no \(state) key")
        }
        return key.kid
    }

    private struct Line: Decodable { let n: Int }

    /// The number of the keyset's last line, after which only the row with the keys follows.
    func senderSequence() throws -> Int {
        let rows = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/Keys/senders.keyset")).split(separator: 10)
        guard let line = rows.dropLast().last else { throw RehearsalError("the keyset is empty") }
        return try JSONDecoder().decode(Line.self, from: line).n
    }

    /// The publishers that the app pins.
    var pins: SenderSetPins {
        get throws {
            try SenderSetPins(json: Array(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/sender-pins.json"))))
        }
    }

    /// Runs the tool, and returns its stdout.
    @discardableResult
    func pushcrypt(_ arguments: String...) async throws -> Data {
        let (path, variables) = (tools.pushcrypt, ["PUSHCRYPT_SETTINGS": "\(folder)/pushcrypt.json"])
        return try await withCheckedThrowingContinuation { continuation in
            // Not on the concurrency runtime's threads, which the phones need.
            Thread.detachNewThread {
                continuation.resume(with: Result { try ChildProcess.output(of: path, arguments, variables) })
            }
        }
    }

    // MARK: The service

    /// Starts the service, and waits until it answers.
    ///
    /// - Returns: the process and its port.
    func startService(port: UInt16 = 0, _ more: [String] = []) async throws -> (process: ChildProcess, port: UInt16) {
        let portFile = "\(folder)/port"
        try? FileManager.default.removeItem(atPath: portFile)
        guard let sandbox = ports[.sandbox], let production = ports[.production] else {
            throw RehearsalError("a stand-in has no port")
        }
        let process = try ChildProcess(
            tools.service,
            [
                "--topic", Self.topic, "--registration-host", Self.host, "--database", "\(folder)/pushes.sqlite",
                "--signing-keys", "\(folder)/Keys/senders.keyset", "--history", "\(folder)/history",
                "--senders", senderSet(), "--pins", "\(folder)/sender-pins.json", "--provider-key",
                "\(folder)/provider.p8",
                "--provider-key-id", Self.providerKeyID, "--team-id", Self.teamID,
                "--user-token-key", "\(folder)/user.key", "--service-tokens", "\(folder)/service.tokens",
                "--sandbox", "https://127.0.0.1:\(sandbox)", "--production", "https://127.0.0.1:\(production)",
                "--trust", "\(folder)/apns.pem", "--port", "\(port)", "--port-file", portFile,
                "--longest-wait", "2000", "--request-timeout", "10", "--width", "48", "--log-level", logLevel,
            ] + more, log: log)
        for _ in 0..<600 {
            if let text = try? String(contentsOfFile: portFile, encoding: .utf8), text.hasSuffix("\n"),
                let port = UInt16(text.dropLast())
            {
                return (process, port)
            }
            guard process.isRunning else { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        await process.end(SIGKILL)
        throw RehearsalError("the service didn't start; its log is \(folder)/service.log")
    }

    /// The deliveries of each message in the service's database: to which user, and why it failed.
    func deliveries() throws -> [String: [(user: String, failure: String?)]] {
        let rows = try DatabaseQueue(path: "\(folder)/pushes.sqlite").read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT message, user, CASE
                        WHEN state = 2 THEN coalesce(reason, 'unknown')
                        WHEN state = 1 AND outcome NOT IN ('opened', 'replayed') THEN outcome END AS failure
                    FROM delivery WHERE kind = 0
                    """)
        }
        return Dictionary(grouping: rows) { $0["message"] }.mapValues { $0.map { ($0["user"], $0["failure"]) } }
    }

    /// Searches the service's log for what it must not contain.
    ///
    /// - Throws: `RehearsalError`, which doesn't quote it.
    func requireLog(without secrets: [String]) throws {
        let log = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/service.log"))
        guard !log.isEmpty else { throw RehearsalError("the service's log is empty") }
        for secret in secrets + [serviceToken] where log.range(of: Data(secret.utf8)) != nil {
            throw RehearsalError("the service's log has a token, a user, a text or a part of a registration record")
        }
    }

    /// Stops the stand-ins and removes the folder, unless it is kept.
    func end() async {
        for standIn in apns.values { await standIn.stop() }
        phones.end()
        try? log.close()
        if tools.keep == nil { try? FileManager.default.removeItem(atPath: folder) }
    }
}

/// Keeps the sources of signals.
private struct SignalSources: @unchecked Sendable {
    // Unchecked because Dispatch doesn't declare its sources as Sendable; they are only kept.
    let sources: [any DispatchSourceSignal]
}
