import Crypto
import Foundation
public import Logging
import NIOConcurrencyHelpers
import PushCryptExtension
import PushCryptSender

/// The signed set of sender keys that apps fetch. `pushcrypt publish` writes the file; this service only serves it.
///
/// The service accepts the file as an app does, with the same pins and the same code: so it serves only what apps accept. It
/// remembers the last accepted set in a folder, and refuses an older one, as apps do.
public final class SenderSet: Sendable {
    struct Document: Equatable {
        let bytes: Data
        /// A strong validator, in quotes.
        let etag: String

        init(_ bytes: Data) {
            self.bytes = bytes
            etag = "\"\(Data(SHA256.hash(data: bytes)).base64URL)\""
        }
    }

    private struct State {
        var document: Document
        var refusal: String?
        var check: Check
    }

    /// What was checked last, and when: a set expires.
    private struct Check: Equatable {
        let bytes: Data
        let time: Int64
    }

    private let file: OptionFile
    private let pins: SenderPins
    private let logger: Logger
    private let seconds: @Sendable () -> Int64
    private let state: NIOLockedValueBox<State>

    /// - Parameters:
    ///   - path: the file of `--senders`; replace it with a rename.
    ///   - pins: the file of `--pins`: what the app bundles to verify the set.
    ///   - folder: remembers the last accepted set.
    ///   - topic: the app's bundle identifier.
    ///   - seconds: the clock, in UNIX seconds.
    /// - Throws: `ConfigurationError` for pins that can't be read, and for a set that apps with these pins wouldn't accept.
    public init(
        path: String, pins: String, folder: String, topic: String, logger: Logger,
        seconds: @escaping @Sendable () -> Int64
    ) throws(ConfigurationError) {
        let file = OptionFile("senders", path)
        let pins = try OptionFile("pins", pins).read { json in
            try SenderPins(folder: folder, publishers: SenderSetPins(json: Array(json)), topic: topic)
        }
        let time = seconds()
        let bytes = try file.read { bytes in
            try pins.accept(Array(bytes), at: UnixTime(time))
            return bytes
        }
        (self.file, self.pins, self.logger, self.seconds) = (file, pins, logger, seconds)
        state = NIOLockedValueBox(State(document: Document(bytes), check: Check(bytes: bytes, time: time)))
    }

    /// The set to serve: the last one that apps accepted.
    var document: Document { checked.document }

    /// Why the file isn't served, or apps don't accept it any more; nil if they do.
    var refusal: String? { checked.refusal }

    /// Reads the file each time, so that an app that fetches the set gets no older one than the published one.
    private var checked: State {
        let time = seconds()
        return state.withLockedValue { state in
            do throws(ConfigurationError) {
                let check = Check(bytes: try file.read { $0 }, time: time)
                guard check != state.check else { return state }
                state.check = check
                try file.naming { _ = try pins.accept(Array(check.bytes), at: UnixTime(time)) }
                if check.bytes != state.document.bytes { state.document = Document(check.bytes) }
                state.refusal = nil
            } catch {
                if state.refusal != error.reason {
                    logger.error(
                        "the sender set is refused; the last accepted one is served",
                        metadata: ["option": "\(error.option)", "reason": "\(error.reason)"])
                }
                state.refusal = error.reason
            }
            return state
        }
    }
}
