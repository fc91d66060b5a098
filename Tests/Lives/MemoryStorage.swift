import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

/// The served folder and the true time, which all hosts of a life have in common.
class World {
    /// Seconds since 1970.
    var time: Int64 = 1_800_000_000
    var served: [String: [UInt8]] = [:]

    /// The files of a new host.
    func storage(of host: String) throws -> MemoryStorage { MemoryStorage(self) }
}

/// The files of a host in memory. A file's mac stands for its encryption: who has no secret can't make it.
class MemoryStorage: KeystoreStorage, LockedStorage {
    struct File {
        var keyset: OpenedKeyset { didSet { isAuthentic = mac == keyset.history().mac } }
        let mac: [UInt8]?
        private(set) var isAuthentic = true

        init(_ keyset: OpenedKeyset) {
            self.keyset = keyset
            mac = keyset.history().mac
        }
    }

    /// The end of a process after a keyset's file was replaced and before its history was written, or before a set was served.
    struct Crash: Error {}

    let world: World
    var disk: [String: File] = [:]
    var histories: [KeysetID: KeysetHistory] = [:]
    /// Whether the next change of a file ends in a crash.
    var crashes = false
    var cannotServe = false

    init(_ world: World) { self.world = world }

    func lock(_ path: String?) throws -> MemoryStorage { self }

    func keyset(_ path: String) throws -> FoundKeyset? {
        guard let file = disk[path] else { return nil }
        return FoundKeyset(file.keyset.log) {
            guard file.isAuthentic || !KeystoreRule.authenticate.isOn else {
                throw KeysetFileError(path, .init(.notAuthentic, row: file.keyset.log.lines.count + 1))
            }
            return file.keyset.material
        }
    }

    func replace(_ path: String, with keyset: OpenedKeyset) throws {
        disk[path] = File(keyset)
        try crash()
    }

    func crash() throws {
        guard crashes else { return }
        crashes = false
        throw Crash()
    }

    func remove(_ path: String) throws { disk[path] = nil }

    func others(of id: KeysetID, than path: String) throws -> [String] {
        let folder = path.prefix { $0 != "/" }
        return disk.filter { other, file in
            other != path && other.prefix { $0 != "/" } == folder && file.keyset.state.id == id
        }.map(\.key)
    }

    func history(of id: KeysetID) throws -> KeysetHistory? { histories[id] }
    func setHistory(_ history: KeysetHistory, from seen: KeysetHistory?) throws {
        histories[history.log.state.id] = history
    }
    func raiseHistory(to keyset: OpenedKeyset, from seen: KeysetHistory?, at time: UnixTime) throws {
        histories[keyset.state.id] = keyset.history(after: seen, seenAt: time)
    }
    func served(_ name: String) throws -> [UInt8]? { world.served[name] }
    func servedNames() throws -> [String] { world.served.keys.sorted() }
    func removeServed(_ name: String) throws { world.served[name] = nil }
    func serve(_ document: [UInt8], as name: String) throws {
        guard !cannotServe else { throw Crash() }
        world.served[name] = document
    }
}
