import Foundation
import Testing

/// A phone with the keyset `phone`, on which `simulate` shows pushes.
struct SimulatedPhone {
    static let png = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + [UInt8](repeating: 0, count: 20))

    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.create("phone", "recipient", "--psk")
    }

    func sealed(_ payload: String) throws -> Data { try place.sealed(to: "phone", payload: Data(payload.utf8)) }

    /// A sealed push with this alert.
    func sealed(alert: String) throws -> Data { try sealed(#"{"aps":{"alert":\#(alert)}}"#) }

    func run(_ input: Data, _ options: [String] = [], keys: String = "phone") throws -> Output {
        let time = options.contains("--at") ? [] : ["--at", Workplace.now]
        return try place.run(
            ["simulate", "--keys", keys, "--topic", Workplace.topic] + time + options, stdin: input)
    }

    static func lines(_ pushes: [Data]) -> Data {
        Data(pushes.map { $0.filter { $0 != UInt8(ascii: "\n") } }.joined(separator: [UInt8(ascii: "\n")]))
    }

    /// The object that `--json` prints for one push.
    func object(_ input: Data, _ options: String...) throws -> [String: Any] {
        try run(input, options + ["--json"]).object()
    }

    /// The objects of `--json`, by line. The command must end with this status.
    func objects(_ lines: [Data], _ options: [String] = [], exit: Int32 = 0) throws -> [[String: Any]] {
        let output = try run(Self.lines(lines), options + ["--json"])
        #expect(output.exit == exit, "\(output)")
        return try output.objects()
    }
}

extension [String: Any] {
    func texts(_ name: String) -> [String]? { self[name] as? [String] }
    func text(_ name: String) -> String? { self[name] as? String }
    func object(_ name: String) -> [String: Any] { self[name] as? [String: Any] ?? [:] }
    var verdict: String { text("verdict") ?? "" }
    var isRestored: Bool { self["restored"] as? Bool == true }
    /// A text of the notification that the phone with the extension shows.
    func shown(_ name: String) -> String? { object("after").text(name) }
}
