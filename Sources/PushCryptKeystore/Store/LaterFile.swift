import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// A file that a later change than the keyset's wrote beside it: the keyset is an earlier copy, although its log may be whole.
struct LaterFile {
    let name: String
    let sequence: Int64
    /// The keys that the file revokes and the copy doesn't.
    let revoked: [KeyID]

    /// The one with the highest `seq`; nil if there is none. Every change writes these files after `keyset.json`, so that a crash
    /// leaves none.
    init?(in folder: Folder, than metadata: KeysetMetadata) {
        let files = [Self.published(folder, metadata.timeline), Self.hook(folder)].compactMap(\.self)
        guard let file = files.max(by: { $0.sequence < $1.sequence }), file.sequence > metadata.sequence else {
            return nil
        }
        self = file
    }

    private init(_ name: String, _ sequence: Int64, _ revoked: [KeyID]) {
        (self.name, self.sequence, self.revoked) = (name, sequence, revoked)
    }

    /// The highest `seq` of these files; 0 without them.
    static func highestSequence(in folder: Folder) -> Int64 {
        [published(folder, KeyTimeline([])), hook(folder)].compactMap { $0?.sequence }.max() ?? 0
    }

    private static func published(_ folder: Folder, _ timeline: KeyTimeline) -> LaterFile? {
        let name = KeysetFolder.publicName
        guard folder.has(name), let bytes = try? folder.read(name).bytes,
            let set = ServedSet(bytes, path: name, isSigned: false)
        else { return nil }
        return LaterFile(name, set.sequence, set.revived(by: timeline))
    }

    private static func hook(_ folder: Folder) -> LaterFile? {
        (try? KeysetStore.hookRecord(in: folder))?.sequence.map { LaterFile(KeysetFolder.hookName, $0, []) }
    }

    /// - Parameter secretArguments: as in `SecretSource.arguments`.
    func refusal(of path: String, _ metadata: KeysetMetadata, _ secretArguments: String) -> KeystoreError {
        let keys = revoked.isEmpty ? "" : ", which revokes key " + revoked.map(\.description).joined(separator: ", ")
        return KeystoreError(
            .olderThanLog,
            "\(path): \(name) is from a later change, seq \(sequence)\(keys), and the keyset has seq \(metadata.sequence): it is an "
                + "earlier copy, as after a restored file. Restore the newest backup, of that seq or a later one: "
                + "`\(KeysetFolder(path).restoreCommand(secretArguments))`; without one, continue from this copy with "
                + "`pushcrypt keys restore \(ShellArgument.quoted(path))\(secretArguments)`")
    }
}
