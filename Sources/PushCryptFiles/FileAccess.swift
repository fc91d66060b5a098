/// The owner and the mode of a file or folder, and the rules for private ones.
///
/// A private file or folder belongs to the user of this process or to root, and its mode keeps other users out. The rule
/// includes the owner because the owner can change the mode and the content at any time.
///
/// | rule                | for                                                    | own file | root's file                   |
/// | ------------------- | ------------------------------------------------------ | -------- | ----------------------------- |
/// | `ownerOnly`         | files with secrets, and folders, that this tool writes | 0700     | 0700                          |
/// | `ownerOrRootsGroup` | files with secrets that something else puts there      | 0700     | 0740, as Kubernetes mounts it |
/// | `othersMayRead`     | folders in which files are private, such as `Keys` of a clone; files without secrets | 0755 | 0755 |
///
/// A user's own file may not be open to its group. That group often contains every user (`users`, `staff`), and a umask of 027
/// opens files to it unintentionally. Root's file is open to a group only if an administrator or a platform chose that group for
/// the program.
package struct FileAccess: Hashable, Sendable {
    package let owner: UInt32
    /// The permission bits, the lowest twelve bits of the mode.
    package let mode: UInt32
    package let isFolder: Bool

    package init(owner: UInt32, mode: UInt32, isFolder: Bool) {
        self.owner = owner
        self.mode = mode & 0o7777
        self.isFolder = isFolder
    }

    /// The access that users other than the owner may have to a file or folder.
    package enum Rule: Sendable {
        /// Other users have no access.
        case ownerOnly
        /// As `ownerOnly`, but the group may read root's files: container platforms mount secrets with these modes.
        case ownerOrRootsGroup
        /// Other users may read but not write.
        case othersMayRead
    }

    /// - Throws: `FileError` with `foreignOwner`, whose reason names the owner, or `looseMode`, whose reason contains the command
    ///   that corrects it.
    package func check(_ rule: Rule, _ path: String, user: UInt32 = FileSystem.ownUser) throws(FileError) {
        try checkOwner(path, user: user)
        guard keepsOthersOut(rule) else {
            let verb = rule == .othersMayRead ? "change" : "open"
            let mode = rule == .othersMayRead ? "go-w" : isFolder ? "700" : "600"
            let mounted = rule == .ownerOrRootsGroup ? " (a secret that Kubernetes mounts: defaultMode: 0400)" : ""
            throw FileError(
                .looseMode, path, "users other than the owner can \(verb) \(path)",
                correction: "chmod \(mode) \(ShellArgument.quoted(path))"
            ).adding(mounted)
        }
    }

    /// - Throws: `FileError` with `foreignOwner` unless the owner is the user or root.
    package func checkOwner(_ path: String, user: UInt32 = FileSystem.ownUser) throws(FileError) {
        guard !belongs(to: user) else { return }
        throw FileError(
            .foreignOwner, path, "\(path) belongs to user \(owner), who can change it at any time: work as that user",
            owner: owner)
    }

    package func belongs(to user: UInt32) -> Bool { owner == user || owner == 0 }

    package func keepsOthersOut(_ rule: Rule) -> Bool { mode & forbiddenBits(rule) == 0 }

    private func forbiddenBits(_ rule: Rule) -> UInt32 {
        switch rule {
        case .ownerOnly: 0o077
        case .ownerOrRootsGroup: owner == 0 ? 0o037 : 0o077
        case .othersMayRead: 0o022
        }
    }
}
