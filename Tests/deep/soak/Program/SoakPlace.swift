import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptSender

/// A way to seal: the recipient's keyset, and whether the message is signed.
struct Channel: Sendable, CustomStringConvertible {
    enum Key: String, CaseIterable {
        case p256, x25519, xwing, p256PSK, x25519PSK, xwingPSK, shared, device

        /// Those that this machine has.
        static let available = allCases.filter { Suite.xWing.isAvailable || !$0.isXWing }

        var isXWing: Bool { self == .xwing || self == .xwingPSK }
        /// The keyset's name.
        var keyset: String { self == .device ? "shared" : rawValue }
    }

    let key: Key
    let isSigned: Bool

    var description: String { "\(key)\(isSigned ? " signed" : "")" }

    static let all = Key.available.flatMap { [Channel(key: $0, isSigned: false), Channel(key: $0, isSigned: true)] }
}

/// A keystore that the tool made and rotates, watchers that follow its keysets, and a clock that moves a day at a time.
final class SoakPlace: @unchecked Sendable {
    // Unchecked: `days` is under the lock, and everything else is constant.
    static let topic = "com.example.app"
    static let device = "phone-1_A"
    private static let start: Int64 = 1_800_000_000
    /// Suite 3 needs OpenSSL 3.5. A psk is part of a registration, which an app replaces by itself.
    private static let suites = ["p256", "x25519"] + (Suite.xWing.isAvailable ? ["xwing"] : [])

    let folder: String
    private let tool: String
    private let lock = NSLock()
    private var days: Int64 = 0
    private var watchers: [String: KeysetWatcher] = [:]
    private var registrations: [String: Recipient] = [:]

    struct ToolFailure: Error, CustomStringConvertible {
        let description: String
    }

    init(folder: String, tool: String) throws {
        self.folder = folder
        self.tool = tool
        let policy = ["--rotate-every", "10d", "--publish-lead", "2d"]
        let recipients = Self.suites.flatMap { suite in
            [[suite, "recipient", "--suite", suite], [suite + "PSK", "recipient", "--suite", suite, "--psk"]]
        }
        let kinds = [["shared", "shared"], ["sender", "sender"]] + recipients
        try FileManager.default.createDirectory(
            atPath: folder + "/Keys", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let settings = Data(#"{"keystores": ["Keys"], "history": "seen"}"#.utf8)
        try settings.write(to: URL(fileURLWithPath: folder + "/pushcrypt.json"))
        for kind in kinds {
            try run(
                ["keys", "create", "Keys/" + kind[0], "--kind"] + kind[1...] + ["--insecure-plaintext"] + policy
                    + at)
        }
        for name in Self.suites.map({ $0 + "PSK" }) {
            let record = try run(["keys", "export", "Keys/" + name, "--registration"] + at)
            registrations[name] = try Recipient(jwk: record)
        }
        let clock: @Sendable () -> UnixTime = { [unowned self] in now }
        for name in ["shared", "sender"] + Self.suites {
            watchers[name] = try KeysetWatcher(
                file: path(name), history: folder + "/seen", pollInterval: .milliseconds(200), clock: clock)
        }
    }

    var now: UnixTime { lock.withLock { UnixTime(Self.start + days * 86_400) } }
    private var at: [String] { ["--at", "\(now.seconds)"] }

    func path(_ keyset: String) -> String { folder + "/Keys/" + keyset }

    func recipient(_ key: Channel.Key) throws -> Recipient {
        if let registration = registrations[key.keyset] { return registration }
        guard let watcher = watchers[key.keyset] else { throw ToolFailure(description: "no watcher of \(key)") }
        return try key == .device ? watcher.recipient(device: DeviceID(Self.device)) : watcher.recipient()
    }

    func senderKey() throws -> SenderKey? { try watchers["sender"]?.senderKey() }

    /// Moves the clock by a day, lets the tool rotate, and runs a batch through it, again and again.
    func rotateAndRunBatches(until isDone: Flag, _ tally: Tally) {
        var known = watchers.mapValues(\.current.keyIDs)
        while !isDone.isSet {
            do {
                lock.withLock { days += 1 }
                let rotated = try run(["rotate"] + at)
                tally.add(rotated.count { $0 == UInt8(ascii: "\n") }, "rotations")
                // The pending key must be known two days before it seals: here, before the clock moves on.
                for (name, watcher) in watchers {
                    let onDisk = try Keyset(file: path(name)).keyIDs
                    watcher.checkNow()
                    let keys = watcher.current.keyIDs
                    if keys != onDisk { tally.fail("\(name): the watcher has \(keys), the file \(onDisk)") }
                    if keys != known[name] { tally.add("reloads") }
                    known[name] = keys
                }
                try runBatch(tally)
            } catch {
                tally.fail("the tool: \(error)")
                Thread.sleep(forTimeInterval: 1)
            }
            Thread.sleep(forTimeInterval: 0.5)
        }
    }

    private func runBatch(_ tally: Tally) throws {
        let keyset = (["shared"] + Self.suites).randomElement() ?? "shared"
        let payloads = (0..<200).map { #"{"aps":{"alert":"line \#($0) of day \#(now.seconds)"},"n":1.50}"# }
        let lines = payloads.map { #"{"payload":\#($0)}"# + "\n" }.joined()
        let options = ["--topic", Self.topic] + at
        let sealed = try run(
            ["seal", "--batch", "--bare", "--to", "Keys/" + keyset, "--sign-with", "Keys/sender"] + options,
            Data(lines.utf8))
        let opened = try run(
            ["open", "--batch", "--keys", "Keys/" + keyset, "--trust", "Keys/sender"] + options, sealed)
        let texts = String(decoding: opened, as: UTF8.self).split(separator: "\n")
        let isWhole = texts.count == payloads.count && zip(texts, payloads).allSatisfy { $0.contains($1) }
        isWhole ? tally.add(payloads.count, "batch lines") : tally.fail("a batch to \(keyset) came back changed")
    }

    /// Runs the tool in the folder of `Keys`; it must exit 0.
    @discardableResult
    private func run(_ arguments: [String], _ input: Data = Data()) throws -> Data {
        let (inputPath, outputPath) = (folder + "/stdin", folder + "/stdout")
        try input.write(to: URL(fileURLWithPath: inputPath))
        guard FileManager.default.createFile(atPath: outputPath, contents: nil),
            let stdin = FileHandle(forReadingAtPath: inputPath), let stdout = FileHandle(forWritingAtPath: outputPath)
        else { throw ToolFailure(description: "no files for the tool in \(folder)") }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: tool)
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin:/bin", "PUSHCRYPT_SETTINGS": folder + "/pushcrypt.json"]
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        (process.standardInput, process.standardOutput) = (stdin, stdout)
        try process.run()
        process.waitUntilExit()
        try stdin.close()
        try stdout.close()
        guard process.terminationStatus == 0 else {
            throw ToolFailure(description: "\(arguments.joined(separator: " ")) exited \(process.terminationStatus)")
        }
        return try Data(contentsOf: URL(fileURLWithPath: outputPath))
    }
}
