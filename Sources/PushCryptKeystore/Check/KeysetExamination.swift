package import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets
import PushCryptPrimitives

/// Finds the faults of one keyset. It needs no secret; with one it checks that too.
package struct KeysetExamination {
    /// What an examination knows beside the files.
    package struct Context {
        package let time: UnixTime
        package var user = FileSystem.ownUser
        /// This host; nil if it has no name.
        package var writer: String?
        /// The reports of devices, for policies that require coverage.
        package var reports: DeviceReports?
        /// The options that name the secret of encrypted keysets, for commands that findings advise: each begins with a space.
        package var secretArguments = ""
        /// The keysets and keystores of the command, if there are several.
        private(set) var paths: [String] = []
        /// The keysets in them: one may have copies of another one's.
        private(set) var keysetsOfPaths = KeysetCopies()
        /// The other keysets of the keystore or of the command that hold the same keys.
        var copies: [KeysetCopies.Copy] = []
        /// The other keysets that are examined.
        var others: [(path: String, metadata: KeysetMetadata)] = []
        /// The folder of the published sets to compare with.
        package var served: ServedFolder?
        /// The public keys of the examined publisher keysets, which verify the served sets.
        private(set) var publishers: [Publisher] = []
        /// The secret of the keyset at a path; nil if it isn't checked.
        package var secret: (String) -> SecretSource? = { _ in nil }

        package init(at time: UnixTime) { self.time = time }

        /// Reads each keyset of several paths once, so that the examination of one path finds copies in the others.
        package mutating func compare(_ paths: [String]) {
            guard paths.count > 1 else { return }
            self.paths = paths
            for path in paths.flatMap({ (try? Keystore($0).everyKeyset()) ?? [] }) {
                keysetsOfPaths.addKeyset(at: path)
            }
        }

        struct Publisher {
            let keyset: PublisherKeyset
            let records: [KeyRecord]
            /// Whether its own faults are reported, too. The others only verify the served sets.
            let isExamined: Bool
        }

        /// Finds the publisher keysets at paths of keysets and keystores. One that can't be read is reported when it is examined.
        ///
        /// - Parameter areExamined: whether the paths are those of the examination.
        package mutating func addPublishers(in paths: [String], areExamined: Bool) {
            for path in paths.flatMap({ (try? Keystore($0).everyKeyset()) ?? [] })
            where !publishers.contains(where: { Self.isSame($0.keyset.path, path) }) {
                guard let metadata = try? KeysetFolder(path).file().metadata, metadata.kind == .publisher else {
                    continue
                }
                let bytes = try? FileSystem.readFoundFile(path + "/" + KeysetFolder.publicName)
                let keys = bytes.flatMap { try? Keyset(json: $0) }?.entries ?? []
                let keyset = PublisherKeyset(path: path, timeline: metadata.timeline)
                publishers.append(Publisher(keyset: keyset, records: keys.map(\.record), isExamined: areExamined))
            }
        }

        private static func isSame(_ path: String, _ other: String) -> Bool {
            Keystore.identity(of: path) == Keystore.identity(of: other)
        }

        /// The publisher keyset that signs a set again: the only one, or the only one that has a key of its signers; nil otherwise.
        func publisher(of set: ServedSet?) -> PublisherKeyset? {
            let all = publishers.map(\.keyset)
            let own = all.count == 1 ? all : all.filter { keyset in set.map { !keyset.isForeign(to: $0) } ?? false }
            return own.count == 1 ? own[0] : nil
        }
    }

    /// The secret of encrypted keys.
    package enum SecretCondition: String, Hashable, Sendable, Encodable {
        /// The keys are in plain text, or can't be read.
        case none
        case unchecked, right, wrong
        /// It is missing, can't be read, or is for a keyset of another protection, or its command failed.
        case unusable
    }

    /// Why changes of the keyset are refused.
    package struct Refusal {
        /// As in the error of the command.
        package let reason: String
        /// The host that changes the keyset; nil if the keyset, its secret or the clock has a fault, which is a finding.
        package let host: String?
    }

    package let snapshot: KeysetSnapshot
    let context: Context
    package internal(set) var findings: [Finding] = []
    package internal(set) var secret = SecretCondition.none
    /// nil if this host can change the keyset, and for published demo keys.
    var refusal: Refusal?
    /// The number of its sets in the folder that is served.
    var servedCount = 0
    /// Whether the audit log matches the keyset; nil if one of them can't be read.
    package let logCondition: AuditLog.Condition?
    /// The unlocked keys of plain text, or of a secret that is right.
    var stored: StoredKeyset?

    /// - Parameter snapshot: read with `requiringPrivacy: false`.
    package init(_ snapshot: KeysetSnapshot, _ context: Context) {
        self.snapshot = snapshot
        self.context = context
        logCondition = snapshot.logCondition
        examineFiles()
        switch snapshot.keyset {
        case .success(let file): examine(file)
        case .failure(let error):
            refusal = Refusal(reason: "\(error)", host: nil)
            examine(error)
        }
    }

    var now: UnixTime { context.time }
    var user: UInt32 { context.user }

    /// The keyset's metadata; nil if its file can't be read.
    package var metadata: KeysetMetadata? { try? snapshot.keyset.get().metadata }

    /// The plan, in which what `rotate` would refuse is blocked.
    package func plan(_ metadata: KeysetMetadata) -> RotationPlan {
        var plan = metadata.plan(at: now) { context.reports?.verdict(on: $0, metadata, at: now) }
        if let refusal { plan.block(refusal.reason) }
        return plan
    }

    /// Why `rotate` refuses the keyset; nil if it doesn't. It refuses another host only if a step is due.
    ///
    /// - Parameter plan: nil if the keyset's file can't be read.
    package func rotationRefusal(_ plan: RotationPlan?) -> Refusal? {
        guard let refusal, refusal.host == nil || plan?.blocked.contains(where: isRefused) == true else {
            return plan?.clockObjection.map { Refusal(reason: $0, host: nil) }
        }
        return refusal
    }

    func isRefused(_ step: RotationPlan.Step) -> Bool { refusal != nil && step.blockedBy == refusal?.reason }

    /// - Parameter dueAt: when the step of `rotate` was due that the finding is about.
    mutating func add(
        _ severity: Finding.Severity, _ code: String, _ message: String, advice: String, dueAt: UnixTime? = nil
    ) {
        findings.append(
            Finding(
                severity: severity, keyset: snapshot.path, code: code, message: message, advice: advice, dueAt: dueAt))
    }

    func command(_ text: String) -> String { "pushcrypt \(text) \(ShellArgument.quoted(snapshot.path))" }

    /// As in ``Context/secretArguments``, if the keyset needs them.
    var secretArguments: String {
        (try? snapshot.keyset.get().protection) == .plaintext ? "" : context.secretArguments
    }

    var restore: String { Verification.restore(snapshot.path, secretArguments) }
    var verify: String { Verification.verify(snapshot, secretArguments) }

    /// The command that changes the keyset. Behind `#`, where or when it is accepted, and `note`.
    func change(_ text: String, then options: String = "", note: String? = nil) -> String {
        var notes = [String]()
        if let refusal {
            notes.append(refusal.host.map { "on \($0)" } ?? "after you have corrected the keyset's error")
        } else if isClockAhead {
            notes.append(Self.confirmation)
        } else if clockObjection != nil {
            notes.append("after you have corrected the clock")
        }
        if let note { notes.append(note) }
        let confirms = refusal == nil && isClockAhead ? " --confirm-clock" : ""
        return command(text) + secretArguments + confirms + options
            + (notes.isEmpty ? "" : "  # " + notes.joined(separator: "; "))
    }

    var clockObjection: String? { metadata.flatMap { $0.timeline.clockObjection(to: now, $0.policy) } }

    /// Whether changes need `--confirm-clock`.
    var isClockAhead: Bool {
        metadata.map { $0.timeline.clockIsBehind(at: now) == nil } == true && clockObjection != nil
    }

    /// The command that exchanges two folders, or a file in them. Only one of the two keysets has it: twice, it would change nothing.
    func exchange(with other: String, _ file: String = "") -> String {
        snapshot.path < other
            ? PublishedKeyset.exchange(snapshot.path + file, other + file)
            : command("keys list") + "  # to see the result of the command for \(other), which exchanges both"
    }

    /// When a command with `--confirm-clock` may run.
    static let confirmation = "if `date -u` prints the right time; otherwise set the clock"

    /// What to do under a clock that is before the last change of a keyset.
    static let behindAdvice =
        "date -u  # if this isn't the time, set the clock; if it is, an earlier run had a wrong clock: "
        + "docs/runbooks/wrong-clock.md"

    private mutating func examine(_ file: KeysetFile) {
        examineContent(file)
        if !snapshot.isDemo {
            examineSecret(file)
            refusal = refusal ?? findRefusal(file.metadata)
            examineProtection(file.protection)
        }
        examineCopies(file.metadata)
        if !snapshot.isDemo { examineWriter(file.metadata) }
        // No command uses the keys of an earlier copy, so that their states and steps mean nothing until it is restored.
        if !isEarlierCopy {
            examineLifecycles(file.metadata.timeline)
            if !snapshot.isDemo { examineRotation(file.metadata) }
            if let set = file.metadata.signedSet { examineSignedSet(set, file.metadata) }
            examineHook(file.metadata)
        }
        examineLog(file.metadata)
        // Without the suite, the published keys can't be read.
        if !snapshot.isDemo, file.metadata.unsupportedSuite == nil {
            examinePublic(file.metadata)
            examineServed(file.metadata)
        }
    }

    var isEarlierCopy: Bool { logCondition?.isEarlierCopy ?? false }

    private mutating func examine(_ error: any Error) {
        if let error = error as? KeyError, error.code == .unsupportedVersion {
            return add(.error, "later-version", error.reason, advice: Verification.keepLaterFile)
        }
        if let error = error as? KeyError, error.code == .unsupportedSuite {
            return add(.error, "unsupported-suite", error.reason, advice: Verification.updateLibrary)
        }
        guard let error = error as? KeystoreError else {
            return add(
                .error, "malformed", "\(KeysetFolder.keysetName) is not a keyset: \(error)",
                advice: restore)
        }
        switch error.code {
        case .notFound:
            add(
                .error, "missing", "there is no \(KeysetFolder.keysetName)",
                advice: restore)
        case .damaged:
            add(.error, "damaged", Verification.digestMismatch, advice: restore)
        case .notAKeyset where snapshot.files[KeysetFolder.keysetName]?.kind == .symbolicLink:
            break  // Reported by examineFiles().
        case .notAKeyset: add(.error, "malformed", error.reason, advice: restore)
        default: findings.append(.unreadable(snapshot.path, error))
        }
    }

    private mutating func examineContent(_ file: KeysetFile) {
        let kids = file.keyIDs
        let isDemo = DemoKeys.covers(kids)
        if isDemo {
            add(
                .warning, "demo-keys", "these keys are published with pushcrypt and protect nothing",
                advice: "use them only for the demo")
        } else if kids.contains(where: { DemoKeys.covers([$0]) }) {
            add(
                .error, "demo-keys", "some of the keys are published with pushcrypt: they protect nothing",
                advice: "pushcrypt keys create NAME --kind \(file.metadata.kind.rawValue)  # create another keyset")
        }
        if file.root[KeysetFile.digestName] == nil, !isDemo {
            add(
                .note, "no-digest", "\(KeysetFolder.keysetName) has no digest: it was made or edited by hand",
                advice: "the next change adds one")
        }
        for path in UnknownMembers.paths(in: file.root) where !(isDemo && path == "comment") {
            add(
                .warning, "unknown-member", "no command reads \(path) in \(KeysetFolder.keysetName)",
                advice: "save it in another place: the next change writes the file without it")
        }
    }

    private mutating func examineWriter(_ metadata: KeysetMetadata) {
        guard let recorded = metadata.writer else {
            return add(
                .note, "no-writer", "the keyset doesn't record which host changes it, so a second host is not refused",
                advice: context.writer == nil
                    ? "set \(Writer.variable) on the host that changes it: it has no machine id"
                    : "nothing, if this is the only host: the next change records it")
        }
        guard let refusal = Writer.refusal(recorded, own: context.writer) else { return }
        add(
            .warning, "other-writer", refusal,
            advice: command("keys policy --writer this") + secretArguments
                + "  # only if this host shall change it from now on, and the other one has stopped; for a copy that is only "
                + "read: status --ignore other-writer")
    }

    private func findRefusal(_ metadata: KeysetMetadata) -> Refusal? {
        do {
            try KeysetStore(snapshot.path).requireChangeable(context.secret(snapshot.path) ?? .none, .never)
        } catch {
            return Refusal(reason: "\(error)", host: nil)
        }
        return Writer.refusal(metadata.writer, own: context.writer).map { Refusal(reason: $0, host: metadata.writer) }
    }
}
