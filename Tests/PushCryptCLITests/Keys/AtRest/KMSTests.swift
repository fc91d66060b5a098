import Foundation
import PushCryptTestSupport
import Testing

/// Examples/wrap-commands/aws-kms and vault-transit with Tests/wrap-commands/kms.py, which answers as both services do.
@Suite("keysets that a KMS encrypts, over HTTP", .ownThreads, .enabled(if: KMS.isAvailable, "no python3"))
struct KMSTests {
    private let place: Workplace
    private let server: KMSServer

    init() throws {
        place = try Workplace()
        server = try KMSServer()
    }

    private func run(_ kms: KMS, _ arguments: String, _ more: String = "", stdin: Data = Data()) throws -> Output {
        try place.shell(
            """
            export \(server.environment) \(kms.key)=pushcrypt PUSHCRYPT_WRAP_COMMAND='\(kms.script)' \(more)
            \(arguments)
            """, stdin: stdin)
    }

    @Test("a keyset is created, rotated, renamed and used", arguments: KMS.installed)
    func use(_ kms: KMS) throws {
        let created = try run(kms, "\"$PUSHCRYPT\" keys create Keys/push --kind shared --at \(Workplace.newYear)")
        #expect(created.exit == 0, "\(created)")
        let rotated = try run(
            kms, "\"$PUSHCRYPT\" rotate Keys/push --at 2026-03-25T00:00:00Z && mv Keys/push.keyset Keys/new.keyset")
        #expect(rotated.exit == 0 && rotated.text.contains("added key"), "\(rotated)")
        let options = "Keys/new --device d --topic \(Workplace.topic) --at 2026-03-25T00:00:00Z"
        let sealed = try run(kms, "\"$PUSHCRYPT\" seal --to \(options)", stdin: Workplace.inner)
        let opened = try run(kms, "\"$PUSHCRYPT\" open --keys \(options)", stdin: sealed.stdout)
        #expect(opened.isSuccess && opened.payload == Workplace.inner, "\(opened)")
    }

    @Test(
        "another context, another key, an unknown key and a server that is away are refused with the service's reason",
        arguments: KMS.installed)
    func refused(_ kms: KMS) throws {
        let created = try run(kms, "\"$PUSHCRYPT\" keys create Keys/push --kind sender")
        #expect(created.exit == 0, "\(created)")
        let export = "\"$PUSHCRYPT\" keys export Keys/push"
        for (more, reason) in [
            ("\(kms.context)=keyset=other", "InvalidCiphertext"), ("\(kms.key)=other", "InvalidCiphertext"),
            ("\(kms.key)=none", "NotFound"), ("\(kms.address)=http://127.0.0.1:1", ""),
        ] {
            let output = try run(kms, export, more)
            #expect(output.exit == 65 && output.stdout.isEmpty, "\(more): \(output)")
            let named = reason.isEmpty || output.stderr.contains(reason)
            #expect(named && !output.stderr.contains("Traceback"), "\(more): \(output)")
        }
        #expect(try run(kms, export).isSuccess)
    }
}

enum KMS: String, CaseIterable, CustomTestStringConvertible {
    case aws = "aws-kms"
    case vault = "vault-transit"

    fileprivate static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let isAvailable = has("python3")
    /// The client of AWS isn't on every machine.
    static let installed = allCases.filter { $0 != .aws || has("aws") }

    private static func has(_ program: String) -> Bool {
        (try? ChildProcess(executable: "/bin/sh", arguments: ["-c", "PATH=/usr/bin:/bin; command -v \(program)"]).run())
            == .exit(0)
    }

    var testDescription: String { rawValue }
    var script: String { Self.repository.appendingPathComponent("Examples/wrap-commands/\(rawValue)").path }
    // The variables of the settings.
    var key: String { self == .aws ? "KMS_KEY" : "VAULT_KEY" }
    var context: String { self == .aws ? "KMS_CONTEXT" : "VAULT_CONTEXT" }
    var address: String { self == .aws ? "AWS_ENDPOINT_URL" : "VAULT_ADDR" }
}

/// Has the keys `pushcrypt` and `other`, and ends with the tests.
private final class KMSServer {
    private let process: RunningProcess
    private let socket: FileHandle
    private let port: String

    init() throws {
        let (own, child) = try ChildProcess.socketPair()
        socket = FileHandle(fileDescriptor: own, closeOnDealloc: true)
        defer { close(child) }
        process = try ChildProcess(
            executable: "/usr/bin/env",
            arguments: [
                "python3", KMS.repository.appendingPathComponent("Tests/wrap-commands/kms.py").path, "pushcrypt",
                "other",
            ],
            stdinAndStdout: child
        ).start()
        var line = Data()
        while line.last != UInt8(ascii: "\n") { line += try #require(try socket.read(upToCount: 1)) }
        port = String(decoding: line.dropLast(), as: UTF8.self)
    }

    /// Of the clients of both services.
    var environment: String {
        let address = "http://127.0.0.1:\(port)"
        return "AWS_ENDPOINT_URL=\(address) AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b "
            + "AWS_DEFAULT_REGION=eu-central-1 AWS_MAX_ATTEMPTS=1 VAULT_ADDR=\(address) VAULT_TOKEN=s.right"
    }
}
