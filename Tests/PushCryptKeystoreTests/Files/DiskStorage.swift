import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport

@testable import PushCryptLives

/// The world of a life whose hosts have real files.
final class DiskWorld: World {
    let folder: TemporaryFolder
    /// What the bytes of a file mean, so that each is unlocked only once.
    fileprivate var files: [[UInt8]: MemoryStorage.File] = [:]
    fileprivate var seen: [[UInt8]: KeysetHistory] = [:]

    override init() {
        folder = try! TemporaryFolder()
        super.init()
        try! FileSystem.makeFolders(www)
    }

    var www: String { "\(folder.path)/www" }
    override func storage(of host: String) throws -> MemoryStorage { try DiskStorage(self, host) }

    override var served: [String: [UInt8]] {
        get { DiskStorage.read(www) { $0 } }
        set { DiskStorage.write(newValue, over: served, in: www, ==) { $0 } }
    }
}

final class DiskStorage: MemoryStorage {
    private let disks: DiskWorld
    private let root: String
    fileprivate let storage: FileStorage
    private static let keystores = ["Keys", "Pub"]

    init(_ world: DiskWorld, _ host: String) throws {
        disks = world
        root = "\(world.folder.path)/\(host)"
        for name in Self.keystores + ["history"] { try FileSystem.makeFolders("\(root)/\(name)") }
        let secret = KeysetSecret.passphrase(SecretBytes(copying: Array("a".utf8).bytes))
        storage = FileStorage(
            histories: HistoryFolder("\(root)/history"), servedFolder: world.www, patience: .seconds(0)
        ) { _, _ in secret }
        super.init(world)
    }

    fileprivate func real(_ path: String) -> String { "\(root)/\(path)" }

    fileprivate func own(_ path: String) -> String {
        String(path.dropFirst(root.count + 1).dropLast(KeysetLocation.suffix.count))
    }

    override var disk: [String: File] {
        get {
            var all: [String: File] = [:]
            for keystore in Self.keystores {
                let files = Self.read("\(root)/\(keystore)") { [disks] bytes in disks.files[bytes] }
                for (name, file) in files { all["\(keystore)/\(name.dropLast(KeysetLocation.suffix.count))"] = file }
            }
            return all
        }
        set {
            func isSame(_ one: File, _ other: File) -> Bool {
                one.keyset.log.bytes == other.keyset.log.bytes && one.mac == other.mac
            }
            let suffix = KeysetLocation.suffix
            func named(_ files: [String: File]) -> [String: File] {
                Dictionary(uniqueKeysWithValues: files.map { ($0 + suffix, $1) })
            }
            Self.write(named(newValue), over: named(disk), in: root, isSame) { [disks] file in
                var bytes = try! file.keyset.material.file(file.keyset.log)
                // An attacker can write rows, but no mac.
                if !file.isAuthentic { bytes[bytes.count - 8] = bytes[bytes.count - 8] == 65 ? 66 : 65 }
                disks.files[bytes] = file
                return bytes
            }
        }
    }

    override var histories: [KeysetID: KeysetHistory] {
        get {
            let all = Self.read("\(root)/history") { [disks] bytes in
                let history = disks.seen[bytes] ?? (try? KeysetHistory(bytes))
                disks.seen[bytes] = history
                return history
            }
            return Dictionary(uniqueKeysWithValues: all.map { ($1.log.state.id, $1) })
        }
        set {
            func named(_ all: [KeysetID: KeysetHistory]) -> [String: KeysetHistory] {
                Dictionary(uniqueKeysWithValues: all.map { ("\($0)", $1) })
            }
            Self.write(named(newValue), over: named(histories), in: "\(root)/history", { $0.file == $1.file }, \.file)
        }
    }

    override func lock(_ path: String?) throws -> MemoryStorage {
        LockedDisk(self, try storage.lock(path.map(real)))
    }

    override func keyset(_ path: String) throws -> FoundKeyset? { try storage.keyset(real(path)) }
    override func history(of id: KeysetID) throws -> KeysetHistory? { try storage.history(of: id) }
    override func raiseHistory(to keyset: OpenedKeyset, from seen: KeysetHistory?, at time: UnixTime) throws {
        try storage.raiseHistory(to: keyset, from: seen, at: time)
    }
    override func served(_ name: String) throws -> [UInt8]? { try storage.served(name) }
    override func servedNames() throws -> [String] { try storage.servedNames() }
    override func removeServed(_ name: String) throws { try storage.removeServed(name) }
    override func serve(_ document: [UInt8], as name: String) throws {
        guard !cannotServe else { throw Crash() }
        try storage.serve(document, as: name)
    }

    /// Keeps what the bytes of a file mean that a command wrote.
    fileprivate func note(_ path: String, _ keyset: OpenedKeyset) throws {
        disks.files[try FileSystem.readFile(real(path) + KeysetLocation.suffix)] = File(keyset)
    }

    static func read<Value>(_ folder: String, _ value: ([UInt8]) -> Value?) -> [String: Value] {
        var all: [String: Value] = [:]
        for name in try! FileSystem.names(in: folder) {
            all[name] = value(try! FileSystem.readFile("\(folder)/\(name)"))
        }
        return all
    }

    static func write<Value>(
        _ new: [String: Value], over old: [String: Value], in folder: String, _ isSame: (Value, Value) -> Bool,
        _ bytes: (Value) -> [UInt8]
    ) {
        for name in old.keys where new[name] == nil { FileSystem.removeFile("\(folder)/\(name)") }
        for (name, value) in new where !(old[name].map { isSame($0, value) } ?? false) {
            try! FileSystem.replace("\(folder)/\(name)", with: bytes(value))
        }
    }
}

private final class LockedDisk: MemoryStorage {
    private let own: DiskStorage
    private let locked: LockedFiles

    init(_ own: DiskStorage, _ locked: LockedFiles) {
        (self.own, self.locked) = (own, locked)
        super.init(own.world)
    }

    override func keyset(_ path: String) throws -> FoundKeyset? { try locked.keyset(own.real(path)) }

    override func replace(_ path: String, with keyset: OpenedKeyset) throws {
        try locked.replace(own.real(path), with: keyset)
        try own.note(path, keyset)
        try own.crash()
    }

    override func remove(_ path: String) throws { try locked.remove(own.real(path)) }

    override func others(of id: KeysetID, than path: String) throws -> [String] {
        try locked.others(of: id, than: own.real(path)).map(own.own)
    }

    override func setHistory(_ history: KeysetHistory, from seen: KeysetHistory?) throws {
        try locked.setHistory(history, from: seen)
    }
}
