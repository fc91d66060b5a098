import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives

/// Checks the kind, mode, owner and times of a keyset's files.
extension KeysetExamination {
    mutating func examineFiles() {
        examine(".", snapshot.folder)
        for (name, status) in snapshot.files.sorted(by: { $0.key < $1.key }) { examine(name, status) }
        examineFutureFiles()
    }

    private func pathArgument(_ name: String) -> String {
        ShellArgument.quoted(snapshot.path + (name == "." ? "" : "/" + name))
    }

    private static func description(_ name: String) -> String { name == "." ? "the folder" : name }

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
        examineAccess(status.access, role, Self.description(name), pathArgument(name))
        if role == .keyset { examineLastChange(UnixTime(status.modified.components.seconds)) }
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
            advice: ownership(access.owner))
    }

    /// A keyset isn't given to each user who looks at it: it belongs to the user of the keystore.
    private func ownership(_ owner: UInt32) -> String {
        let parent = FileSystem.parent(of: snapshot.path)
        let keystore = FileStatus((parent.isEmpty ? "." : parent) + "/.")?.access
        let owners = [snapshot.folder.access.owner, keystore?.owner ?? user]
        if let other = owners.first(where: { $0 != user && $0 != 0 }) ?? owners.first(where: { $0 != user }) {
            return "work as user \(other)"
        }
        let reason = "as root: the keyset's folder belongs to user \(user)"
        return "chown -R \(user) \(ShellArgument.quoted(snapshot.path))  # \(reason)"
    }

    /// One finding for all files: a clock that was wrong wrote more than one.
    private mutating func examineFutureFiles() {
        let tolerance = Freshness.toleranceInSeconds
        let all = snapshot.files.filter { $0.value.kind == .file }.merging([".": snapshot.folder]) { file, _ in file }
        let written = all.mapValues { UnixTime($0.modified.components.seconds) }.filter { $0.value > now + tolerance }
        guard let last = written.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else { return }
        let name = Self.description(last.key)
        let paths = written.keys.sorted().map(pathArgument).joined(separator: " ")
        add(
            .warning, "future-file",
            written.count == 1
                ? "\(name) was written at \(last.value), and the time is \(now)"
                : "\(written.count) files were written in the future, the last one, \(name), at \(last.value), and the time is "
                    + "\(now)",
            advice: "touch \(paths)  # if `date -u` prints the right time, or wait until \(last.value + -tolerance); "
                + "otherwise correct the clock")
    }

    private mutating func examineLastChange(_ modifiedAt: UnixTime) {
        guard let updatedAt = metadata?.timeline.updatedAt, updatedAt > modifiedAt + Freshness.toleranceInSeconds else {
            return
        }
        add(
            .warning, "clock-skew",
            "\(KeysetFolder.keysetName) was written at \(modifiedAt), but its last change is dated \(updatedAt): a clock was "
                + "wrong, or --at set another time",
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
