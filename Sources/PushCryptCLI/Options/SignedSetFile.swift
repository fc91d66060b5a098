import PushCryptCore
import PushCryptExtension
import PushCryptFiles

/// A file with a signed sender set, which is read only together with the pins that verify it.
enum SignedSetFile {
    /// The verified set; nil without pins. Reads the file once, because it may be a pipe.
    ///
    /// - Parameter pins: a file with what the app bundles; nil if none is given.
    /// - Throws: `Failure` for pins and a file that isn't a signed set.
    static func read(_ path: String, pins: String?) throws -> (set: SignedSenderSet, pins: SenderSetPins)? {
        guard let (document, app) = try contents(path, pins: pins) else { return nil }
        let set = try KeySource.naming(path) { try SignedSenderSet.verify(document, publishers: app.publishers) }
        return (set, app)
    }

    /// The set, which isn't verified, and the pins; nil without pins.
    static func contents(_ path: String, pins: String?) throws -> (document: [UInt8], pins: SenderSetPins)? {
        guard let pins else { return nil }
        let document = try FileSystem.isFolder(path) ? [] : FileSystem.readFile(path)
        let root = try? JSONText(document).root
        guard root?["payload"] != nil, root?["signatures"] != nil else {
            throw Failure(.dataError, "\(path) is not a signed sender set; with --pins no other keys are accepted")
        }
        return (document, try KeySource.naming(pins) { try SenderSetPins(json: FileSystem.readFile(pins)) })
    }
}

extension SenderTrust {
    /// - Parameters:
    ///   - path: the value of `--trust`; nil accepts unsigned payloads only.
    ///   - pins: the value of `--pins`. With it, the keys must be those of a signed set that the app accepts now.
    init(option path: String?, pins: String?, topic: String, at time: UnixTime, _ access: KeyAccess) throws {
        guard let path else {
            self = .unsigned
            return
        }
        guard let signed = try SignedSetFile.read(path, pins: pins) else {
            self = .pinned(try KeySource(path, access, allowsPublic: true).trustedSenders())
            return
        }
        self = try KeySource.naming(path) {
            let state = try SenderSetState(
                accepting: signed.set, pins: signed.pins, topic: Topic(topic), stored: nil, at: time)
            return .pinned(try TrustedSenders(signed.set, revoked: state.revoked, graceInSeconds: 0))
        }
    }
}
