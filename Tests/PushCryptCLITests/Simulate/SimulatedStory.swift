import Foundation
import Testing

/// Runs of `simulate` with several pushes.
struct SimulatedStory {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.create("phone", "recipient", "--psk")
    }

    /// A sealed push, as a line of the input.
    func push(_ payload: String = #"{"aps":{"alert":{"title":"Results"}}}"#, _ options: String...) throws -> String {
        let sealed =
            options.isEmpty
            ? try place.sealed(to: "phone", payload: Data(payload.utf8))
            : try place.run(
                ["seal", "--to", "phone", "--topic", Workplace.topic, "--at", Workplace.now] + options,
                stdin: Data(payload.utf8)
            ).stdout
        return String(decoding: sealed, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    func run(_ lines: [String], _ options: [String] = []) throws -> Output {
        let time = options.contains("--at") ? [] : ["--at", Workplace.now]
        return try place.run(
            ["simulate", "--keys", "phone", "--topic", Workplace.topic] + time + options,
            stdin: Data(lines.joined(separator: "\n").utf8))
    }

    /// The objects of `--json`, by line. The command must end with this status.
    func objects(_ lines: [String], _ options: [String] = [], exit: Int32 = 0) throws -> [[String: Any]] {
        let output = try run(lines, options + ["--json"])
        #expect(output.exit == exit, "\(output)")
        return try output.text.split(separator: "\n").map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }
}

extension [String: Any] {
    func texts(_ name: String) -> [String]? { self[name] as? [String] }
    func text(_ name: String) -> String? { self[name] as? String }
    func object(_ name: String) -> [String: Any] { self[name] as? [String: Any] ?? [:] }
}
