import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport

/// A keystore with a keyset of shared keys, and the histories of a host, in a temporary folder.
final class Place: Sendable {
    let folder: TemporaryFolder
    let root: String
    static let start = UnixTime(1_800_000_000)

    /// - Parameter root: of files that are there; nil to make them.
    init(copiedTo root: String? = nil, of folder: TemporaryFolder? = nil) throws {
        self.folder = try folder ?? TemporaryFolder()
        self.root = root ?? self.folder.path + "/host"
        guard root == nil else { return }
        for name in ["Keys", "www"] { try FileSystem.makeFolders("\(self.root)/\(name)") }
        _ = try host().create(keyset, .shared, secrets: Self.secrets("one"))
    }

    var keyset: String { "\(root)/Keys/one" }
    var file: String { keyset + ".keyset" }
    var histories: HistoryFolder { HistoryFolder("\(root)/history") }

    static func secrets(_ name: String) throws -> KeysetSecrets {
        try KeysetSecrets(ofLog: [(SecretName(name)!, passphrase(name))], ScryptParameters(n: 2, r: 1, p: 1))
    }

    static func passphrase(_ text: String) -> KeysetSecret {
        .passphrase(SecretBytes(copying: Array(text.utf8).bytes))
    }

    func storage(
        remembers: Bool = true, patience: Duration = .seconds(60), secret: @escaping () -> String = { "one" }
    ) -> FileStorage {
        FileStorage(histories: remembers ? histories : nil, servedFolder: "\(root)/www", patience: patience) { _, _ in
            Self.passphrase(secret())
        }
    }

    func host(_ storage: FileStorage? = nil, at time: UnixTime = start) -> KeystoreHost<FileStorage> {
        KeystoreHost(storage ?? self.storage(), name: "host", who: "someone", clock: time)
    }

    @discardableResult
    func changePolicy(
        _ storage: FileStorage? = nil, at time: UnixTime = start, keyset: String? = nil
    ) throws -> KeysetLog {
        try host(storage, at: time).change(keyset ?? self.keyset, .policy) { $0.changes.policy = .standard }.log
    }

    func log() throws -> KeysetLog { try KeysetRows(at: KeysetLocation(keyset), .reading).log }
    func names(_ name: String) throws -> [String] { try FileSystem.names(in: "\(root)/\(name)") }
    func inode(_ path: String) -> FileStatus.Identity? { FileStatus(path)?.identity }

    /// A copy of all files as they are now, as a crash leaves them.
    func copy(_ name: String) throws -> Place {
        let copy = "\(folder.path)/\(name)"
        try FileManager.default.copyItem(atPath: root, toPath: copy)
        return try Place(copiedTo: copy, of: folder)
    }
}

/// The code of the `FileError` that `body` throws; nil for no error or another one.
func fileError(_ body: () throws -> some Any) -> FileError.Code? {
    do { _ = try body() } catch { return (error as? FileError)?.code }
    return nil
}

/// The code of the `KeysetFileError` that `body` throws; nil for no error or another one.
func keysetError(_ body: () throws -> some Any) -> KeysetLogError.Code? {
    do { _ = try body() } catch { return (error as? KeysetFileError)?.cause.code }
    return nil
}
