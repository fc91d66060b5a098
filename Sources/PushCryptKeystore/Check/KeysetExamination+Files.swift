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

    private mutating func examine(_ name: String, _ status: FileStatus) {
        let role = Role(name)
        guard examineKind(name, status.kind, role) else { return }
        switch role {
        case .leftover:
            add(.warning, "unfinished", "an interrupted change left \(name)", advice: verify)
        case .brokenLog:
            add(
                .note, "old-log", "\(name) is an audit log that `keys log --start-new` replaced",
                advice: "move it to another place after you have examined it")
        case .replacedKeyset:
            add(
                .note, "replaced-keyset",
                "\(name) is a keyset that `keys restore` replaced; it may contain keys that are destroyed in this one",
                advice:
                    "remove it when you no longer need it: shred -u \(ShellArgument.quoted(snapshot.path + "/" + name))"
            )
        case .foreign:
            add(.note, "foreign-file", "\(name) is not a file of the keyset", advice: Self.moveForeignFile)
        default: break
        }
        let what = role == .folder ? "the folder" : name
        examineAccess(
            status.access, role, what, ShellArgument.quoted(snapshot.path + (role == .folder ? "" : "/" + name)))
        examineTime(UnixTime(status.modified.components.seconds), role, what)
    }

    /// - Returns: whether the other checks apply: it is a file, or the keyset's folder.
    private mutating func examineKind(_ name: String, _ kind: FileStatus.Kind, _ role: Role) -> Bool {
        switch kind {
        case .file where role != .folder, .folder where role == .folder: return true
        case .symbolicLink:
            add(
                role.isOwn ? .error : .warning, "symbolic-link",
                "\(name) is a symbolic link; a keystore contains only files and folders",
                advice: "replace the link with the file")
        default:
            add(role.isOwn ? .error : .note, "foreign-file", "\(name) is not a file", advice: Self.moveForeignFile)
        }
        return false
    }

    static let moveForeignFile = "move it to another place; pushcrypt doesn't touch it"

    /// Commands refuse private files that other users can open or own, except root's. All users may read a published file.
    private mutating func examineAccess(_ access: FileAccess, _ role: Role, _ what: String, _ path: String) {
        let isPrivate = role.isPrivate && !snapshot.isDemo
        if role == .published, !access.keepsOthersOut(.othersMayRead) {
            add(.warning, "loose-mode", "users other than the owner can change \(what)", advice: "chmod 644 \(path)")
        } else if isPrivate, !access.keepsOthersOut(.ownerOnly) {
            add(
                role.isOwn ? .error : .warning, "loose-mode", "users other than the owner can open \(what)",
                advice: "chmod \(role == .folder ? "700" : "600") \(path)")
        }
        guard access.owner != user else { return }
        add(
            role.isOwn && isPrivate && !access.belongs(to: user) ? .error : .warning, "owner",
            "\(what) belongs to user \(access.owner), and you are user \(user)",
            // A keyset isn't given to each user who looks at it.
            advice: snapshot.folder.access.owner == user
                ? "chown \(user) \(path)" : "work as user \(snapshot.folder.access.owner)")
    }

    private mutating func examineTime(_ modifiedAt: UnixTime, _ role: Role, _ what: String) {
        let tolerance = Freshness.toleranceInSeconds
        if modifiedAt > now + tolerance {
            add(
                .warning, "future-file", "\(what) was written at \(modifiedAt), and the time is \(now)",
                advice: "date -u")
        }
        guard role == .keyset, let updatedAt = try? snapshot.keyset.get().metadata.timeline.updatedAt,
            updatedAt > modifiedAt + tolerance
        else { return }
        add(
            .warning, "clock-skew",
            "\(what) was written at \(modifiedAt), but its last change is dated \(updatedAt): a clock was wrong, or "
                + "--at set another time",
            advice: "date -u")
    }

    /// The purpose of a file in a keyset's folder.
    private enum Role {
        case folder, keyset, log, published, hook, leftover, brokenLog, replacedKeyset, foreign

        init(_ name: String) {
            switch name {
            case ".": self = .folder
            case KeysetFolder.keysetName: self = .keyset
            case KeysetFolder.auditName: self = .log
            case KeysetFolder.publicName: self = .published
            case KeysetFolder.hookName: self = .hook
            case _ where Folder.isLeftover(name): self = .leftover
            case _ where name.hasPrefix(KeysetStore.brokenLogPrefix): self = .brokenLog
            case _ where name.hasPrefix(KeysetStore.replacedKeysetPrefix): self = .replacedKeyset
            default: self = .foreign
            }
        }

        /// Whether commands use the file.
        var isOwn: Bool { [.folder, .keyset, .log, .published].contains(self) }

        var isPrivate: Bool { self != .published && self != .foreign }
    }
}
