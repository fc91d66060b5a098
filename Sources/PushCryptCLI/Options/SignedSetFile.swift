import PushCryptCore
import PushCryptExtension
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

/// The senders that --trust names, with what a later version of the file must not go back behind.
struct TrustedFile: Sendable {
    private enum Source {
        case none
        case keys(KeySource)
        case signed(path: String, pins: String, SenderSetState, issuedAt: UnixTime)
    }

    /// nil for unsigned payloads.
    let senders: TrustedSenders?
    private let topic: String
    private let source: Source

    /// - Parameters:
    ///   - path: the value of `--trust`; nil accepts unsigned payloads only.
    ///   - pins: the value of `--pins`. With it, the keys must be those of a signed set that the app accepts now.
    init(_ path: String?, pins: String?, topic: String, at time: UnixTime, _ access: KeyAccess) throws {
        guard let path else {
            self.init(senders: nil, topic: topic, source: .none)
            return
        }
        guard let pins else {
            try self.init(KeySource(path, access, allowsPublic: true), topic: topic)
            return
        }
        try self.init(path, pins: pins, topic: topic, at: time, stored: nil, storedIssuedAt: nil)
    }

    private init(senders: TrustedSenders?, topic: String, source: Source) {
        (self.senders, self.topic, self.source) = (senders, topic, source)
    }

    var trust: SenderTrust { senders.map { .pinned($0) } ?? .unsigned }

    private init(_ keys: KeySource, topic: String) throws {
        self.init(senders: try keys.trustedSenders(), topic: topic, source: .keys(keys))
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

    /// Reads the files again.
    ///
    /// - Throws: `KeysetReplacementRefusal` or `Failure` for a file that went back.
    func readAgain(at time: UnixTime, allowsDemoKeys: Bool) throws -> TrustedFile {
        switch source {
        case .none: return self
        case .keys(let keys):
            return try TrustedFile(keys.readAgain(allowsDemoKeys: allowsDemoKeys, allowsPublic: true), topic: topic)
        case .signed(let path, let pins, let state, let issuedAt):
            return try TrustedFile(
                path, pins: pins, topic: topic, at: time, stored: state, storedIssuedAt: issuedAt)
        }
    }
}
