import Dispatch
import MonotonicTime
import PushCryptCore
import PushCryptExtension
import PushCryptFiles
import PushCryptPrimitives

/// What a delivery uses.
///
/// ```
/// copy     no session: the payload is parsed and handed over
/// none     a session with the keys in memory and without a store
/// store    with a store in PLACE
/// files    with a store, and the keys and the signed set of senders read from files for each push, as in the guide
/// ```
enum Variant: String {
    case copy, none, store, files
}

/// The files that `runner deliveries` has written.
struct Place {
    static let topic = "com.example.app"

    let folder: String

    func bytes(_ name: String) throws -> [UInt8] { try FileSystem.readFile("\(folder)/\(name)") }

    func configuration(_ variant: Variant) throws -> ExtensionConfiguration {
        let keyring = FileKeyring(folder: "\(folder)/keys")
        let pins = try SenderPins(
            folder: "\(folder)/keys", publishers: SenderSetPins(json: bytes("pins.json")), topic: Self.topic)
        var configuration =
            if variant == .files {
                try ExtensionConfiguration(
                    topic: Self.topic, keyring: keyring, senders: .pinned(pins), fallback: .bundled(.standard))
            } else {
                try ExtensionConfiguration(
                    topic: Self.topic, keyring: KeysetKeyring(Keyset(json: bytes("key.json"))),
                    senders: .pinned(pins.trustedSenders()), fallback: .bundled(.standard))
            }
        if variant != .none {
            configuration.store = SharedStore(folder: "\(folder)/\(variant)", role: .extension)
            // On Apple's systems the service always has one, and looks for a retraction after the handler.
            configuration.deliveredNotifications = NoNotifications()
        }
        return configuration
    }
}

/// A screen that shows nothing, so nothing is removed from it.
private struct NoNotifications: DeliveredNotifications {
    func remove(_ requestIDs: [String]) {}
}

/// Delivers pushes one after the other.
final class Deliveries {
    /// The monotonic times, in nanoseconds, at which the payload was there and the handler was called.
    struct Times {
        let received: Int64
        let handled: Int64
    }

    private let pushes: [UInt8]
    /// The ends of the lines in `pushes`.
    private let ends: [Int]
    private let configuration: ExtensionConfiguration?
    private let handled = Locked<(time: Int64, isRestored: Bool)>((0, false))
    private let isOver: DispatchSemaphore
    /// Called right before a session starts, in its handler, and after its end.
    var step: @Sendable (String) -> Void = { _ in }

    init(_ place: Place, _ variant: Variant) throws {
        pushes = try place.bytes("pushes.jsonl")
        ends = pushes.indices.filter { [pushes] in pushes[$0] == UInt8(ascii: "\n") }
        var configuration = variant == .copy ? nil : try place.configuration(variant)
        let isOver = DispatchSemaphore(value: 0)
        configuration?.diagnostics = LastStep(isOver: isOver)
        (self.configuration, self.isOver) = (configuration, isOver)
    }

    func deliver(at index: Int) throws -> Times {
        let payload = Array(pushes[(index == 0 ? 0 : ends[index - 1] + 1)..<ends[index]])
        guard let configuration else {
            let start = monotonicNanoseconds()
            _ = try JSONText(payload).root
            return Times(received: start, handled: monotonicNanoseconds())
        }
        step("received")
        let start = monotonicNanoseconds()
        DeliverySession(payload: payload, requestID: "request \(index)", configuration: configuration) {
            [handled, step] delivery in
            let now = monotonicNanoseconds()
            step("handled")
            handled.withLock { $0 = (now, delivery.isRestored) }
        }.start()
        isOver.wait()
        step("over")
        let (time, isRestored) = handled.withLock { $0 }
        guard isRestored else { throw NotRestored(index: index) }
        return Times(received: start, handled: time)
    }
}

/// A session calls its reporter last.
private struct LastStep: DeliveryReporter {
    let isOver: DispatchSemaphore

    func report(_ report: DeliveryReport) { isOver.signal() }
}

struct NotRestored: Error, CustomStringConvertible {
    let index: Int
    var description: String { "push \(index) wasn't restored" }
}
