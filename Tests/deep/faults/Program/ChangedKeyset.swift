import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

/// A keyset on disk, which a change must replace as a whole or leave as it was.
final class ChangedKeyset {
    private let parent = FileManager.default.temporaryDirectory.appendingPathComponent("faults-" + UUID().uuidString)
    private let before: [String: Data]
    private var keyset: String { parent.path + "/Keys/app" }

    /// What is on disk after a change that failed.
    struct HalfWritten: Error {
        let files: [String]
        let failure: any Error
    }

    /// - Parameter type: of the keyset's only key; nil for a keyset that doesn't exist.
    init(_ type: KeyPairType?) throws {
        for name in ["Keys", "history"] {
            try FileManager.default.createDirectory(
                at: parent.appendingPathComponent(name), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        }
        if let type {
            _ = try Self.host(parent, at: Vectors.time).create(parent.path + "/Keys/app", .recipient, type: type)
        }
        before = try Self.files(in: parent)
    }

    deinit { try? FileManager.default.removeItem(at: parent) }

    func create(_ type: KeyPairType) throws -> Bool {
        try change(expecting: [type]) { try $0.create(keyset, .recipient, type: type).log }
    }

    /// Imports a key of Conformance/vectors.
    func importKey(_ jwk: [UInt8], _ types: [KeyPairType]) throws -> Bool {
        try change(expecting: types) { host in
            let imported = try ImportedKey.read(jwk, rawKind: nil, passphrase: nil)
            return try host.importKey(keyset, imported.entries[0].record).log
        }
    }

    func add(_ type: KeyPairType, _ types: [KeyPairType]) throws -> Bool {
        try change(expecting: types) { try $0.rotate(keyset, beginsNow: true, suite: type) }
    }

    func rotate(_ types: [KeyPairType]) throws -> Bool {
        try change(expecting: types, at: Vectors.time + 84 * 86_400) { try $0.rotate(keyset) }
    }

    private static func host(_ parent: URL, at time: UnixTime) -> KeystoreHost<FileStorage> {
        let histories = HistoryFolder(parent.path + "/history")
        let storage = FileStorage(histories: histories, servedFolder: nil) { _, _ in nil }
        return KeystoreHost(storage, name: "faults", who: "faults", clock: time)
    }

    private func change(
        expecting types: [KeyPairType], at time: UnixTime = Vectors.time,
        _ body: (KeystoreHost<FileStorage>) throws -> KeysetLog
    ) throws -> Bool {
        try restore()
        let log: KeysetLog
        do {
            log = try body(Self.host(parent, at: time))
        } catch {
            let files = try Self.files(in: parent)
            guard files == before else { throw HalfWritten(files: files.keys.sorted(), failure: error) }
            throw error
        }
        guard try Set(Self.files(in: parent).keys) == ["Keys/app.keyset", "history/\(log.state.id)"] else {
            return false
        }
        let entries = try Keyset(file: keyset + ".keyset").entries
        return entries.map(\.record.algorithm) == types.map(KeyAlgorithm.init)
            && entries.allSatisfy(\.record.isPrivateAsymmetric)
    }

    private func restore() throws {
        for name in try Self.files(in: parent).keys where before[name] == nil {
            try FileManager.default.removeItem(atPath: "\(parent.path)/\(name)")
        }
        for (name, content) in before {
            let path = "\(parent.path)/\(name)"
            guard
                FileManager.default.createFile(
                    atPath: path, contents: content, attributes: [.posixPermissions: 0o600])
            else { throw CocoaError(.fileWriteUnknown) }
        }
    }

    /// The files except those of locks.
    private static func files(in folder: URL) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where !name.hasSuffix("lock") {
            files[name] = try? Data(contentsOf: folder.appendingPathComponent(name))
        }
        return files
    }
}
