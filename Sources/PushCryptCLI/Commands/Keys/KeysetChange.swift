import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

/// One keyset that a command changes: preview, confirmation, change and report.
struct KeysetChange {
    let path: String
    let options: ChangeOptions
    let secret: SecretSource
    private let secrets: SecretOptions
    /// Whether the operator has confirmed a clock that seems wrong.
    let confirmsClock: Bool
    private let hook: ChangeHook?
    private let knownFile = Remembered<KeysetFile>()
    private let knownMetadata = Remembered<KeysetMetadata>()
    private let answeredSecret = Remembered<SecretSource>()

    /// - Parameter answer: the secret typed for another keyset of the same command.
    init(
        _ path: String, _ options: ChangeOptions, _ clock: ClockOptions, _ secrets: SecretOptions,
        _ expected: ExpectedState = .anything, _ answer: Remembered<KeysetSecret> = Remembered()
    ) throws {
        try KeySource.requireKeyset(path, secrets.repeatedArguments)
        self.path = path
        self.options = options
        confirmsClock = clock.isConfirmed
        hook = try options.hook()
        self.secrets = secrets
        secret = secrets.source(of: path, remembering: answer).expecting(expected)
    }

    var time: UnixTime { options.time }

    var actor: Actor {
        get throws { try options.actor(secrets) }
    }

    /// The metadata as of the first call. No secret is needed; with one the metadata is authenticated.
    func metadata() throws -> KeysetMetadata {
        try knownMetadata.value { try namingFile { try file().metadata(secret) } }
    }

    /// The protection as of the first call.
    func protection() throws -> Protection { try namingFile { try file().protection } }

    /// Reads or asks for the secret once. A secret typed for an encrypted keyset makes the change refuse a plain one.
    @discardableResult
    func answerSecret(evenIfOlder: Bool = false) throws -> SecretSource {
        try answeredSecret.value { try namingFile { try file().answered(secret, evenIfOlder: evenIfOlder) } }
    }

    /// Reads the keys and throws if the secret is missing or wrong.
    func checkSecret() throws { _ = try namingFile { try file().unlocked(answerSecret()) } }

    /// The file as of the first call, without the lock. The change reads it again under the lock.
    private func file() throws -> KeysetFile {
        try knownFile.value {
            let file = try KeysetFolder(path).file(secret.arguments)
            StandardStreams.writeDetail(
                "\(path): \(file.metadata.kind.rawValue) keyset, seq \(file.metadata.sequence), \(file.protection.name)"
            )
            return file
        }
    }

    /// Refuses the change if the clock seems wrong: before the last change or far after it. Every change is refused far
    /// after the last one; this also refuses it before.
    func checkClock() throws {
        let metadata = try metadata()
        guard !confirmsClock, let objection = metadata.timeline.clockObjection(to: time, metadata.policy) else {
            return
        }
        throw Failure(.temporary, "\(path): \(objection)")
    }

    func losses(_ body: (inout KeysetEditor) throws -> Void) throws -> [String] {
        try naming {
            try KeysetStore(path).requireUnbrokenLog(metadata(), secrets.repeatedArguments)
            return try KeysetEditor.losses(
                of: metadata(), at: time, confirmsClock: confirmsClock, by: actor, in: KeysetFolder(path).path,
                body)
        }
    }

    /// Asks for agreement to the losses of a change, and makes it.
    ///
    /// - Parameter nothing: what the question says if nothing is lost.
    func make(
        _ what: String, orNothing nothing: [String] = [], _ confirm: (String, [String]) throws -> Void,
        addingToJSON members: JSONObject = [:], _ body: (inout KeysetEditor) throws -> Void
    ) throws {
        let losses = try losses(body)
        try confirm(what, losses.isEmpty ? nothing : losses)
        try make(addingToJSON: members, body)
    }

    /// Prints what a revocation would lose, and the other keys of the keyset.
    func previewRevocation(of kid: KeyID, successor: KeyID?) throws {
        let metadata = try metadata()
        let losses = try losses { try $0.revoke(kid, successor: successor) }
        let others = OtherKeys(of: metadata, excluding: kid, successor: successor, at: time)
        let json: JSONObject = [
            "keyset": path, "at": "\(metadata.timeline.effective(time))", "wouldRevoke": "\(kid)", "losses": losses,
            "otherKeys": others.json(path, secrets),
        ]
        try StandardStreams.write(json, asJSON: options.json) { _ in
            "would revoke key \(kid)\n" + losses.map { "  - \($0)\n" }.joined()
        }
    }

    /// Revokes a key and says what is left to do.
    func revoke(_ kid: KeyID, successor: KeyID?, _ confirm: (String, [String]) throws -> Void) throws {
        let before = try metadata()
        let state = before.timeline.state(of: kid, at: time)
        let others = OtherKeys(of: before, excluding: kid, successor: successor, at: time)
        func noteNextSteps() throws {
            guard let state else { return }
            let after = try KeysetFolder(path).file().metadata
            let publishing = try publishing(of: after)
            let steps = NextSteps(path, after, at: time, secrets, others, publishing).afterRevoking(state)
            if !steps.isEmpty { StandardStreams.writeNote(steps) }
            for other in KeysetCopies.users(of: kid, beside: path) {
                StandardStreams.writeNote(
                    "\(other) has the same key and doesn't revoke it: one of the two keysets is a copy. Revoke it there, too: "
                        + "`\(PublishedKeyset.revokeCommand(other, kid, secrets.repeatedArguments))`, then move the copy out of the keystore"
                )
            }
        }
        func confirmReplacement(_ what: String, _ losses: [String]) throws {
            let hint = "if it didn't leak, `pushcrypt rotate` replaces it without a loss"
            try confirm(what, state == .primary ? losses + [hint] : losses)
        }
        let replacement = successor.map { "key \($0)" } ?? "a new key"
        let place = state == .primary ? ", in whose place \(replacement) becomes the primary one" : ""
        do {
            try make(
                "revoking key \(kid) of \(path)\(place):", orNothing: ["no push is lost"],
                confirmReplacement,
                addingToJSON: ["otherKeys": others.json(path, secrets)]
            ) {
                try $0.revoke(kid, successor: successor)
            }
        } catch let error as KeystoreError where error.code == .hookFailed {
            try noteNextSteps()
            throw error
        }
        try noteNextSteps()
    }

    private func publishing(of metadata: KeysetMetadata) throws -> NextSteps.Publishing {
        guard let record = try KeysetStore(path).hookRecord() else {
            return .byHand(isSigned: metadata.signedSet != nil)
        }
        guard record.sequence == metadata.sequence, let program = record.program else {
            return .program(command: command(running: record))
        }
        return .done(program: program)
    }

    private func command(running record: ChangeHook.Record) -> String {
        "pushcrypt rotate \(ShellArgument.quoted(path))\(secrets.repeatedArguments)"
            + (record.options ?? " --exec-on-change PROGRAM")
    }

    /// - Parameter members: further members of the JSON.
    func make(addingToJSON members: JSONObject = [:], _ body: (inout KeysetEditor) throws -> Void) throws {
        let secret = try answerSecret()
        let change = try naming {
            try KeysetStore(path).change(
                at: time, confirmsClock: confirmsClock, by: actor, secret, body)
        }
        for notice in change.notices { StandardStreams.writeNote(notice) }
        if !change.events.isEmpty, !confirmsClock { noteSlowClock(change.metadata) }
        try report(change.events, change.metadata, members)
        try runHook(after: change.metadata)
    }

    /// A change that can't wait, such as a revocation, is made under a slow clock, at the time of the change before it.
    private func noteSlowClock(_ metadata: KeysetMetadata) {
        guard let objection = metadata.timeline.clockIsBehind(at: time) else { return }
        StandardStreams.writeNote("\(path): \(objection): the change has that time; set the clock")
    }

    /// Carries out the steps that are due, unless it is a dry run. Prints only notices about interrupted changes.
    func rotate(
        isDryRun: Bool, checking check: KeysetStore.SecretCheck, _ plan: (KeysetMetadata) -> RotationPlan
    ) throws -> KeysetStore.Rotation {
        let rotation = try naming {
            try namingFile {
                try KeysetStore(path).rotate(
                    at: time, by: actor, secret, checking: check, isDryRun: isDryRun, plan)
            }
        }
        for notice in rotation.notices { StandardStreams.writeNote(notice) }
        return rotation
    }

    /// Runs the program of --exec-on-change, unless it has succeeded since the last change.
    ///
    /// - Parameters:
    ///   - metadata: authenticated by the change.
    ///   - again: whether to run it also if it has succeeded.
    /// - Returns: whether the program ran.
    @discardableResult
    func runHook(after metadata: KeysetMetadata, again: Bool = false) throws -> Bool {
        guard let hook else { return false }
        return try KeysetStore(path).run(hook, after: metadata, secrets.repeatedArguments, again: again)
    }

    /// What a dry run says of the program, which it doesn't run; nil if nothing is left for the program to do.
    ///
    /// - Parameter again: whether it runs also if it has succeeded.
    func pendingHook(after metadata: KeysetMetadata, again: Bool) throws -> String? {
        guard let program = options.execOnChange else { return nil }
        let hasSucceeded = try KeysetStore(path).hookRecord()?.sequence == metadata.sequence
        guard hasSucceeded else {
            return "\(program) has not succeeded for seq \(metadata.sequence): it runs without --dry-run"
        }
        return again ? "\(program) has succeeded for seq \(metadata.sequence): it runs again without --dry-run" : nil
    }

    /// How to publish the signed set after a change, without the verb: with the program of earlier changes, if there is one; nil if this command
    /// runs the program.
    var publishing: String? {
        guard hook == nil else { return nil }
        if let record = try? KeysetStore(path).hookRecord(), record.options != nil {
            return "with the program of the last run: `\(TerminalText.harmless(command(running: record).utf8))`"
        }
        return PublicationStatus.publishing(path, secrets)
    }

    private func report(_ events: [AuditEvent], _ metadata: KeysetMetadata, _ members: JSONObject) throws {
        let done: JSONObject = [
            "keyset": path, "at": "\(metadata.timeline.effective(time))", "done": events.map(\.json),
        ]
        let json = done.adding(members)
        try StandardStreams.write(json, asJSON: options.json) { _ in
            let lines = events.map(\.line)
            guard !lines.isEmpty else { return "nothing to change\n" }
            // Another secret issues the set again with the same keys: apps need no new one.
            let isPublic = events.contains { $0.action != .protectionChanged }
            let publishing = metadata.signedSet == nil || !isPublic ? nil : publishing
            return TerminalText.wrap(
                lines: lines.joined() + (publishing.map { "publish \($0)\n" } ?? ""),
                width: StandardStreams.wrappingColumns)
        }
    }

    private func namingFile<Result>(_ body: () throws -> Result) throws -> Result {
        try KeySource.naming(path, secrets.repeatedArguments, body)
    }

    private func naming<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch  where error is LifecycleError || error is KeyError || error is CryptoError {
            let failure = Failure(error)
            throw KeySource.unreadable(path, error, secrets.repeatedArguments)
                ?? Failure(failure.status, "\(path): \(failure.message)")
        }
    }
}

extension AuditEvent {
    /// A line that says what was done.
    var line: String {
        let key = kid?.description ?? (action == .added ? "a new key" : nil)
        return [action.text, key].compactMap(\.self).joined(separator: " ")
            + (detail.map { ": " + Self.text(ofDetail: $0) } ?? "") + "\n"
    }

    /// `{"what", ["kid"], ["detail"]}`
    var json: JSONObject {
        let json: JSONObject = ["what": action.rawValue]
        return json.adding(ifKnown: ["kid": kid?.description, "detail": detail])
    }
}
