import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

/// A keyset on disk, which a change must replace as a whole or leave as it was.
final class ChangedKeyset {
    private static let day: Int64 = 86_400
    private static let actor = Actor(name: "faults", reason: nil)
    private let parent = FileManager.default.temporaryDirectory.appendingPathComponent("faults-" + UUID().uuidString)
    private let store: KeysetStore
    private let before: [String: Data]

    /// What is on disk after a change that failed.
    struct HalfWritten: Error {
        let files: [String]
        let failure: any Error
    }

    /// - Parameter type: of the keyset's only key; nil for a keyset that doesn't exist.
    init(_ type: KeyPairType?) throws {
        try FileManager.default.createDirectory(
            at: parent, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        store = KeysetStore(parent.path + "/app")
        if let type { try Self.create(type, in: store) }
        before = try Self.files(in: parent)
    }

    deinit { try? FileManager.default.removeItem(at: parent) }

    func create(_ type: KeyPairType) throws -> Bool {
        try change(expecting: [type]) { try Self.create(type, in: store) }
    }

    /// Imports a key of Tests/Vectors.
    func importKey(_ jwk: [UInt8], _ types: [KeyPairType]) throws -> Bool {
        try change(expecting: types) {
            let imported = try ImportedKey.read(jwk, rawKind: nil, passphrase: nil)
            _ = try store.change(at: Vectors.time, by: Self.actor, .none) {
                try $0.add(imported.entries[0].record, activatesAt: Vectors.time + 7 * Self.day, as: .imported)
            }
        }
    }

    /// - Parameter type: of the new key; nil for that of the keyset.
    func add(_ type: KeyPairType?, _ types: [KeyPairType]) throws -> Bool {
        try change(expecting: types) {
            _ = try store.change(at: Vectors.time, by: Self.actor, .none) {
                try $0.add(activatesAt: Vectors.time + 7 * Self.day, suite: type)
            }
        }
    }

    func rotate(_ types: [KeyPairType]) throws -> Bool {
        let time = Vectors.time + 84 * Self.day
        return try change(expecting: types) {
            _ = try store.rotate(at: time, by: Self.actor, .none) { RotationPlan($0.timeline, $0.policy, at: time) }
        }
    }

    private static func create(_ type: KeyPairType, in store: KeysetStore) throws {
        let record = try KeyRecord.generate(.recipient, type: type, psk: false, backend: DefaultBackend.shared)
        try store.create(record, .standard, .plaintext, nil, at: Vectors.time, by: actor)
    }

    private func change(expecting types: [KeyPairType], _ body: () throws -> Void) throws -> Bool {
        try restore()
        do {
            try body()
        } catch {
            let files = try Self.files(in: parent)
            guard files == before else { throw HalfWritten(files: files.keys.sorted(), failure: error) }
            throw error
        }
        let names: Set = ["app", "app/audit.jsonl", "app/keyset.json", "app/public.jwks.json"]
        guard try Set(Self.files(in: parent).keys) == names else { return false }
        let keyset = try Keyset(folder: path("app"))
        return keyset.entries.map(\.record.algorithm) == types.map(KeyAlgorithm.init)
            && keyset.entries.allSatisfy(\.record.isPrivateAsymmetric)
    }

    private func restore() throws {
        let files = FileManager.default
        try? files.removeItem(atPath: path("app"))
        guard !before.isEmpty else { return }
        try files.createDirectory(
            atPath: path("app"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        for (name, content) in before where name != "app" {
            guard files.createFile(atPath: path(name), contents: content, attributes: [.posixPermissions: 0o600])
            else { throw CocoaError(.fileWriteUnknown) }
        }
    }

    private func path(_ name: String) -> String { parent.path + "/" + name }

    /// What the folder contains; no bytes for another folder.
    private static func files(in folder: URL) throws -> [String: Data] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return Dictionary(
            uniqueKeysWithValues: names.map { name in
                (name, (try? Data(contentsOf: folder.appendingPathComponent(name))) ?? Data())
            })
    }
}
