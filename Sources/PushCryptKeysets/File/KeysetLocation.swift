import PushCryptFiles

/// The place of a keyset's file. The name is for people; the keyset is known by its id.
package struct KeysetLocation: Hashable, Sendable, CustomStringConvertible {
    /// With the suffix `.keyset`, as the caller gave the rest.
    package let path: String

    package static let suffix = ".keyset"
    /// The file in a keystore that other users can open, which is locked in place of the folder.
    package static let lockName = ".lock"

    /// - Parameter path: `Keys/senders` or `Keys/senders.keyset`.
    package init(_ path: String) {
        self.path = path.hasSuffix(Self.suffix) ? path : path + Self.suffix
    }

    package var fileName: String { FileSystem.name(of: path) }
    /// The name without the suffix.
    package var name: String { String(fileName.dropLast(Self.suffix.count)) }

    /// The folder with the file; `.` for the current one.
    package var keystore: String {
        let parent = FileSystem.parent(of: path)
        return parent.isEmpty ? "." : parent
    }

    package var description: String { path }
}
