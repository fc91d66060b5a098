import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives

/// Checks the kind, mode, owner and times of a keyset's files.
extension KeysetExamination {
    mutating func examineFiles() {
        examine(".", snapshot.folder)
        for (name, status) in snapshot.files.sorted(by: { $0.key < $1.key }) { examine(name, status) }
    }

    private func path(_ name: String) -> String { name == "." ? snapshot.path : snapshot.path + "/" + name }

    private mutating func examine(_ name: String, _ status: FileStatus) {
        let role = Role(name)
        guard examineKind(name, status, role) else { return }
        switch role {
        case .leftover:
            add(
                .warning, "unfinished", "an interrupted change left \(name)",
                advice: Verification.verify(snapshot))
        case .brokenLog:
            add(
                .note, "old-log", "\(name) is an audit log that `keys log --begin-anew` replaced",
                advice: "move it to another place after you have examined it")
        case .foreign:
            add(
                .note, "foreign-file", "\(name) is not a file of the keyset", advice: Self.moveForeignFile)
        default: break
        }
        examineMode(name, status, role)
        examineOwner(name, status, role)
        examineTime(name, status)
    }

    /// - Returns: whether the other checks apply: it is a file, or the keyset's folder.
    private mutating func examineKind(_ name: String, _ status: FileStatus, _ role: Role) -> Bool {
        switch status.kind {
        case .file where role != .folder, .folder where role == .folder: return true
        case .symbolicLink:
            add(
                role.isOwn ? .error : .warning, "symbolic-link",
                "\(name) is a symbolic link; a keystore contains only files and folders",
                advice: "replace the link with the file")
        default:
            add(
                role.isOwn ? .error : .note, "foreign-file", "\(name) is not a file", advice: Self.moveForeignFile)
        }
        return false
    }

    static let moveForeignFile = "move it to another place; pushcrypt doesn't touch it"

    /// All users may read a published file, but only the owner may write it.
    private mutating func examineMode(_ name: String, _ status: FileStatus, _ role: Role) {
        if role == .published {
            guard !status.access.keepsOthersOut(.othersMayRead) else { return }
            return add(
                .warning, "loose-mode", "users other than the owner can change \(name)",
                advice: "chmod 644 \(ShellArgument.quoted(path(name)))")
        }
        guard role.isPrivate, !snapshot.isDemo, !status.access.keepsOthersOut(.ownerOnly) else { return }
        let what = role == .folder ? "the folder" : name
        add(
            role.isOwn ? .error : .warning, "loose-mode", "users other than the owner can open \(what)",
            advice: "chmod \(role == .folder ? "700" : "600") \(ShellArgument.quoted(path(name)))")
    }

    /// Commands refuse private files of other users, but not root's.
    private mutating func examineOwner(_ name: String, _ status: FileStatus, _ role: Role) {
        let owner = status.access.owner
        guard owner != user else { return }
        let isRefused = role.isOwn && role.isPrivate && !snapshot.isDemo && !status.access.belongs(to: user)
        let what = name == "." ? "the folder" : name
        add(
            isRefused ? .error : .warning, "owner", "\(what) belongs to user \(owner), and you are user \(user)",
            advice: "chown \(user) \(ShellArgument.quoted(path(name)))")
    }

    private mutating func examineTime(_ name: String, _ status: FileStatus) {
        let modifiedAt = UnixTime(status.modified.seconds)
        let tolerance = Freshness.toleranceInSeconds
        if modifiedAt > now + tolerance {
            let what = name == "." ? "the folder" : name
            add(
                .warning, "future-file", "\(what) was written at \(modifiedAt), and the time is \(now)",
                advice: "date -u")
        }
        guard name == KeysetFolder.keysetName, let file = try? snapshot.keyset.get(),
            let updatedAt = file.metadata.timeline.updatedAt, updatedAt > modifiedAt + tolerance
        else { return }
        add(
            .warning, "clock-skew",
            "\(name) was written at \(modifiedAt), but its last change is dated \(updatedAt): a clock was wrong, or "
                + "--at set another time",
            advice: "date -u")
    }

    /// The purpose of a file in a keyset's folder.
    private enum Role: Equatable {
        case folder, keyset, log, published, leftover, brokenLog, foreign

        init(_ name: String) {
            switch name {
            case ".": self = .folder
            case KeysetFolder.keysetName: self = .keyset
            case KeysetFolder.auditName: self = .log
            case KeysetFolder.publicName: self = .published
            case _ where Folder.isLeftover(name): self = .leftover
            case _ where name.hasPrefix(KeysetStore.brokenLogPrefix): self = .brokenLog
            default: self = .foreign
            }
        }

        /// Whether commands use the file.
        var isOwn: Bool { [.folder, .keyset, .log, .published].contains(self) }

        var isPrivate: Bool { self != .published && self != .foreign }
    }
}
