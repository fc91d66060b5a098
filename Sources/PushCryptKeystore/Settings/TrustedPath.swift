import PushCryptFiles
import PushCryptPrimitives

/// The rule for files that decide what this process runs: settings, and the programs that they name.
///
/// The file, each folder above it and each link on the way belong to the caller or to root, and nobody else can write the file
/// and the folders. Links are followed, because `/bin` and `/etc` are made of them; what they lead through is checked, too. So
/// no other user can change where the path leads between this check and its use.
enum TrustedPath {
    private static let maximumLinkCount = 40
    private static let stickyBit: UInt32 = 0o1000

    /// - Parameters:
    ///   - path: absolute.
    ///   - member: of the settings, for errors.
    ///   - allowsSticky: whether a folder such as /tmp may be above it, where users can't replace what belongs to others.
    /// - Throws: `SettingsError` with the path at fault; `FileError` with `noPermission`.
    static func check(
        _ path: String, _ member: String?, _ context: SettingsContext, allowingSticky allowsSticky: Bool = false
    ) throws {
        let status = try walk(path, member, context, allowingSticky: allowsSticky)
        guard status.kind == .file else { throw SettingsError(.notAFile, path, member) }
    }

    /// - Returns: the status of what the path leads to.
    @discardableResult
    static func walk(
        _ path: String, _ member: String?, _ context: SettingsContext, allowingSticky allowsSticky: Bool
    ) throws -> FileStatus {
        var rest = path.split(separator: "/").reversed() as [Substring]
        var (place, linkCount) = ("", 0)
        while true {
            // Empty for the root folder.
            let current = place.isEmpty ? "/" : place
            guard let status = try FileStatus.at(current) else { throw SettingsError(.missing, current, member) }
            if !context.root.hasPrefix(place + "/") {
                guard status.access.belongs(to: context.user) else {
                    throw SettingsError(.foreignOwner, current, member)
                }
                let isSticky = status.kind == .folder && status.access.mode & stickyBit != 0
                let isSafe =
                    status.kind == .symbolicLink || status.access.keepsOthersOut(.othersMayRead)
                    || allowsSticky && isSticky
                guard isSafe else { throw SettingsError(isSticky ? .stickyFolder : .writableByOthers, current, member) }
            }
            if status.kind == .symbolicLink {
                linkCount += 1
                guard linkCount <= maximumLinkCount else { throw SettingsError(.tooManyLinks, path, member) }
                let target = try FileSystem.target(ofLink: current)
                place = target.utf8.first == UInt8(ascii: "/") ? "" : parent(of: place)
                rest += target.split(separator: "/").reversed()
            }
            while rest.last == "." || rest.last == ".." {
                if rest.removeLast() == ".." { place = parent(of: place) }
            }
            guard let name = rest.popLast() else { return status }
            guard status.kind != .file, status.kind != .other else {
                throw SettingsError(.notAFolder, current, member)
            }
            place += "/\(name)"
        }
    }

    /// Empty for the root folder.
    private static func parent(of place: String) -> String {
        let parent = FileSystem.parent(of: place)
        return parent == "/" ? "" : parent
    }
}
