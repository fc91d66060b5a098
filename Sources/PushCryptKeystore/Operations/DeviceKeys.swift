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
    /// - Throws: as ``lock(_:)`` and ``time(for:isUrgent:)``; `KeystoreRefusal` with `noDeviceIDs` after the files of the
    ///   other lines are written, and no file is removed then; `KeyError` with `wrongKind` for other than a shared keyset;
    ///   `FileError`.
    package func publishDevices(_ keyset: String, list: String, to path: String) throws -> DeviceFiles {
        try publishDevices(lock(keyset), list: list, to: path)
    }

    /// The same for a keyset that is locked. As in ``rotate(_:beginsNow:suite:)``, the secret is used only if a file is missing or
    /// of an earlier line, and in the first run of a day.
    package func publishDevices(
        _ keyset: LockedKeyset<Storage.Locked>, list: String, to path: String
    ) throws -> DeviceFiles {
        defer { withExtendedLifetime(keyset.files) {} }
        let locked = try authenticated(keyset)
        let time = try time(for: locked)
        let outbox = try Outbox(locked.state, list: list, path)
        guard !isTrusted(locked) || outbox.late > 0 || outbox.missing > 0 || !outbox.faults.isEmpty else {
            var files = try outbox.removeOthers()
            files.unchanged = outbox.devices.count
            return files
        }
        let keys = try locked.found.opened().masters(at: time)
        var files = DeviceFiles()
        for (name, device) in outbox.devices {
            let isWritten = try outbox.folder.update(name, with: keys, of: device)
            if isWritten { files.written += 1 } else { files.unchanged += 1 }
        }
        guard outbox.faults.isEmpty else { throw KeystoreRefusal.noDeviceIDs(list: list, lines: outbox.faults) }
        files.removed = try outbox.removeOthers().removed
        return files
    }
}

/// The files of a list's devices, as far as they can be checked without a secret.
struct Outbox {
    let folder: Folder
    /// The files that should be there, without duplicates.
    private(set) var devices: [(name: String, DeviceID)] = []
    /// The lines of the list that are no device ids, counted from 1.
    private(set) var faults: [Int] = []
    private(set) var missing = 0
    /// The files that were made of an earlier line than the last change of keys, or that others can read.
    private(set) var late = 0
    /// The time of the last change of the list, since the start of 1970.
    let listedAt: Duration
    private let prefix: String
    private let present: [String]

    /// - Throws: `KeyError` with `wrongKind` for other than a shared keyset; `FileError`.
    init(_ state: KeysetState, list: String, _ path: String) throws {
        guard state.kind == .shared else { throw KeyError(.wrongKind, "only shared keysets have keys of devices") }
        folder = try Folder(path)
        try folder.check(.othersMayRead)
        prefix = "\(state.id)."
        present = try folder.names()
        let (there, line) = (Set(present), Array("\"pushcrypt\": {\"seq\": \(state.lastChange), ".utf8))
        var seen: Set<String> = []
        let file = try OpenFile(list)
        listedAt = try file.status().modified
        let lines = try LineReader(file, limitInBytes: 64 << 10)
        while let row = try lines.next() {
            guard let device = try? DeviceID(String(decoding: row.bytes, as: UTF8.self)) else {
                faults.append(row.number)
                continue
            }
            let name = "\(prefix)\(device).json"
            guard seen.insert(name).inserted else { continue }
            devices.append((name, device))
            guard there.contains(name) else {
                missing += 1
                continue
            }
            // What can't be read is written again.
            var bytes = (try? folder.read(name, .ownerOnly).bytes) ?? []
            defer { wipe(&bytes) }
            if bytes.firstRange(of: line) == nil { late += 1 }
        }
    }

    /// Removes the files of devices that left the list, and what crashes left.
    fileprivate func removeOthers() throws -> DeviceFiles {
        var (files, names) = (DeviceFiles(), Set(devices.map(\.name)))
        for name in present where name.hasPrefix(prefix) && names.insert(name).inserted {
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
    fileprivate func masters(at time: UnixTime) throws -> Keyset {
        let entries = state.keys.compactMap { key in
            material.records[key.kid].map { Keyset.Entry($0, state.effective(key)) }
        }
        // The number rises only with the keys, so that other lines don't write all files again.
        let keyset = try Keyset(entries, sequence: state.lastChange)
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
