import Foundation
import PushCryptCore
import Testing

/// A workplace after a rotation: keys.json and senders.json contain an old key, retired a month ago, and the primary.
struct RotatedPlace {
    static let command = [
        "reseal", "--topic", Workplace.topic, "--at", Workplace.now, "--errors", "errors.jsonl", "--keys",
    ]
    /// The same command for a shell.
    static let script = (["\"$PUSHCRYPT\""] + command).joined(separator: " ")

    let place: Workplace

    init() throws {
        place = try Workplace()
        for name in ["old", "new"] {
            try place.create("Keys/\(name)", "shared")
            try place.create("Keys/\(name)-sender", "sender")
        }
        try writeSet(["old", "new"], to: "keys.json")
        try writeSet(["old-sender", "new-sender"], to: "senders.json")
    }

    /// Merges the private keys of two keysets.
    func writeSet(_ names: [String], to file: String) throws {
        let keys = try names.map { name in
            let keys = try Payload.member("keys", of: try place.privateKeys("Keys/\(name)")) as? [[String: String]]
            return try #require(keys?.first)
        }
        let change = "2026-02-01T00:00:00Z"
        let lifecycles = [["activatesAt": "2026-01-01T00:00:00Z", "retiresAt": change], ["activatesAt": change]]
        let members = Dictionary(uniqueKeysWithValues: zip(keys.compactMap { $0["kid"] }, lifecycles))
        let set: [String: Any] = ["keys": keys, "pushcrypt": ["seq": 2, "keys": members] as [String: Any]]
        try place.write(try JSONSerialization.data(withJSONObject: set), to: file)
    }

    /// The outer payload of an alert with this body.
    func payload(
        _ body: String, to key: String = "old", device: String? = nil, by sender: String? = nil
    ) throws -> String {
        let push = place.sealedByLibrary(
            to: "Keys/\(key)", device: device, by: sender.map { "Keys/\($0)" }, at: UnixTime(1_772_355_600),
            payload: Data(#"{"aps":{"alert":"\#(body)"}}"#.utf8))
        return String(decoding: try #require(push), as: UTF8.self)
    }

    func reseal(_ lines: Data, keys: String = "keys.json", _ options: String...) throws -> Output {
        try place.run(Self.command + [keys] + options, stdin: lines)
    }

    func reseal(_ lines: [String], _ options: String...) throws -> Output {
        let stdin = Data(lines.map { $0 + "\n" }.joined().utf8)
        return try place.run(Self.command + ["keys.json"] + options, stdin: stdin)
    }

    /// The alert of a line, opened with only the new keys.
    func opened(_ line: String, by sender: String? = nil) throws -> String? {
        let line = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let payload = try JSONSerialization.data(withJSONObject: try #require(line["payload"]))
        var command = ["open", "--keys", "Keys/new", "--topic", Workplace.topic, "--at", Workplace.now]
        command += (line["device"] as? String).map { ["--device", $0] } ?? []
        command += sender.map { ["--trust", "Keys/\($0)"] } ?? []
        let output = try place.run(command, stdin: payload)
        try #require(output.isSuccess, "\(output)")
        return try Payload.string("aps.alert", of: output.payload)
    }
}

extension String {
    /// The line with stars instead of the values that resealing changes.
    var masked: String {
        replacing(/"(kid|sealed|skid)":"[A-Za-z0-9_-]+"/) { match in "\"\(match.1)\":\"*\"" }
    }

    var linesWithNewline: [String] {
        split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}
