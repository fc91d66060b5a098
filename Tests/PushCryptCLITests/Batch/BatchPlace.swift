import Foundation
import PushCryptTestSupport
import Testing

/// A workplace with the keys of the published vectors, which needs no run of the tool.
struct BatchPlace {
    let place: Workplace

    /// The records by name: `p256`, `x25519 psk`, `shared`, ...
    private static let keys = Result { try Vectors.loadOwn("pushcrypt-v1.json", as: KeyRecords.self).keys }

    private struct KeyRecords: Decodable {
        let keys: [String: [String: String]]
    }

    /// `fleet.json` is a shared key; `devices.json` contains private keys of suites 1 and 2.
    init() throws {
        place = try Workplace()
        try place.write(Data(Self.jwk("shared").utf8), to: "fleet.json")
        let names = ["p256", "p256 psk", "x25519", "x25519 psk"]
        let lifecycles = try names.map { name in
            let psk = try Self.record(name)["psk"] == nil ? "" : #","psk":true"#
            return #""\#(try Self.kid(name))":{"activatesAt":"2026-01-01T00:00:00Z"\#(psk)}"#
        }
        let keys = try names.map { try Self.jwk($0) }.joined(separator: ",")
        let set = #"{"keys":[\#(keys)],"pushcrypt":{"seq":1,"keys":{\#(lifecycles.joined(separator: ","))}}}"#
        try place.write(Data(set.utf8), to: "devices.json")
    }

    private static func record(_ name: String) throws -> [String: String] { try #require(try keys.get()[name]) }

    static func kid(_ name: String) throws -> String { try #require(try record(name)["kid"]) }

    /// - Parameter isPublic: whether to omit the private key, as in an app's registration.
    static func jwk(_ name: String, isPublic: Bool = false) throws -> String {
        let members = try record(name).filter { !isPublic || $0.key != "d" }.map { #""\#($0.key)":"\#($0.value)""# }
        return "{\(members.sorted().joined(separator: ","))}"
    }

    static func registration(_ name: String) throws -> String { try jwk(name, isPublic: true) }

    static let seal = ["seal", "--batch", "--topic", Workplace.topic, "--at", Workplace.now]
    static let open = ["open", "--batch", "--topic", Workplace.topic, "--at", Workplace.now]
    /// The command to seal a batch to `fleet.json`, for a shell.
    static let sealScript = (["\"$PUSHCRYPT\""] + seal + ["--to fleet.json"]).joined(separator: " ")

    func seal(_ lines: [String], _ options: String...) throws -> Output {
        try place.run(Self.seal + options, stdin: Self.data(lines))
    }

    func open(_ lines: [String], _ options: String...) throws -> Output {
        try place.run(Self.open + options, stdin: Self.data(lines))
    }

    static func data(_ lines: [String]) -> Data { Data(lines.map { $0 + "\n" }.joined().utf8) }

    /// A line for the device with this number.
    static func line(_ number: Int, filling: String = "") -> String {
        #"{"n":\#(number),"device":"d\#(number)","payload":{"aps":{"alert":"x\#(filling)"}}}"#
    }

    /// The numbers of the lines, in order.
    static func numbers(_ text: Data) -> [Int] {
        text.split(separator: UInt8(ascii: "\n")).compactMap { line in
            Int(String(decoding: line.dropFirst(5).prefix { $0 != UInt8(ascii: ",") }, as: UTF8.self))
        }
    }

    /// The message ids of the lines.
    static func ids(_ output: Output) -> [String] {
        output.text.matches(of: /"pushcrypt":\{"line":\d+,"id":"([^"]+)"/).map { String($0.1) }
    }

    /// Makes the directory `recipients.db` of these keys.
    func importRecipients(_ names: [String]) throws {
        let records = try names.map {
            try ["shared", "device"].contains($0) ? Self.jwk($0) : Self.registration($0)
        }
        try place.write(Self.data(records), to: "recipients.jsonl", mode: 0o600)
        let imported = try place.run("recipients", "import", "recipients.jsonl", "--into", "recipients.db")
        try #require(imported.isSuccess, "\(imported)")
    }
}

/// A line of the errors file.
struct RefusedLine: Decodable {
    let line: Int
    let reason: String
    let message: String
    let input: String?
    let inputBase64: Data?
}

extension Workplace {
    func refusedLines(_ file: String = "errors.jsonl") throws -> [RefusedLine] {
        try read(file).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
            .map { try JSONDecoder().decode(RefusedLine.self, from: Data($0)) }
    }
}

/// The message of an interrupted run of `seal --batch` or `reseal`.
struct BatchEnding {
    let reason: String
    /// The line to continue with.
    let next: Int
    let lines: Int
    let out: Int
    let refused: Int

    init(_ words: String) throws {
        let next = /pushcrypt: (.+); continue with (?:--resume-from|line) (\d+); (.+\r?\n)/
        let counts = /(\d+) lines?: (\d+) (?:sealed|resealed, 0 unchanged), (\d+) in errors.jsonl\r?\n/
        let parts = try #require(words.wholeMatch(of: next), "\(words)")
        let match = try #require(parts.3.wholeMatch(of: counts), "\(words)")
        reason = String(parts.1)
        (self.next, lines) = (try #require(Int(parts.2)), try #require(Int(match.1)))
        (out, refused) = (try #require(Int(match.2)), try #require(Int(match.3)))
    }
}
