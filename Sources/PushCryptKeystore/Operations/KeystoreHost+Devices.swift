import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives

/// What ``KeystoreHost/publishDevices(_:list:to:)`` did, in numbers of files.
package struct DeviceFiles: Hashable, Sendable {
    package fileprivate(set) var written = 0
    package fileprivate(set) var unchanged = 0
    package fileprivate(set) var removed = 0
}

/// The keys of devices, which are derived from a shared keyset.
extension KeystoreHost {
    /// Writes a private file for each device of a list, if it differs: a JWK set with the device's keys that open. A device that
    /// left the list loses its file.
    ///
    /// ```
    /// name = ID "." DEVICE ".json"
    /// ```
    /// - Parameters:
    ///   - list: a file with a device id in each line.
    ///   - path: a folder that only its owner can write.
    /// - Throws: as ``lock(_:takesOver:)`` and ``time(for:isUrgent:)``; `KeystoreRefusal` with `noDeviceIDs` after the files of the
    ///   other lines are written, and no file is removed then; `KeyError` with `wrongKind` for other than a shared keyset;
    ///   `FileError`.
    package func publishDevices(_ keyset: String, list: String, to path: String) throws -> DeviceFiles {
        let locked = try authenticated(keyset)
        defer { withExtendedLifetime(locked.files) {} }
        let opened = try locked.found.opened()
        let keys = try opened.masters(at: time(for: locked))
        let folder = try Folder(path)
        try folder.check(.othersMayRead)
        let prefix = "\(opened.state.id)."
        var (files, names, faults) = (DeviceFiles(), Set<String>(), [Int]())
        let lines = try LineReader(OpenFile(list), limitInBytes: 64 << 10)
        while let line = try lines.next() {
            guard let device = try? DeviceID(String(decoding: line.bytes, as: UTF8.self)) else {
                faults.append(line.number)
                continue
            }
            guard names.insert("\(prefix)\(device).json").inserted else { continue }
            let isWritten = try folder.update("\(prefix)\(device).json", with: keys, of: device)
            if isWritten { files.written += 1 } else { files.unchanged += 1 }
        }
        guard faults.isEmpty else { throw KeystoreRefusal.noDeviceIDs(list: list, lines: faults) }
        for name in try folder.names() where name.hasPrefix(prefix) && !names.contains(name) {
            guard Self.isDeviceFile(name.dropFirst(prefix.count)) || Folder.isLeftover(name) else { continue }
            try folder.remove(name)
            files.removed += 1
        }
        return files
    }

    private static func isDeviceFile(_ name: Substring) -> Bool {
        name.hasSuffix(".json") && (try? DeviceID(String(name.dropLast(".json".count)))) != nil
    }
}

extension OpenedKeyset {
    /// The keys that open.
    ///
    /// - Throws: `KeyError` with `wrongKind` for other than shared keys.
    fileprivate func masters(at time: UnixTime) throws -> Keyset {
        let entries = state.keys.compactMap { key in
            material.records[key.kid].map { Keyset.Entry($0, state.effective(key)) }
        }
        // The number rises only with the keys, so that other lines don't write all files again.
        let keyset = try Keyset(entries, sequence: state.lastChange)
        try keyset.requireKind(.shared)
        return try keyset.filter { state.timeline.state(of: $0.record.kid, at: time)?.opens ?? false }
    }
}

extension Folder {
    /// - Returns: whether the file differed.
    fileprivate func update(_ name: String, with keys: Keyset, of device: DeviceID) throws -> Bool {
        var set = try keys.device(device).jwkSet(withHistory: false)
        defer { wipe(&set) }
        // What can't be read, or others can read, is replaced. A folder of that name isn't, and is an error.
        if var current = try? read(name, .ownerOnly).bytes {
            defer { wipe(&current) }
            if current == set { return false }
        }
        try replace(name, with: set)
        return true
    }
}
