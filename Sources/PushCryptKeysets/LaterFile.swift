import PushCryptCore
package import PushCryptFiles
import PushCryptPrimitives

/// A file that a later change than the keyset's wrote beside it: the keyset is an earlier copy, although its log may be whole.
package struct LaterFile: Hashable, Sendable, CustomStringConvertible {
    private let name: String
    private let sequence: Int64
    /// The keys that the file revokes and the copy doesn't.
    private let revoked: [KeyID]
    /// Whether the file has keys, and none of the keyset's.
    private var isUnrelated = false

    /// The one with the highest `seq`; nil if there is none. Every change writes these files after `keyset.json`, so that a crash
    /// leaves none.
    package init?(in folder: Folder, than metadata: KeysetMetadata) {
        let files = Self.files(in: folder, metadata.timeline)
        guard let file = files.max(by: { $0.sequence < $1.sequence }), file.sequence > metadata.sequence else {
            return nil
        }
        self = file
    }

    private init(_ name: String, _ sequence: Int64, _ revoked: [KeyID]) {
        (self.name, self.sequence, self.revoked) = (name, sequence, revoked)
    }

    /// The highest `seq` of these files; 0 without them.
    package static func highestSequence(in folder: Folder) -> Int64 {
        files(in: folder, KeyTimeline([])).map(\.sequence).max() ?? 0
    }

    /// `public.jwks.json`, and `hook.json` (`ChangeHook`). A damaged one says nothing; `keys doctor` reports it.
    private static func files(in folder: Folder, _ timeline: KeyTimeline) -> [LaterFile] {
        func file(_ name: String, _ read: (JSONValue) -> LaterFile?) -> LaterFile? {
            guard folder.has(name), let bytes = try? folder.read(name).bytes, let json = try? JSONText(bytes) else {
                return nil
            }
            return read(json.root)
        }
        let (published, hook) = (KeysetFolder.publicName, KeysetFolder.hookName)
        return [
            file(published) { root in
                PublicKeyList(root).map { keys in
                    var file = LaterFile(published, keys.sequence, keys.revived(by: timeline))
                    file.isUnrelated = !keys.kids.isEmpty && !keys.hasKey(of: timeline)
                    return file
                }
            },
            file(hook) { root in root["seq"]?.protocolInteger.map { LaterFile(hook, $0, []) } },
        ].compactMap(\.self)
    }

    package var description: String {
        let keys = revoked.isEmpty ? "" : ", which revokes key " + revoked.map(\.description).joined(separator: ", ")
        return "\(name) is from a later change, seq \(sequence)\(keys): the keyset is an earlier copy"
    }

    /// - Parameter secretArguments: as in ``SecretSource/arguments``.
    func refusal(of path: String, _ metadata: KeysetMetadata, _ secretArguments: String) -> KeystoreError {
        KeystoreError(
            .olderThanLog,
            "\(path): \(self) with seq \(metadata.sequence), as after a restored file"
                + (isUnrelated
                    ? ", unless a file was exchanged with another keyset's, which `pushcrypt status` says" : "")
                + ". Restore the newest backup, of that seq or a "
                + "later one: `\(KeysetFolder(path).restoreCommand(secretArguments))`; without one, continue from this copy with "
                + "`pushcrypt keys restore \(ShellArgument.quoted(path))\(secretArguments)`")
    }
}
