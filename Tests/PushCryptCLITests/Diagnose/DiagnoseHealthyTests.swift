import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptNotifications
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// Nothing is found where nothing is wrong.
@Suite("diagnose: healthy pushes", .ownThreads)
struct DiagnoseHealthyTests {
    @Test(
        "a push that is restored has no finding",
        arguments: [Suite.p256, .x25519] + (Suite.xWing.isAvailable ? [.xWing] : []), [true, false])
    func healthy(_ suite: Suite, withPSK: Bool) async throws {
        let record = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
        let always = KeyLifecycle(activatesAt: UnixTime(0))
        let published = try Keyset([Keyset.Entry(record, always)]).publicKeyset(keepingPSK: false)
        for isSigned in [true, false] {
            let senders: SenderTrust = isSigned ? .pinned(try TrustedSenders(published)) : .unsigned
            let app = try await InstalledApp(.init(suite: suite, withPSK: withPSK, senders: senders))
            let push = try app.seal(by: isSigned ? SenderKey(Keyset.Entry(record, always)) : nil)
            await app.succeed(push)
            try app.writeReport()
            try ProjectFiles.healthy.write(to: app.place)
            let headers = Data(
                #"{"apns-topic":"com.example.app","apns-push-type":"alert","apns-priority":10,":status":200}"#.utf8)
            try app.place.write(Data(published.jwkSet(withHistory: false)), to: "senders.json")
            var inputs = [
                "--topic", InstalledApp.topic, "--keys", try app.keyFile(), "--registration",
                try app.write(app.record(), to: "record.json"), "--report", "report.json", "--app", "Project",
                "--headers",
                try app.write(headers, to: "headers.json"),
            ]
            if isSigned { inputs += ["--trust", "senders.json"] }
            let diagnosed = try Diagnosed(app.place, push, inputs, at: app.clock.time)
            #expect(diagnosed.found.isEmpty, "\(diagnosed.text)")
            #expect(diagnosed.text.hasPrefix("Nothing wrong was found in what was given."))
            #expect(
                diagnosed.text.contains("\npost-quantum: \(suite == .xWing ? "yes, X-Wing" : "no, ")"),
                "\(diagnosed.text)")
            // Each input alone, too. A record alone doesn't say whether its key has a psk.
            for index in stride(from: 0, to: inputs.count, by: 2) {
                let one = try Diagnosed(app.place, push, Array(inputs[index...index + 1]), at: app.clock.time)
                let isUnknown = inputs[index] == "--registration" && !withPSK
                #expect(one.found.map(\.name) == (isUnknown ? ["registration-without-psk"] : []), "\(one.text)")
            }
        }
    }

    @Test(
        "a push of every padding is healthy without keys", arguments: [PaddingPolicy.none, .limit, .multiple(of: 128)])
    func padding(_ padding: PaddingPolicy) async throws {
        let app = try await InstalledApp()
        let push = try app.seal(options: .init(padding: padding))
        await app.succeed(push)
        #expect(try app.diagnose(push).found.isEmpty)
    }

    @Test("with only a payload, the output says what else would show more")
    func notChecked() async throws {
        let app = try await InstalledApp()
        let diagnosed = try app.diagnose(app.seal())
        #expect(diagnosed.found.isEmpty)
        for option in ["--topic", "--headers", "--registration", "--report", "--trust", "--keys", "--app"] {
            #expect(diagnosed.text.contains("  \(option) "), "\(diagnosed.text)")
        }
    }

    @Test("a failure before the last restored push is past")
    func past() async throws {
        let app = try await InstalledApp()
        let stranger = try await InstalledApp()
        await app.fail(try stranger.seal())
        app.clock.advance(by: .seconds(60))
        let push = try app.seal()
        await app.succeed(push)
        try app.writeReport()
        #expect(try app.diagnose(push, "--report", "report.json").found.isEmpty)
    }

    @Test("an input that isn't what its option names is refused with one line")
    func unreadable() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        try app.place.write(Data("[]".utf8), to: "bad.json")
        for option in ["--report", "--headers", "--keys", "--trust"] {
            let output = try app.place.run("diagnose", option, "bad.json", stdin: push)
            #expect(output.exit == 65 && output.hasOneLineOnStderr && output.stdout.isEmpty, "\(output)")
        }
        let missing = try app.place.run("diagnose", "--report", "none.json", stdin: push)
        #expect(missing.exit == 66 && missing.hasOneLineOnStderr)
        #expect(try app.place.run("diagnose", "--pins", "bad.json", stdin: push).exit == 64)
    }
}
