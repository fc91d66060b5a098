import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

/// One keyset that a command changes: preview, confirmation, change and report.
struct KeysetChange {
    let path: String
    let options: ChangeOptions
    let secret: SecretSource
    private let knownFile = Remembered<KeysetFile>()
    private let knownMetadata = Remembered<KeysetMetadata>()
    private let answeredSecret = Remembered<SecretSource>()

    /// - Parameter answer: the secret typed for another keyset of the same command.
    init(
        _ path: String, _ options: ChangeOptions, _ secrets: SecretOptions,
        _ answer: Remembered<KeysetSecret> = Remembered()
    ) throws {
        try KeySource.requireKeyset(path)
        self.path = path
        self.options = options
        secret = secrets.source(of: path, remembering: answer)
    }

    var time: UnixTime { options.time }

    /// The metadata as of the first call. No secret is needed; with one the metadata is authenticated.
    func metadata() throws -> KeysetMetadata {
        try knownMetadata.value { try KeySource.naming(path) { try file().metadata(secret) } }
    }

    /// Reads or asks for the secret once. A secret typed for an encrypted keyset makes the change refuse a plain one.
    @discardableResult
    func answerSecret() throws -> SecretSource {
        try answeredSecret.value { try KeySource.naming(path) { try file().answered(secret) } }
    }

    /// The file as of the first call, without the lock. The change reads it again under the lock.
    private func file() throws -> KeysetFile { try knownFile.value { try KeysetFolder(path).file() } }

    /// Refuses the change if the clock seems wrong: far before or after the last change.
    func checkClock(_ clock: ClockOptions) throws {
        let metadata = try metadata()
        guard !clock.isConfirmed, let objection = metadata.timeline.clockObjection(to: time, metadata.policy) else {
            return
        }
        throw Failure(.temporary, "\(path): \(objection)")
    }

    func losses(_ body: (inout KeysetEditor) throws -> Void) throws -> [String] {
        try naming { try KeysetEditor.losses(of: metadata(), at: time, body) }
    }

    /// Asks for agreement to the losses of a change, and makes it.
    ///
    /// - Parameter nothing: what the question says if nothing is lost.
    func make(
        _ what: String, orNothing nothing: [String] = [], _ confirm: (String, [String]) throws -> Void,
        _ body: (inout KeysetEditor) throws -> Void
    ) throws {
        let losses = try losses(body)
        try confirm(what, losses.isEmpty ? nothing : losses)
        try make(body)
    }

    func revoke(_ kid: KeyID, successor: KeyID?, _ confirm: (String, [String]) throws -> Void) throws {
        try make("revoking key \(kid) of \(path):", orNothing: ["no push is lost"], confirm) {
            try $0.revoke(kid, successor: successor)
        }
    }

    @discardableResult
    func make(_ body: (inout KeysetEditor) throws -> Void) throws -> [AuditEvent] {
        let secret = try answerSecret()
        let change = try naming { try KeysetStore(path).change(at: time, by: options.actor, secret, body) }
        for notice in change.notices { StandardStreams.writeNote(notice) }
        try report(change.events, change.metadata)
        return change.events
    }

    /// Carries out the steps that are due, unless it is a dry run. Prints only notices about interrupted changes.
    func rotate(isDryRun: Bool, _ plan: (KeysetMetadata) -> RotationPlan) throws -> KeysetStore.Rotation {
        let rotation = try naming {
            try KeySource.naming(path) {
                try KeysetStore(path).rotate(at: time, by: options.actor, secret, isDryRun: isDryRun, plan)
            }
        }
        for notice in rotation.notices { StandardStreams.writeNote(notice) }
        return rotation
    }

    private func report(_ events: [AuditEvent], _ metadata: KeysetMetadata) throws {
        let done = events.map { event -> JSONObject in
            let json: JSONObject = ["what": event.action.rawValue]
            return json.adding(ifKnown: ["kid": event.kid?.description, "detail": event.detail])
        }
        let json: JSONObject = ["keyset": path, "at": "\(metadata.timeline.effective(time))", "done": done]
        try StandardStreams.write(json, asJSON: options.json) { _ in
            let lines = events.map { event in
                [event.action.text, event.kid?.description].compactMap(\.self).joined(separator: " ")
                    + (event.detail.map { ": " + $0 } ?? "") + "\n"
            }
            return lines.isEmpty ? "nothing to change\n" : lines.joined()
        }
    }

    private func naming<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch  where error is LifecycleError || error is KeyError {
            let failure = Failure(error)
            throw Failure(failure.status, "\(path): \(failure.message)")
        }
    }
}

extension AuditEvent.Action {
    fileprivate var text: String {
        switch self {
        case .policyChanged: "changed the policy"
        case .protectionChanged: "changed the protection"
        case .logRestarted: "started a new audit log"
        case .publicationChanged: "changed the signed set"
        case .renewed: "renewed the signed set"
        default: rawValue
        }
    }
}
