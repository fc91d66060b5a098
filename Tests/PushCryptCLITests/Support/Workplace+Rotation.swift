import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@testable import pushcrypt

/// A key of a keyset as its log says.
struct LoggedKey {
    let kid: String
    let state: String
    fileprivate let lifecycle: KeyLifecycle

    /// The time of `activatesAt` and the like.
    subscript(name: String) -> String? {
        KeysetChanges.Moment(rawValue: name).flatMap { lifecycle[keyPath: $0.path] }?.description
    }
}

extension Workplace {
    /// The creation time of the rotation tests' keysets. Their first key retires on 1 April.
    static let newYear = "2026-01-01T00:00:00Z"

    @discardableResult
    func createAtNewYear(_ path: String, _ kind: String = "shared", _ options: String...) throws -> String {
        try create(path, kind, options, at: Self.newYear)
    }

    /// The keys of a keyset in the order in which they were added, without a start of the tool.
    func keys(_ path: String, at time: String) throws -> [LoggedKey] {
        let (state, time) = (try log(path).state, try #require(UnixTime(argument: time)))
        return try state.keys.map { key in
            let text = try #require(state.timeline.state(of: key.kid, at: time))
            return LoggedKey(kid: "\(key.kid)", state: "\(text)", lifecycle: state.effective(key))
        }
    }

    func states(_ path: String, at time: String) throws -> [String] {
        try keys(path, at: time).map(\.state)
    }

    func log(_ path: String) throws -> KeysetLog {
        try KeysetRows(at: KeysetLocation(folder.file(path).path), .reading).log
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
}
