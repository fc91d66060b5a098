import PushCryptCore
import PushCryptTestSupport
import Testing

extension Push {
    private static let localized = #"{"aps":{"alert":{"title-loc-key":"T","loc-key":"B","loc-args":["\u00e9", "😀"]}}}"#
    private static let rich =
        #"{"aps":{"alert":"x","badge": 7 ,"sound":{"critical":1,"name":"a","volume":0.5},"thread-id":"é\/","#
        + #""content-available":1,"interruption-level":"passive","relevance-score":0.5},"x":1.10}"#

    static let all = [
        Push(description: "multiple of 128"), Push(description: "multiple of 1", padding: .multiple(1)),
        Push(description: "multiple of 1,000", padding: .multiple(1_000)),
        Push(description: "multiple beyond the limit", padding: .multiple(100_000)),
        Push(description: "limit", padding: .limit), Push(description: "not padded", padding: .none),
        Push(description: "lower limit", padding: .limit, limit: 1_001),
        Push(description: "lower limit, multiple", padding: .multiple(512), limit: 1_023),
        Push(description: "one second", expires: 1), Push(description: "hints", inner: rich),
        Push(
            description: "exposed", inner: rich,
            exposed: ["badge", "sound", "thread-id", "interruption-level", "relevance-score"]),
        Push(description: "exposed twice", inner: rich, exposed: ["badge", "content-available", "badge"]),
        Push(description: "localized", inner: localized, placeholder: .localized(title: "NEW_TITLE", body: "NEW_BODY")),
        Push(description: "escapes", placeholder: .literal(title: "\"é\" \\ / \n\u{1}\u{7f}\u{2028}", body: "😀")),
        Push(description: "spaces at the end", inner: "\t{\"aps\":{\"alert\":\"x\"}}\n"),
    ]
}

/// Each implementation opens what the other seals, and both write the same outer payload.
@Suite(.enabled(if: Python.isAvailable, Python.missing)) struct RoundTripTests {
    @Test("Python opens a push that Swift sealed", arguments: Push.all, Channel.all)
    func swiftSeals(push: Push, channel: Channel) throws {
        for backend in Backends.all {
            let payload = try push.seal(channel, backend.backend)
            let opened = try Outcome.python(payload, channel)
            #expect(opened.inner == push.inner, "\(backend)")
            #expect(try Outcome.swift(payload, channel, backend.backend) == opened, "\(backend)")
        }
    }

    @Test("Swift opens a push that Python sealed", arguments: Push.all, Channel.all)
    func pythonSeals(push: Push, channel: Channel) throws {
        let payload = Array(try #require(push.reference(channel).payload).utf8)
        let opened = try Outcome.python(payload, channel)
        #expect(opened.inner == push.inner)
        for backend in Backends.all {
            #expect(try Outcome.swift(payload, channel, backend.backend) == opened, "\(backend)")
            let own = try push.seal(channel, backend.backend)
            #expect(own.count == payload.count, "\(backend)")
            #expect(try Frame(own) == Frame(payload), "\(backend)")
        }
    }

    @Test(
        "Swift seals to a key that Python generated",
        arguments: [("p256", false), ("p256", true), ("x25519", false), ("x25519", true), ("oct", false)],
        Backends.all)
    func pythonsKey(kind: (name: String, psk: Bool), backend: NamedBackend) throws {
        let made = try Reference.ask(Request.Generate(kind: kind.name, psk: kind.psk))
        let channel = Channel(kind.name, try #require(made.private))
        #expect(made.public == channel.key.withoutPrivateKey)
        let payload = try Push(description: "").seal(channel, backend.backend)
        #expect(try Outcome.python(payload, channel).inner == ReferenceVectors.shared.inner)
        #expect(try Outcome.swift(payload, channel, backend.backend).inner == ReferenceVectors.shared.inner)
    }
}

/// Everything of an outer payload but the ciphertext: raw members by name.
private struct Frame: Equatable {
    let members: [String: String]

    init(_ payload: [UInt8]) throws {
        let root = try JSONText(payload).root
        var members: [String: String] = [:]
        for path in [[], ["aps"], ["aps", "alert"], ["pushcrypt"]] {
            let object = path.reduce(root as JSONValue?) { $0?[$1] }
            for member in try #require(object).members {
                let name = (path + [member.name]).joined(separator: ".")
                members[name] = String(decoding: member.value.rawBytes, as: UTF8.self)
            }
        }
        // The order of the placeholder's members is the writer's: they are compared one by one.
        for name in ["aps", "aps.alert", "pushcrypt"] { members[name] = nil }
        members["pushcrypt.sealed"] = members["pushcrypt.sealed"].map { "\($0.utf8.count) bytes" }
        self.members = members
    }
}
