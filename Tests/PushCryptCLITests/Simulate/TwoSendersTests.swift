import Foundation
import PushCryptTestSupport
import Testing

/// Two backends with keysets of their own send to one phone. Both have the phone's psk, so that each can compute the other's
/// campaign ids.
@Suite("simulate with two senders", .ownThreads) struct TwoSendersTests {
    private let phone: SimulatedPhone
    private var place: Workplace { phone.place }

    init() throws {
        phone = try SimulatedPhone()
        for sender in ["a", "b"] {
            try place.create(sender, "sender")
            try place.export(sender, to: "\(sender).jwks")
        }
    }

    private func push(by sender: String, _ options: String...) throws -> Data {
        let payload = Data(#"{"aps":{"alert":"by \#(sender)"}}"#.utf8)
        let output = try place.run(
            ["seal", "--to", "phone", "--topic", Workplace.topic, "--at", Workplace.now, "--sign-with", sender]
                + options,
            stdin: payload)
        #expect(output.isSuccess, "\(output)")
        return output.stdout
    }

    private func simulate(_ pushes: [Data]) throws -> [[String: Any]] {
        try phone.objects(pushes, ["--trust", "a.jwks", "--trust", "b.jwks"])
    }

    @Test(
        "a sender takes back another's campaign, before or after it: both are restored, and a note says that it has none"
    )
    func retraction() throws {
        let message = try push(by: "b", "--id-from", "alert-42")
        let retraction = try push(by: "a", "--retract-from", "alert-42")
        for pushes in [[message, retraction], [retraction, message]] {
            let shown = try simulate(pushes)
            #expect(shown.map { $0.text("outcome") } == ["restored", "restored"], "\(shown)")
            #expect(!"\(shown)".contains("takes back push"), "\(shown)")
            #expect("\(shown)".contains("got from this sender"), "\(shown)")
        }
        let own = try simulate([message, try push(by: "b", "--retract-from", "alert-42")])
        #expect("\(own)".contains("takes back push 1"), "\(own)")
    }

    @Test("each command opens the pushes of both senders, and of one only if the other isn't trusted")
    func commands() throws {
        let pushes = [try push(by: "a"), try push(by: "b")]
        for (sender, push) in zip(["a", "b"], pushes) {
            for command in [["open"], ["inspect", "--json"], ["diagnose"]] {
                let both =
                    command + [
                        "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now, "--trust", "a.jwks",
                    ]
                let opened = try place.run(both + ["--trust", "b.jwks"], stdin: push)
                #expect(opened.exit == 0, "\(command) \(opened)")
                #expect(try place.run(both, stdin: push).exit == (sender == "a" ? 0 : 65), "\(command)")
            }
        }
    }

    @Test(
        "--pins is given as often as --trust: fewer or more of them are a usage error",
        arguments: ["open", "inspect", "simulate"])
    func pins(_ command: String) throws {
        for options in [
            ["--trust", "a", "--trust", "b", "--pins", "p"], ["--trust", "a", "--pins", "p", "--pins", "q"],
        ] {
            let output = try place.run(
                [command, "--keys", "phone", "--topic", Workplace.topic] + options, stdin: Data())
            #expect(output.exit == 64 && output.stderr.contains("as many of both"), "\(output)")
        }
    }

    @Test("diagnose and open name a sender's key that two trusted sets have")
    func keyOfTwoSets() throws {
        let options = ["--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now]
        let twice = ["--trust", "a.jwks", "--trust", "a.jwks"]
        let found = try place.run(["diagnose", "--json"] + options + twice, stdin: push(by: "a"))
        #expect(found.exit == 65 && found.text.contains("a key that two sets"), "\(found)")
        let refused = try place.run(["open"] + options + twice, stdin: push(by: "a"))
        #expect(refused.exit == 65 && refused.stderr.contains("two files of --trust"), "\(refused)")
    }
}
