import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@testable import pushcrypt

/// What is said where nothing is wrong, and about what wasn't checked.
@Suite("diagnose: the output", .ownThreads)
struct DiagnoseTextTests {
    @Test(
        "a push that is restored has no finding, with all inputs and with each alone",
        arguments: [Suite.p256, .x25519] + (Suite.xWing.isAvailable ? [.xWing] : []), [true, false])
    func healthy(_ suite: Suite, withPSK: Bool) async throws {
        let record = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
        let always = KeyLifecycle(activatesAt: UnixTime(0))
        let published = try Keyset([Keyset.Entry(record, always)]).publicKeyset(keepingPSK: false)
        let app = try await InstalledApp(
            .init(suite: suite, withPSK: withPSK, senders: .pinned(TrustedSenders(published))))
        let push = try app.seal(by: SenderKey(Keyset.Entry(record, always)))
        await app.succeed(push)
        try app.writeReport()
        try ProjectFolder().write(to: app.place)
        let headers = #"{"apns-topic":"com.example.app","apns-push-type":"alert","apns-priority":10,":status":200}"#
        let inputs = [
            "--topic", InstalledApp.topic, "--keys", try app.keyFile(), "--registration",
            try app.write(app.record(), to: "record.json"), "--report", "report.json", "--app", "Project", "--headers",
            try app.write(Data(headers.utf8), to: "headers.json"), "--trust",
            try app.write(Data(published.jwkSet(withHistory: false)), to: "senders.json"),
        ]
        let diagnosed = try Diagnosed(app.place, push, inputs, at: app.clock.time)
        #expect(
            diagnosed.found.isEmpty && diagnosed.text.contains("The push opens for com.example.app."),
            "\(diagnosed.text)")
        #expect(diagnosed.text.hasPrefix("Nothing wrong was found in what was given."))
        #expect(
            diagnosed.text.contains("\npost-quantum: \(suite == .xWing ? "yes, X-Wing" : "no, ")"), "\(diagnosed.text)")
        // A record alone doesn't say whether its key has a psk.
        for index in stride(from: 0, to: inputs.count, by: 2) {
            let one = try Diagnosed(app.place, push, Array(inputs[index...index + 1]), at: app.clock.time)
            let isUnknown = inputs[index] == "--registration" && !withPSK
            #expect(one.names == (isUnknown ? ["psk-differs"] : []) && one.errors == [], "\(one.text)")
        }
    }

    @Test("without a finding, the output says whether the push was opened, and which inputs can show more")
    func opening() async throws {
        let app = try await InstalledApp()
        // Only opening shows that it was sealed for another topic.
        let push = try app.seal(topic: "com.example.other")
        let record = try app.write(app.record(), to: "record.json")
        let diagnosed = try app.diagnose(push, "--registration", record, "--topic", InstalledApp.topic)
        #expect(diagnosed.found.isEmpty && diagnosed.text.contains("or sealed for another topic"), "\(diagnosed.text)")
        #expect(diagnosed.text.hasSuffix("To check more, give --headers, --report, --trust, --keys or --app.\n"))
    }

    @Test("in a terminal of 40 columns no line is longer, with an error and without one", arguments: [true, false])
    func narrow(hasError: Bool) async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        try app.place.write(hasError ? Payload.rebuilt(push) { $0["aps"] = nil } : push, to: "p.json")
        let output = try app.place.shell("COLUMNS=40 \"$PUSHCRYPT\" diagnose --at \(app.clock.time.seconds) < p.json")
        #expect(output.text.split(separator: "\n").allSatisfy { $0.count <= 40 }, "\(output)")
        #expect(output.text.contains(hasError ? "alert-missing" : "To check more"), "\(output)")
    }

    @Test("the help names each finding")
    func help() throws {
        let help = try Workplace().run("diagnose", "--help").text.filter { !$0.isWhitespace }
        for code in Finding.Code.allCases { #expect(help.contains(code.rawValue)) }
        #expect(Finding.Code.allCases.count <= 40)
    }

    @Test("an input that isn't what its option names is refused with one line")
    func unreadable() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        try app.place.write(Data("[]".utf8), to: "bad.json")
        for option in ["--report", "--headers", "--keys", "--trust"] {
            expectRefusal(try app.place.run("diagnose", option, "bad.json", stdin: push), 65)
        }
        expectRefusal(try app.place.run("diagnose", "--report", "none.json", stdin: push), 66)
    }

    @Test("encrypted keys are opened with the passphrase of the environment, and refused without it")
    func encrypted() throws {
        let place = try Workplace()
        try place.create("Keys/phone", "recipient")
        _ = try place.shell(
            "export PUSHCRYPT_PASSPHRASE='correct horse battery'\n"
                + "\"$PUSHCRYPT\" keys create Keys/safe --kind recipient --at \(Workplace.now)"
        )
        let push = try place.sealed(to: "Keys/phone")
        let options = ["diagnose", "--keys", "Keys/safe", "--topic", Workplace.topic, "--at", Workplace.now]
        let refused = try place.run(options, stdin: push)
        #expect(refused.exit == 64 && refused.stderr.contains("PUSHCRYPT_PASSPHRASE"), "\(refused)")
        try place.write(push, to: "push.json")
        let opened = try place.shell(
            "PUSHCRYPT_PASSPHRASE='correct horse battery' \"$PUSHCRYPT\" \(options.joined(separator: " ")) push.json")
        #expect(opened.exit == 65 && opened.text.contains("key-not-on-device"), "\(opened)")
    }
}
