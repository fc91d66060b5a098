import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives

/// Finds the faults of a keystore or of one keyset.
package struct KeystoreExamination {
    /// Those of the keysets and those of other files and folders.
    package private(set) var findings: [Finding] = []
    /// The keysets whose folders can be read.
    package private(set) var keysets: [KeysetExamination] = []
    /// The other keysets: the folder can't be read, has no `keyset.json`, or is a link.
    package private(set) var unreadable: [(path: String, reason: String)] = []
    /// The keysets and keystores that were examined, in the form that two paths of the same folder share.
    package private(set) var examined: Set<String>
    /// The files of the keysets, which are examined when all are known.
    private var snapshots: [KeysetSnapshot] = []
    /// The folders of keysets that may be in the wrong place: path, name and depth in the keystore.
    private var places: [(path: String, name: String, depth: Int)] = []
    /// Whether the path names or contains what was known before.
    private var meetsKnown = false
    private let context: KeysetExamination.Context
    private let path: String

    /// - Parameter known: what an examination of another path has examined; it isn't reported again.
    /// - Throws: `KeystoreError` if the folder can't be read.
    package init(_ path: String, _ context: KeysetExamination.Context, except known: Set<String> = []) throws {
        self.context = context
        examined = known
        let folder = KeysetFolder(path)
        self.path = folder.path
        let path = folder.path
        if try folder.exists {
            examineKeyset(path)
        } else if try folder.hasKeyset {
            reportMissing(path)
        } else {
            try examineKeystore(path, depth: 0)
        }
        examineSnapshots()
        examinePublishers()
        examineServedFolder()
        findings.sort()
    }

    package var keysetCount: Int { keysets.count + unreadable.count }

    /// - Throws: `KeystoreError` with `notFound` if there is no keyset at the path of the examination.
    package func requireKeyset(in path: String) throws {
        guard keysetCount > 0 || meetsKnown else { throw Keystore.noKeyset(in: path) }
    }

    /// - Returns: false for what was examined before.
    private mutating func begin(_ path: String) -> Bool {
        let isNew = examined.insert(Keystore.identity(of: path)).inserted
        meetsKnown = meetsKnown || !isNew
        return isNew
    }

    private mutating func add(
        _ severity: Finding.Severity, _ path: String, _ code: String, _ message: String, advice: String
    ) {
        findings.append(Finding(severity: severity, keyset: path, code: code, message: message, advice: advice))
    }

    private mutating func examineKeyset(_ path: String) {
        guard begin(path) else { return }
        do {
            snapshots.append(try KeysetSnapshot(path, requiringPrivacy: false))
        } catch {
            unreadable.append((path, "\(error)"))
            guard FileStatus(path)?.kind == .symbolicLink else { return findings.append(.unreadable(path, error)) }
            add(.error, path, "symbolic-link", "\(error)", advice: "name the folder itself")
        }
    }

    private mutating func examineSnapshots() {
        var copies = context.keysetsOfPaths
        for snapshot in snapshots {
            if let metadata = try? snapshot.keyset.get().metadata { copies.add(metadata, at: snapshot.path) }
        }
        // A keyset that was named has neighbours which weren't.
        for snapshot in snapshots { copies.addNeighbours(of: snapshot.path) }
        let nested = nestedKeystores
        let readable = snapshots.compactMap { snapshot in
            (try? snapshot.keyset.get().metadata).map { (path: snapshot.path, metadata: $0) }
        }
        for snapshot in snapshots {
            var context = context
            let metadata = try? snapshot.keyset.get().metadata
            context.others = readable.filter { $0.path != snapshot.path }
            // If only this keyset is examined, a neighbour's set may still lie in the place of its own.
            let neighbours =
                context.others.isEmpty
                ? PublishedKeyset(snapshot.path, "").neighbours.map(\.metadata) : context.others.map(\.metadata)
            context.served = context.served?.beside(neighbours)
            context.copies = metadata.map { copies.others(with: $0, at: snapshot.path) } ?? []
            let keyset = KeysetExamination(snapshot, context)
            findings += keyset.findings
            keysets.append(keyset)
            // A copy belongs out of the keystore, and not into another place of it.
            for place in places where place.path == snapshot.path && context.copies.isEmpty {
                guard place.depth == 0 || !nested.contains(FileSystem.parent(of: place.path)) else { continue }
                examinePlace(place.path, place.name, depth: place.depth)
            }
        }
        for path in nested.sorted() { reportKeystore(path) }
    }

    /// Examines a keystore and the keystores in it, such as that of the demo keys.
    private mutating func examineKeystore(_ path: String, depth: Int) throws {
        let names = try KeystoreError.convertingFileErrors { try FileSystem.names(in: path) }
        // The suffix follows a link to a keystore.
        guard begin(path) else { return }
        if let access = FileStatus(path + "/.")?.access { examineAccess(access, path) }
        for name in names where !Self.ignoredNames.contains(name) {
            let entry = path == "/" ? "/" + name : path + "/" + name
            guard let status = FileStatus(entry) else { continue }
            if status.kind == .folder {
                try examineFolder(entry, name, depth: depth)
            } else {
                examineStray(entry, status.kind)
            }
        }
    }

    /// A publisher that isn't examined itself and signs nothing, because its restoration isn't confirmed or its last change has a time in
    /// the future.
    private mutating func examinePublishers() {
        for publisher in context.publishers.filter({ !$0.isExamined }).map(\.keyset)
        where examined.insert(Keystore.identity(of: publisher.path)).inserted {
            if let reason = try? KeysetStore(publisher.path).unconfirmedRestoration("") {
                add(
                    .error, publisher.path, "unconfirmed-restore", reason,
                    advice: AuditLog.confirmCommand(publisher.path, ""))
            }
            if let objection = publisher.timeline.clockIsBehind(at: context.time) {
                add(.error, publisher.path, "clock", objection, advice: KeysetExamination.behindAdvice)
            }
        }
    }

    private mutating func examineServedFolder() {
        // The keys of publishers are in the apps, and never in the folder.
        let published = keysets.filter { $0.metadata?.kind != .publisher }
        guard let served = context.served, !published.isEmpty else { return }
        guard published.allSatisfy({ $0.servedCount == 0 }) else { return examineOrphans(served) }
        add(
            .warning, served.path, "served-missing",
            "the folder has no set of any keyset: nothing can fetch their keys there",
            advice:
                "check that this is the folder that `keys publish --to FOLDER` writes; if it is, publish every keyset")
    }

    /// The sets of keysets that are in none of the command's keystores: they were moved away or lost, and nothing renews their sets.
    private mutating func examineOrphans(_ served: ServedFolder) {
        guard context.paths.first.map({ Keystore.identity(of: $0) == Keystore.identity(of: path) }) ?? true else {
            return
        }
        // A keyset that was named has neighbours which weren't.
        let keystores = Set(
            (context.paths + [path]).map { path in
                guard (try? KeysetFolder(path).exists) == true else { return path }
                let keystore = FileSystem.parent(of: KeysetFolder(path).path)
                return keystore.isEmpty ? "." : keystore
            })
        let paths = Set(keystores.flatMap { (try? Keystore($0).everyKeyset()) ?? [] })
            .union(keysets.map(\.snapshot.path)).union(unreadable.map(\.path))
        let known = paths.compactMap { try? KeysetFolder($0).file().metadata }
        for set in served.orphans(of: known, named: Set(paths.map(FileSystem.name))) {
            let name = ShellArgument.quoted(set.nameOfCopies)
            add(
                .warning, set.path, "served-orphan",
                "no keyset of these keystores has this set: it isn't renewed, and nothing that is made with other keys opens for those who "
                    + "fetch it",
                advice:
                    "put the keyset \(name) back, if it was moved or lost; if nothing fetches this name any more, move its sets and "
                    + "numbered copies away; if another host has the keyset: status --ignore served-orphan")
        }
    }

    private mutating func examineAccess(_ access: FileAccess, _ path: String) {
        let isSticky = access.mode & 0o1000 != 0
        if !access.keepsOthersOut(.othersMayRead), !isSticky {
            add(
                .warning, path, "loose-mode",
                "users other than the owner can add keysets to this folder and remove them",
                advice: "chmod go-w \(ShellArgument.quoted(path))")
        }
        if !access.belongs(to: context.user) {
            add(
                .warning, path, "owner",
                "the folder belongs to user \(access.owner), who can add keysets to it and remove them",
                advice: "work as user \(access.owner)")
        }
    }

    private mutating func examineFolder(_ path: String, _ name: String, depth: Int) throws {
        if TemporaryKeysetFolders.isTemporary(name) {
            return add(
                .warning, path, "unfinished", "an interrupted `keys create` left it, or a `keys create` is running",
                advice: "the next `keys create` in the same folder removes it")
        }
        guard let isKeyset = try? KeysetFolder(path).exists else { return examineKeyset(path) }
        guard !isKeyset else {
            examineKeyset(path)
            return places.append((path, name, depth))
        }
        let names: [String]
        do throws(FileError) {
            names = try FileSystem.names(in: path)
        } catch {
            return findings.append(.unreadable(path, error))
        }
        let hasFilesOfAKeyset = names.contains { $0 == KeysetFolder.auditName || $0 == KeysetFolder.publicName }
        if hasFilesOfAKeyset {
            reportMissing(path)
        } else if depth < Self.maximumDepth, names.contains(where: { FileSystem.isFolder(path + "/" + $0) }) {
            try examineKeystore(path, depth: depth + 1)
        } else {
            add(.note, path, "foreign-file", "a folder without a keyset", advice: KeysetExamination.moveForeignFile)
        }
    }

    private mutating func reportMissing(_ path: String) {
        let reason = "there is no \(KeysetFolder.keysetName)"
        unreadable.append((path, "\(path): \(reason)"))
        add(.error, path, "missing", reason, advice: Verification.restore(path, context.secretArguments))
    }

    /// `Keystore` lists the folders of the keystore whose names don't begin with a dot.
    private mutating func examinePlace(_ path: String, _ name: String, depth: Int) {
        let isHidden = name.hasPrefix(".")
        guard depth > 0 || isHidden, !keysetIsDemo(path) else { return }
        var parent = path
        for _ in 0...depth { parent = String(parent[..<(parent.lastIndex(of: "/") ?? parent.startIndex)]) }
        let visible = String(name.drop { $0 == "." })
        let target = "\(parent)/\(visible.isEmpty ? "NAME" : visible)"
        let isFree = FileStatus(target) == nil
        add(
            .warning, path, "misplaced",
            "`rotate --all \(parent)` doesn't rotate this keyset: "
                + (isHidden ? "the name of its folder begins with a dot" : "it isn't directly in the keystore"),
            advice: "mv \(ShellArgument.quoted(path)) \(ShellArgument.quoted(isFree ? target : "\(parent)/NAME"))"
                + (isFree ? "" : "  # NAME is a name that is free"))
    }

    /// The folders in the keystore that are keystores of their own: they have several keysets, or the outer one has none. A program
    /// wouldn't find a keyset any more that is moved out of its keystore.
    private var nestedKeystores: Set<String> {
        let demos = Set(snapshots.filter(\.isDemo).map(\.path))
        let keysets = places.filter { !$0.name.hasPrefix(".") && !demos.contains($0.path) }
        let inner = Dictionary(grouping: keysets.filter { $0.depth > 0 }) { FileSystem.parent(of: $0.path) }
        let isInsideKeystore = keysets.contains { $0.depth == 0 }
        return Set(inner.filter { $0.value.count > 1 || !isInsideKeystore }.keys)
    }

    private mutating func reportKeystore(_ path: String) {
        add(
            .warning, path, "misplaced",
            "this folder is a keystore of its own: commands for the folder around it, such as `rotate --all`, don't rotate its "
                + "keysets",
            advice: "pushcrypt status \(ShellArgument.quoted(path))\(context.secretArguments)"
                + "  # name this keystore in commands, and not the folder around it")
    }

    private func keysetIsDemo(_ path: String) -> Bool {
        (try? KeysetFolder(path).file()).map { DemoKeys.covers($0.keyIDs) } ?? false
    }

    private mutating func examineStray(_ path: String, _ kind: FileStatus.Kind) {
        if kind == .symbolicLink, (try? KeysetFolder(path).exists) == true {
            let reason = "a symbolic link to a keyset; a keystore contains only files and folders"
            unreadable.append((path, "\(path): \(reason)"))
            let target = FileSystem.parent(of: Keystore.identity(of: path))
            let isInKeystore = target == Keystore.identity(of: FileSystem.parent(of: path))
            return add(
                .error, path, "symbolic-link", reason,
                advice: isInKeystore
                    ? "rm \(ShellArgument.quoted(path))  # the keyset itself is in this keystore, too"
                    : "replace the link with the folder")
        }
        add(.note, path, "foreign-file", "not a file of a keystore", advice: KeysetExamination.moveForeignFile)
    }

    /// The files of the project's own Keys folder that aren't keysets.
    private static let ignoredNames: Set<String> = ["README.md", ".gitignore"]
    private static let maximumDepth = 3
}
