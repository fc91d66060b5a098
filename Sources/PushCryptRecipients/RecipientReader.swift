package import PushCryptCore

/// Looks recipients up in a directory. For one thread: make one for each.
package final class RecipientReader {
    private let source: any RecordSource

    init(_ source: any RecordSource) {
        self.source = source
    }

    /// The recipient of that id; nil where the directory has none.
    ///
    /// With a device it is that device's own shared key or, where only the master is there, the key derived from it. A
    /// public key belongs to one install as it is, and the device only names it.
    ///
    /// - Throws: `RecipientDirectoryError` with `collision`, `privateKey`, `invalidRecord`, `changedMeanwhile`, `busy`,
    ///   `damaged`, `inputOutput`.
    package func recipient(
        kid: KeyID, device: DeviceID? = nil
    ) throws(RecipientDirectoryError) -> Recipient? {
        if let device, let found = try source.record(RecordName(kid, device)) {
            return try found.recipient(source.path)
        }
        return try source.record(RecordName(kid, nil))?.recipient(source.path, device)
    }
}

/// A record and where it was found.
struct FoundRecord {
    let record: KeyRecord
    /// nil in a database.
    let line: Int?

    func recipient(_ path: String, _ device: DeviceID? = nil) throws(RecipientDirectoryError) -> Recipient {
        do throws(KeyError) {
            return try record.recipient(device)
        } catch {
            throw RecipientDirectoryError(error, isPrivate: record.isPrivateAsymmetric, path, line: line)
        }
    }
}

extension RecipientDirectoryError {
    /// A record that can't be used.
    init(_ error: KeyError, isPrivate: Bool, _ path: String, line: Int?) {
        let place = line.map { "\(path): line \($0)" } ?? path
        self.init(isPrivate ? .privateKey : .invalidRecord, "\(place): \(error.reason)", line: line)
    }
}
