/// The owner and the mode of a file or folder, and the one rule that says whether it is private.
///
/// A private file or folder belongs to the user of this process or to root, and its mode keeps everybody else out. The
/// owner is part of the rule because the owner can change the mode and the content at any time.
package struct FileAccess: Hashable, Sendable {
    /// The user id of the owner.
    package let owner: UInt32
    /// The permission bits, the lowest twelve bits of the mode.
    package let mode: UInt32
    package let isFolder: Bool

    package init(owner: UInt32, mode: UInt32, isFolder: Bool) {
        self.owner = owner
        self.mode = mode & 0o7777
        self.isFolder = isFolder
    }

    /// What users other than the owner may do.
    package enum Rule: Sendable {
        /// Nothing.
        case ownerOnly
        /// Nothing, except that the group may read what belongs to root: container platforms mount secrets like that.
        case ownerOrRootsGroup
        /// Read, but not write.
        case othersMayRead
    }

    /// - Parameters:
    ///   - path: named in the error.
    ///   - user: the user id that counts as the caller.
    /// - Throws: `FileError` with `foreignOwner` or `looseMode`, and the command that corrects it.
    package func check(_ rule: Rule, _ path: String, user: UInt32 = FileSystem.ownUser) throws(FileError) {
        guard belongs(to: user) else {
            throw FileError(
                .foreignOwner, path,
                "\(path) belongs to user \(owner), who can change it at any time; work as that user, or correct it with: "
                    + "chown \(user) \(path)")
        }
        guard keepsOthersOut(rule) else {
            let (who, advice) =
                rule == .othersMayRead
                ? ("changed", "go-w") : ("reached", isFolder ? "700" : "600")
            throw FileError(
                .looseMode, path,
                "\(path) can be \(who) by others than its owner; correct it with: chmod \(advice) \(path)")
        }
    }

    /// Whether it belongs to the user or to root.
    package func belongs(to user: UInt32) -> Bool { owner == user || owner == 0 }

    /// Whether the mode lets others do no more than the rule says.
    package func keepsOthersOut(_ rule: Rule) -> Bool { mode & forbiddenBits(rule) == 0 }

    private func forbiddenBits(_ rule: Rule) -> UInt32 {
        switch rule {
        case .ownerOnly: 0o077
        case .ownerOrRootsGroup: owner == 0 ? 0o037 : 0o077
        case .othersMayRead: 0o022
        }
    }
}
