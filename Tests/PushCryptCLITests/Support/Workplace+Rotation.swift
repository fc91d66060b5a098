import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@testable import pushcrypt

/// A key as `keys list --json` prints it.
struct ListedKey {
    private let members: [String: Any]

    init(_ members: [String: Any]) {
        self.members = members
    }

    var kid: String { members["kid"] as? String ?? "" }
    var state: String { members["state"] as? String ?? "" }

    subscript(name: String) -> String? { members[name] as? String }
}

extension Workplace {
    /// The creation time of the rotation tests' keysets. Their first key retires on 1 April.
    static let newYear = "2026-01-01T00:00:00Z"

    @discardableResult
    func createAtNewYear(_ path: String, _ kind: String = "shared", _ options: String...) throws -> String {
        try create(path, kind, options, at: Self.newYear)
    }

    /// The rows of `keys list --json`, without a start of the tool.
    func keys(_ path: String, at time: String) throws -> [ListedKey] {
        let view = try KeysetView(folder.file(path).path, at: #require(UnixTime(argument: time)))
        let rows = try JSONSerialization.jsonObject(with: JSONEncoder().encode(view.rows)) as? [[String: Any]] ?? []
        return rows.map(ListedKey.init)
    }

    func states(_ path: String, at time: String) throws -> [String] {
        try keys(path, at: time).map(\.state)
    }

    /// Runs `rotate --json` and returns the plan of its one keyset.
    func rotate(_ path: String, at time: String, _ options: String...) throws -> Plan {
        let output = try run(["rotate", path, "--json", "--at", time] + options)
        return Plan(exit: output.exit, members: try output.object(), stderr: output.stderr)
    }

    struct Plan {
        let exit: Int32?
        let members: [String: Any]
        let stderr: String

        func steps(_ name: String) -> [[String: Any]] { members[name] as? [[String: Any]] ?? [] }
        var done: [String] { steps("done").compactMap { $0["step"] as? String } }
        var due: [String] { steps("due").compactMap { $0["step"] as? String } }
        var blocked: [String] { steps("blocked").compactMap { $0["step"] as? String } }
        var next: [String: Any]? { members["next"] as? [String: Any] }
    }

    /// Seals `inner` and returns the outer payload.
    func sealed(to path: String, at time: String, device: String? = nil) throws -> Data {
        if let push = try sealedByLibrary(to: path, device: device, at: #require(UnixTime(argument: time))) {
            return push
        }
        let output = try run(
            ["seal", "--to", path, "--topic", Self.topic, "--at", time]
                + (device.map { ["--device", $0] } ?? ["--bare"]),
            stdin: Self.inner)
        try #require(output.isSuccess, "\(output)")
        return output.payload
    }

    /// Opens a payload and returns `opened` or the failure class.
    func opening(_ payload: Data, with path: String, at time: String) throws -> String {
        let output = try run(["open", "--keys", path, "--topic", Self.topic, "--at", time], stdin: payload)
        if output.isSuccess, output.payload == Self.inner { return "opened" }
        return try Payload.string("pushcrypt.reason", of: output.payload) ?? "\(output)"
    }
}
