import BenchmarkSupport
import Foundation
import PushCryptCore

/// Lines for `pushcrypt seal --batch`. For suites 1 and 2 each line has a recipient (a thousand keys, repeated). For
/// suite 4 each line has a device of the master, which is written to a file.
struct BatchInput {
    private static let keyCount = 1_000

    private let suite: Suite
    private let count: Int
    private let keyFile: String

    init(suite: String, count: String, keyFile: String) throws {
        guard let suite = UInt8(suite).flatMap(Suite.init(rawValue:)), let count = Int(count) else {
            throw UsageError()
        }
        (self.suite, self.count, self.keyFile) = (suite, count, keyFile)
    }

    func write() throws {
        let heads = suite == .shared ? try deviceHeads() : try recipientHeads()
        let rest = Array(#","payload":"#.utf8) + TestMessage.payload + Array("}\n".utf8)
        var lines = [UInt8]()
        for index in 0..<count {
            lines += heads(index) + rest
            if lines.count > 1 << 20 || index == count - 1 {
                try FileHandle.standardOutput.write(contentsOf: Data(lines))
                lines.removeAll(keepingCapacity: true)
            }
        }
    }

    private func recipientHeads() throws -> (Int) -> [UInt8] {
        let records = try (0..<min(count, Self.keyCount)).map { _ in
            Array(#"{"to":"#.utf8) + (try TestKeys(suite: suite).publicJWK())
        }
        return { index in records[index % records.count] }
    }

    private func deviceHeads() throws -> (Int) -> [UInt8] {
        // The master is a secret: the tool refuses its file if other users can open it.
        let master = Data(try TestKeys(suite: suite).publicJWK())
        guard FileManager.default.createFile(atPath: keyFile, contents: master, attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: keyFile]) }
        return { index in Array(#"{"device":"device-\#(index)""#.utf8) }
    }
}
