import ArgumentParser
import PushCryptCore
import PushCryptFiles

/// A file with a signed sender set, which is read only together with the pins that verify it.
enum SignedSetFile {
    /// The verified set. Reads the file once, because it may be a pipe.
    ///
    /// - Parameter pins: a file with what the app bundles.
    /// - Throws: `Failure` for pins and a file that isn't a signed set.
    static func read(_ path: String, pins: String) throws -> (set: SignedSenderSet, pins: SenderSetPins) {
        let (document, app) = try contents(path, pins: pins)
        let set = try KeySource.naming(path) { try SignedSenderSet.verify(document, publishers: app.publishers) }
        return (set, app)
    }

    /// The set, which isn't verified, and the pins.
    static func contents(_ path: String, pins: String) throws -> (document: [UInt8], pins: SenderSetPins) {
        let document = try FileSystem.isFolder(path) ? [] : FileSystem.readFile(path)
        let root = try? JSONText(document).root
        guard root?["payload"] != nil, root?["signatures"] != nil else {
            throw Failure(.dataError, "\(path) is not a signed sender set; with --pins no other keys are accepted")
        }
        return (document, try KeySource.naming(pins) { try SenderSetPins(json: FileSystem.readFile(pins)) })
    }
}

/// The sender keys that the app pins: one set for each sender.
struct TrustOptions: ParsableArguments {
    @Option(
        help: .init(
            "The sender keys that the app pins: only pushes signed with them are opened. Repeat it for each sender.",
            "FILE"))
    var trust: [String] = []
    @Option(help: .init("The app's pins, for each --trust in turn; needed if they are signed sender sets.", "FILE"))
    var pins: [String] = []

    var isGiven: Bool { !trust.isEmpty }

    func validate() throws {
        guard pins.isEmpty || pins.count == trust.count else {
            throw ValidationError("--pins needs --trust: give as many of both, in the same order.")
        }
    }

    /// Reads the files, each with its pins and the name of its sender: the app's own names are never sent.
    func read<Value>(_ body: (_ path: String, _ pins: String?, _ sender: String) throws -> Value) rethrows -> [Value] {
        try trust.enumerated().map { index, path in try body(path, pins.isEmpty ? nil : pins[index], "\(index)") }
    }
}

/// The senders of all --trust.
struct TrustedFiles: Sendable {
    private let files: [TrustedFile]

    init(_ options: TrustOptions, topic: String, at time: UnixTime, _ access: KeyAccess) throws {
        files = try options.read { path, pins, sender in
            try TrustedFile(path, pins: pins, sender: sender, topic: topic, at: time, access)
        }
    }

    private init(_ files: [TrustedFile]) { self.files = files }

    /// nil for unsigned payloads.
    var senders: TrustedSenders? { files.isEmpty ? nil : TrustedSenders(files.map(\.senders)) }

    /// - Throws: `KeysetReplacementRefusal` or `Failure` for a file that went back.
    func readAgain(at time: UnixTime, allowsDemoKeys: Bool) throws -> TrustedFiles {
        TrustedFiles(try files.map { try $0.readAgain(at: time, allowsDemoKeys: allowsDemoKeys) })
    }
}

/// The sender that --trust names, with what a later version of the file must not go back behind.
private struct TrustedFile: Sendable {
    private enum Source {
        case keys(KeySource, sender: String)
        case signed(path: String, pins: String, SenderSetState, issuedAt: UnixTime)
    }

    let senders: TrustedSenders
    private let topic: String
    private let source: Source

    /// - Parameters:
    ///   - path: the value of `--trust`.
    ///   - pins: the value of `--pins`. With it, the keys must be those of a signed set that the app accepts now.
    ///   - sender: the sender's name if the set isn't signed.
    init(
        _ path: String, pins: String?, sender: String, topic: String, at time: UnixTime, _ access: KeyAccess
    ) throws {
        guard let pins else {
            try self.init(KeySource(path, access, allowsPublic: true), sender: sender, topic: topic)
            return
        }
        try self.init(path, pins: pins, topic: topic, at: time, stored: nil, storedIssuedAt: nil)
    }

    private init(senders: TrustedSenders, topic: String, source: Source) {
        (self.senders, self.topic, self.source) = (senders, topic, source)
    }

    private init(_ keys: KeySource, sender: String, topic: String) throws {
        self.init(
            senders: try keys.trustedSenders(of: sender), topic: topic, source: .keys(keys, sender: sender))
    }

    private init(
        _ path: String, pins: String, topic: String, at time: UnixTime, stored: SenderSetState?,
        storedIssuedAt: UnixTime?
    ) throws {
        let signed = try SignedSetFile.read(path, pins: pins)
        self = try KeySource.naming(path) {
            let state = try SenderSetState(
                accepting: signed.set, pins: signed.pins, topic: Topic(topic), stored: stored,
                storedIssuedAt: storedIssuedAt, at: time)
            let trusted = try TrustedSenders(signed.set, revoked: state.revoked, graceInSeconds: 0)
            return TrustedFile(
                senders: trusted, topic: topic,
                source: .signed(path: path, pins: pins, state, issuedAt: signed.set.publication.issuedAt))
        }
    }

    func readAgain(at time: UnixTime, allowsDemoKeys: Bool) throws -> TrustedFile {
        switch source {
        case .keys(let keys, let sender):
            return try TrustedFile(
                keys.readAgain(allowsDemoKeys: allowsDemoKeys, allowsPublic: true), sender: sender, topic: topic)
        case .signed(let path, let pins, let state, let issuedAt):
            return try TrustedFile(
                path, pins: pins, topic: topic, at: time, stored: state, storedIssuedAt: issuedAt)
        }
    }
}
