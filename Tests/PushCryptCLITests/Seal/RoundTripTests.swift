import Foundation
import PushCryptCore
import Testing

@Suite("seal, then open", .ownThreads)
struct RoundTripTests {
    enum Keys: String, CaseIterable, Sendable {
        case p256, p256PSK, x25519, x25519PSK, xWing, xWingPSK, shared, device

        /// Those that this machine's OpenSSL has.
        static let available = allCases.filter {
            ![.xWing, .xWingPSK].contains($0) || PushCryptCore.Suite.xWing.isAvailable
        }
    }

    /// The origin of the sender's and the recipient's keys.
    enum Source: String, CaseIterable, Sendable {
        case keystores, files
    }

    @Test("open restores every byte that seal read", arguments: Keys.available, Source.allCases)
    func roundTrip(_ keys: Keys, _ source: Source) throws {
        for isSigned in [false, true] {
            let place = try Workplace()
            let (to, from) = try place.prepare(keys, source)
            let (sign, trust) = try isSigned ? place.prepareSender(source) : ([], [])
            let sealed = try place.run(
                ["seal", "--to", to, "--topic", Workplace.topic, "--at", Workplace.now] + device(keys, source)
                    + (keys == .shared ? ["--bare"] : []) + sign,
                stdin: Workplace.inner)
            #expect(sealed.isSuccess, "\(sealed)")
            #expect((try Payload.string("pushcrypt.skid", of: sealed.payload) != nil) == isSigned)
            #expect(!sealed.text.contains("All clear"))
            let opened = try place.run(
                ["open", "--keys", from, "--topic", Workplace.topic, "--at", Workplace.now]
                    + device(keys, source) + trust,
                stdin: sealed.stdout)
            #expect(opened.isSuccess, "\(opened)")
            #expect(opened.payload == Workplace.inner)
        }
    }

    @Test(
        "open restores numbers, order, white space and unknown members",
        arguments: [
            "  {\n  \"aps\" : {\"alert\" : \"x\"},\r\n\t\"n\" : [1.0e+2, -0, 12345678901234567890.123] }\n",
            #"{"aps":{"alert":{"title":"👩‍👩‍👧 שלום","body":"e\u0301 \ud83d\ude00 \/"}},"":""}"#,
        ])
    func verbatim(_ json: String) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        let sealed = try place.sealed(to: "Keys/ios", payload: Data(json.utf8))
        let opened = try place.open(keys: "Keys/ios", payload: sealed)
        #expect(opened.isSuccess, "\(opened)")
        #expect(opened.text == (json.hasSuffix("\n") ? json : json + "\n"))
    }

    private func device(_ keys: Keys, _ source: Source) -> [String] {
        keys == .device && source == .keystores ? ["--device", "phone-1"] : []
    }
}

extension Workplace {
    /// Creates the keys and returns the values of `--to` and `--keys`.
    fileprivate func prepare(
        _ keys: RoundTripTests.Keys, _ source: RoundTripTests.Source
    ) throws -> (to: String, from: String) {
        switch keys {
        case .p256: try create("Keys/ios", "recipient")
        case .p256PSK: try create("Keys/ios", "recipient", "--psk")
        case .x25519: try create("Keys/ios", "recipient", "--suite", "x25519")
        case .x25519PSK: try create("Keys/ios", "recipient", "--suite", "x25519", "--psk")
        case .xWing: try create("Keys/ios", "recipient", "--suite", "xwing")
        case .xWingPSK: try create("Keys/ios", "recipient", "--suite", "xwing", "--psk")
        case .shared, .device: try create("Keys/ios", "shared")
        }
        guard source == .files else { return ("Keys/ios", "Keys/ios") }
        let file = "private.json"
        try write(privateKeys("Keys/ios"), to: file)
        switch keys {
        case .p256, .x25519, .xWing: try export("Keys/ios", to: "to.json")
        case .p256PSK, .x25519PSK, .xWingPSK: try export("Keys/ios", to: "to.json", "--registration")
        case .shared: return (file, file)
        case .device:
            try export("Keys/ios", to: "to.json", "--device", "phone-1")
            return ("to.json", "to.json")
        }
        return ("to.json", file)
    }

    fileprivate func prepareSender(_ source: RoundTripTests.Source) throws -> (sign: [String], trust: [String]) {
        try create("Keys/push", "sender")
        guard source == .files else { return (["--sign-with", "Keys/push"], ["--trust", "Keys/push"]) }
        try export("Keys/push", to: "senders.json")
        try write(privateKeys("Keys/push"), to: "sender.json")
        return (["--sign-with", "sender.json"], ["--trust", "senders.json"])
    }
}
