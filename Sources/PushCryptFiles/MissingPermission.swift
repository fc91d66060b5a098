/// Why the system doesn't let this user read, create or write a file or folder, and what corrects that.
struct MissingPermission {
    /// The owner, if it is another user.
    private(set) var owner: UInt32?
    private(set) var fault = ""
    private(set) var alternative = ""
    /// nil if the file is in a folder of another user. To give it to this user would give a keyset to each user who looks.
    private(set) var correction: String?

    /// - Parameter folder: the open folder of the file; nil if it was opened by its path.
    /// - Returns: nil if owner and mode don't explain it.
    init?(
        to operation: FileError.Operation, _ path: String, in folder: Folder? = nil, user: UInt32 = FileSystem.ownUser
    ) {
        let parent = FileSystem.parent(of: path)
        let found: MissingPermission? =
            switch operation {
            case .read: MissingPermission(.read, at: path, folder, user)
            // The right to a new name is that of its folder.
            case .create, .replace, .remove: MissingPermission(.write, at: parent, folder, user)
            case .write where FileStatus(path) != nil:
                MissingPermission(.write, at: path, folder, user) ?? MissingPermission(.write, at: parent, folder, user)
            case .write: MissingPermission(.write, at: parent, folder, user)
            case .lock: nil
            }
        guard let found else { return nil }
        self = found
    }

    private init?(_ right: Right, at path: String, _ folder: Folder?, _ user: UInt32) {
        var place = path.isEmpty ? "." : path
        // What is in a folder that can't be searched has no visible status.
        while FileStatus(place, followingLinks: true) == nil, place != "/", place.contains("/") {
            place = FileSystem.parent(of: place)
        }
        guard let access = FileStatus(place, followingLinks: true)?.access else { return nil }
        let isAbove = !path.isEmpty && place != path
        guard access.owner == user else {
            owner = access.owner
            fault = "; \(place) belongs to user \(access.owner)"
            guard !isAbove, let folder, (try? folder.status().access.owner) == user else {
                fault += ": work as that user"
                return
            }
            alternative = "work as that user, or "
            correction = "chown -R \(user) \(ShellArgument.quoted(folder.path))"
            return
        }
        let needed = isAbove ? 0o100 : right.bits(ofFolder: access.isFolder)
        guard access.mode & needed != needed else { return nil }
        correction = "chmod \(right.mode(ofFolder: access.isFolder)) \(ShellArgument.quoted(place))"
    }

    private enum Right {
        case read, write

        /// What the owner needs.
        func bits(ofFolder isFolder: Bool) -> UInt32 {
            switch self {
            case .read: isFolder ? 0o500 : 0o400
            case .write: isFolder ? 0o300 : 0o200
            }
        }

        /// Keysets are private. A folder for other files may be open to other users, so that only its owner's bits change.
        func mode(ofFolder isFolder: Bool) -> String {
            switch self {
            case .read: isFolder ? "700" : "600"
            case .write: isFolder ? "u+wx" : "u+w"
            }
        }
    }
}
