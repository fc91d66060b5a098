import ArgumentParser
import BackendTestSupport
import Foundation
import Logging
import PushCryptSender
import Testing

@testable import PushBackend
@testable import apns_stand_in

@Suite("options of the programs") struct ProgramTests {
    private static let service = [
        "--topic", "com.example.app", "--registration-host", "push.example.com", "--database", "d", "--signing-keys",
        "k", "--provider-key", "p", "--provider-key-id", "K", "--team-id", "T", "--user-token-key", "u",
        "--service-tokens", "t",
    ]
    private static let standIn = [
        "--provider-key", "p", "--provider-key-id", "K", "--team-id", "T", "--certificate", "c",
    ]

    private func refusal<Program: ParsableCommand>(_ program: Program.Type, _ arguments: [String]) -> String? {
        do { _ = try program.parseAsRoot(arguments) } catch { return program.fullMessage(for: error) }
        return nil
    }

    @Test("a port above 65535 is refused, and the message names the option and the range", arguments: ["65536", "-1"])
    func port(port: String) throws {
        for message in [
            refusal(PushService.self, Self.service + ["--port=\(port)"]),
            refusal(StandInCommand.self, Self.standIn + ["--port=\(port)"]),
        ] {
            let message = try #require(message)
            #expect(message.contains("--port") && message.contains("1 to 65535"))
        }
        #expect(refusal(PushService.self, Self.service + ["--port", "65535"]) == nil)
        #expect(refusal(StandInCommand.self, Self.standIn + ["--port", "0"]) == nil)
    }

    @Test("a log level that doesn't exist is refused, and the message names the option")
    func logLevel() {
        #expect(refusal(PushService.self, Self.service + ["--log-level", "loud"])?.contains("--log-level") == true)
    }

    @Test("a provider key and a certificate that can't be used stop the stand-in, and the error names option and path")
    func standInFiles() async throws {
        let folder = try TemporaryFolder()
        let key = try folder.write(Data("no key".utf8), to: "key.p8")
        for (key, certificate, option) in [
            (key, "c.pem", "--provider-key \(key)"),
            ("\(folder.path)/new.p8", "\(folder.path)/none/c.pem", "--certificate \(folder.path)/none/c.pem"),
        ] {
            let program = try StandInCommand.parse([
                "--provider-key", key, "--provider-key-id", "K", "--team-id", "T", "--certificate", certificate,
            ])
            let error = await #expect(throws: StandInCommand.Refused.self) { try await program.run() }
            #expect(error?.description.hasPrefix(option) == true)
        }
    }

    private func watcher(_ path: String) throws -> KeysetWatcher {
        var program = try PushService.parse(Self.service)
        program.signingKeys = path
        return try program.keysetWatcher(Logger(label: "tests"))
    }

    @Test("a publisher's keyset as signing keys is refused, and the message says which kind is needed")
    func publisherKeyset() throws {
        let publisher = SigningKeys(isPublisher: true)
        let error = #expect(throws: ConfigurationError.self) { try watcher(publisher.path) }
        #expect(error?.option == "signing-keys \(publisher.path)")
        #expect(error?.reason.contains("a keyset of sender keys is needed") == true)
    }

    @Test("a secret that is mounted as links is accepted, and an exchanged link loads the next keys")
    func mountedKeyset() throws {
        let keys = SigningKeys()
        let mount = try TemporaryFolder()
        let data = "\(mount.path)/..data"
        func link(to version: String) throws {
            let folder = "\(mount.path)/\(version)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try FileManager.default.copyItem(atPath: keys.path, toPath: "\(folder)/senders")
            if version == "..2" { try FileManager.default.removeItem(atPath: data) }
            try FileManager.default.createSymbolicLink(atPath: data, withDestinationPath: version)
        }
        try link(to: "..1")
        let path = "\(mount.path)/senders"
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "..data/senders")
        let watcher = try watcher(path)
        #expect(watcher.status.sequence == 1)
        keys.add()
        try link(to: "..2")
        watcher.checkNow()
        #expect(watcher.status.sequence == 2 && watcher.status.isHealthy)
    }
}
