import ArgumentParser
import BackendTestSupport
import Foundation
import Logging
import PushBackend
import PushCryptSender
import Testing

@testable import apns_stand_in
@testable import push_service
@testable import rehearsal

@Suite("options of the programs") struct ProgramTests {
    private static let service = [
        "--topic", "com.example.app", "--registration-host", "push.example.com", "--database", "d", "--signing-keys",
        "k",
        "--provider-key", "p", "--provider-key-id", "K", "--team-id", "T", "--user-token-key", "u", "--service-tokens",
        "t",
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

    @Test("a set of senders without the app's pins is refused")
    func pins() {
        #expect(refusal(PushService.self, Self.service + ["--senders", "s"])?.contains("--pins") == true)
        #expect(refusal(PushService.self, Self.service + ["--senders", "s", "--pins", "p"]) == nil)
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

    @Test("a rehearsal with no pushes, phones or clients is refused")
    func counts() {
        let tools = ["--pushcrypt", "p", "--service", "s"]
        for arguments in [
            ["demo", "--pushes", "0"], ["speed", "--phones", "0"], ["speed", "--clients", "0"],
            ["faults", "--pushes", "499"],
        ] { #expect(refusal(Rehearsal.self, arguments + tools) != nil, "\(arguments)") }
    }

    @Test("a rehearsal's folder that isn't empty is refused, and the message names it")
    func keep() throws {
        let folder = try TemporaryFolder()
        let arguments = ["demo", "--pushcrypt", "p", "--service", "s", "--keep", folder.path]
        #expect(refusal(Rehearsal.self, arguments) == nil)
        try folder.write(Data(), to: "service.log")
        #expect(refusal(Rehearsal.self, arguments)?.contains("--keep \(folder.path)") == true)
    }

    @Test("a program without a slash is looked up in PATH, and its exit status is returned")
    func path() async throws {
        let child = try ChildProcess("sh", ["-c", "exit 7"], log: .nullDevice)
        #expect(await child.ended == 7)
    }

    @Test("a publisher's keyset as signing keys is refused, and the message says which kind is needed")
    func publisherKeyset() throws {
        var program = try PushService.parse(Self.service)
        let publisher = SigningKeys(isPublisher: true)
        program.signingKeys = publisher.path
        let error = #expect(throws: ConfigurationError.self) { try program.keysetWatcher(Logger(label: "tests")) }
        #expect(error?.option == "signing-keys \(publisher.path)")
        #expect(
            error?.reason.hasPrefix("this is a keyset of publisher keys; a keyset of sender keys is needed") == true)
        let sender = SigningKeys()
        program.signingKeys = sender.path
        _ = try program.keysetWatcher(Logger(label: "tests"))
    }

    @Test("a padding of another form is refused, and the message names the option", arguments: ["0", "4097", "much"])
    func padding(padding: String) {
        #expect(refusal(PushService.self, Self.service + ["--pad", padding])?.contains("--pad") == true)
        for valid in ["1", "4096", "max", "none"] {
            #expect(refusal(PushService.self, Self.service + ["--pad", valid]) == nil)
        }
    }

    @Test("the options for the placeholder, the padding and the exposed members reach the sealer")
    func visible() throws {
        let parts = try PushService.parse(
            Self.service + [
                "--placeholder-title", "Clinic", "--placeholder-body-loc-key", "NEW", "--pad", "max", "--expose",
                "badge",
            ]
        ).visible.parts
        #expect(parts.placeholder == Placeholder(title: "Clinic", bodyLocKey: "NEW"))
        #expect(parts.padding == .limit && parts.exposed == ["badge"])
        let standard = try PushService.parse(Self.service).visible.parts
        #expect(standard.placeholder == .standard && standard.padding == .multiple(of: 128) && standard.exposed == [])
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
            try? FileManager.default.removeItem(atPath: data)
            try FileManager.default.createSymbolicLink(atPath: data, withDestinationPath: version)
        }
        try link(to: "..1")
        let path = "\(mount.path)/senders"
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "..data/senders")
        var program = try PushService.parse(Self.service)
        program.signingKeys = path
        let watcher = try program.keysetWatcher(Logger(label: "tests"))
        #expect(watcher.status.sequence == 1)
        keys.add()
        try link(to: "..2")
        watcher.checkNow()
        #expect(watcher.status.sequence == 2 && watcher.status.isHealthy)
    }
}
