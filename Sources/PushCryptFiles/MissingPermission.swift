/// Why the system doesn't let this user read a file or folder, and what corrects that.
struct MissingPermission {
    /// The owner, if it is another user.
    private(set) var owner: UInt32?
    private(set) var fault = ""
    private(set) var alternative = ""
    /// nil if the file is in a folder of another user. To give it to this user would give a keyset to each user who looks.
    private(set) var correction: String?

    /// - Parameter folder: the open folder of the file; nil if it was opened by its path.
    /// - Returns: nil if owner and mode don't explain it.
    init?(toRead path: String, in folder: Folder? = nil, user: UInt32 = FileSystem.ownUser) {
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
            let isOwnFolder = folder.map { (try? $0.status().access.owner) == user } ?? !access.isFolder
            guard !isAbove, isOwnFolder else {
                fault += ": work as that user"
                return
            }
            alternative = "work as that user, or "
            let whole = ShellArgument.quoted(folder?.path ?? place)
            correction = "chown \(folder == nil ? "" : "-R ")\(user) \(whole)"
            return
        }
        let needed: UInt32 = isAbove ? 0o100 : access.isFolder ? 0o500 : 0o400
        guard access.mode & needed != needed else { return nil }
        correction = "chmod \(access.isFolder ? "700" : "600") \(ShellArgument.quoted(place))"
    }
}
