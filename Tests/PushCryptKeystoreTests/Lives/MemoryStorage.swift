import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

/// The served folder and the true time, which all hosts of a life have in common.
final class World {
    /// Seconds since 1970.
    var time: Int64 = 1_800_000_000
    var served: [String: [UInt8]] = [:]
}

/// The files of a host in memory. A file's mac stands for its encryption: who has no secret can't make it.
final class MemoryStorage: ServedStorage {
    struct File {
        var keyset: OpenedKeyset
        var mac: [UInt8]?

        init(_ keyset: OpenedKeyset) {
            self.keyset = keyset
            mac = keyset.history().mac
        }

        var isAuthentic: Bool { mac == keyset.history().mac }
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

    func keyset(_ path: String) throws -> OpenedKeyset? {
        guard let file = disk[path] else { return nil }
        guard file.isAuthentic || !KeystoreRule.authenticate.isOn else {
            throw KeysetLogError(.notAuthentic, row: file.keyset.log.lines.count + 1)
        }
        return file.keyset
    }

    func replace(_ path: String, with keyset: OpenedKeyset) throws {
        disk[path] = File(keyset)
        guard crashes else { return }
        crashes = false
        throw Crash()
    }

    func remove(_ path: String) { disk[path] = nil }

    func paths(of id: KeysetID, inKeystoreOf path: String) -> [String] {
        let folder = path.prefix { $0 != "/" }
        return disk.filter { $0.key.prefix { $0 != "/" } == folder && $0.value.keyset.state.id == id }.map(\.key)
    }

    func history(of id: KeysetID) -> KeysetHistory? { histories[id] }
    func setHistory(_ history: KeysetHistory) { histories[history.log.state.id] = history }
    func served(_ name: String) -> [UInt8]? { world.served[name] }
    func servedNames() -> [String] { world.served.keys.sorted() }
    func removeServed(_ name: String) { world.served[name] = nil }

    func serve(_ document: [UInt8], as name: String) throws {
        guard !cannotServe else { throw Crash() }
        world.served[name] = document
    }
}
