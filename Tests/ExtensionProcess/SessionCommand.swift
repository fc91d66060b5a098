import Dispatch
import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives

/// `sessions FOLDER STORE NAME`: an extension that runs the sessions that it reads from its input, with a store.
///
/// ```
/// files     FOLDER/recipient.json and sender.json: keys; FOLDER/pushes: one payload in each line
/// input     CLOCK WIDTH LIMIT SESSION…     at most WIDTH sessions at once; the store's time limit in milliseconds, or "none"
/// SESSION   NUMBER/LINE/STAGE/MOMENT
/// output    ready             it reads its input
///           handed            each session of the batch has called its handler
///           suspended, idle   the process stops, see SuspendingSystem
/// log       to FOLDER/log, one write for each line, so that the lines of all processes are in their order:
///           NAME start NUMBER, NAME shown NUMBER OUTCOME TITLE, NAME removed REQUEST
/// ```
/// OUTCOME is `restored`, `suppressed` (restored and not shown) or the failure class. The request's name is `r` and the number.
enum SessionCommand {
    @Sendable static func run(_ arguments: [String]) throws {
        let runner = try SessionRunner(folder: arguments[0], store: arguments[1], name: arguments[2])
        say("ready")
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            try runner.run(
                words.dropFirst(3).map(ChosenSession.init), at: UnixTime(Int64(words[0])!), width: Int(words[1])!,
                storeTimeLimit: Int(words[2]).map { .milliseconds($0) })
        }
    }
}

private struct ChosenSession: Sendable {
    let number: Int
    let line: Int
    let stage: ChosenStage.Kind
    let moment: SuspendingSystem.Moment

    init(_ text: String) throws {
        let parts = text.split(separator: "/").map(String.init)
        guard parts.count == 4, let number = Int(parts[0]), let line = Int(parts[1]),
            let stage = ChosenStage.Kind(rawValue: parts[2]), let moment = SuspendingSystem.Moment(rawValue: parts[3])
        else { throw ExtensionProcess.Misuse() }
        (self.number, self.line, self.stage, self.moment) = (number, line, stage, moment)
    }
}

private final class SessionRunner: Sendable {
    private let pushes: [[UInt8]]
    private let configuration: ExtensionConfiguration
    private let system = SuspendingSystem()
    private let log: EventLog

    init(folder: String, store: String, name: String) throws {
        func read(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")) }
        pushes = try read("pushes").split(separator: UInt8(ascii: "\n")).map { Array($0) }
        log = EventLog("\(folder)/log", name)
        let sender = try Keyset(json: Array(read("sender.json"))).entries[0].record
        let senders = try TrustedSenders(Keyset([Keyset.Entry(sender, KeyLifecycle(activatesAt: UnixTime(0)))]))
        var configuration = try ExtensionConfiguration(
            topic: "com.example.app", keyring: KeysetKeyring(Keyset(json: Array(read("recipient.json")))),
            senders: .pinned(senders), fallback: .outerAlert(orElse: .standard))
        configuration.store = SharedStore(folder: store, role: .extension, configuration: .patient)
        configuration.hasFilteringEntitlement = true
        configuration.deliveredNotifications = log
        configuration.keepRunning = system.activity
        configuration.receipts = try ReceiptPosting(to: "https://receipts.example", transport: UnreliableServer())
        self.configuration = configuration
    }

    func run(_ sessions: [ChosenSession], at time: UnixTime, width: Int, storeTimeLimit: Duration?) {
        let places = DispatchSemaphore(value: width)
        let open = DispatchGroup()
        for session in sessions {
            places.wait()
            open.enter()
            system.begin()
            start(session, at: time, storeTimeLimit) {
                places.signal()
                open.leave()
            }
        }
        open.wait()
        say("handed")
        system.suspendWhenIdle()
    }

    private func start(
        _ chosen: ChosenSession, at time: UnixTime, _ storeTimeLimit: Duration?, ended: @escaping @Sendable () -> Void
    ) {
        var configuration = configuration
        configuration.clock = { time }
        configuration.timer = SessionTimer(storeTimeLimit: storeTimeLimit)
        let stage = ChosenStage(kind: chosen.stage)
        configuration.stages = chosen.stage == .none ? [] : [stage]
        if chosen.stage == .endless || chosen.stage == .blocking { configuration.deadline = .milliseconds(50) }
        configuration.diagnostics = Reporter { [system] in
            if chosen.moment == .report { system.reported() }
        }
        log.add("start \(chosen.number)")
        let session = DeliverySession(
            payload: pushes[chosen.line], requestID: "r\(chosen.number)", configuration: configuration
        ) { [log, system] delivery in
            let outcome =
                if !delivery.isRestored { delivery.failure?.description ?? "unsealed" } else {
                    delivery.isSuppressed ? "suppressed" : "restored"
                }
            log.add("shown \(chosen.number) \(outcome) \(delivery.content.title.literal ?? "")")
            stage.session.withLock { $0 = nil }
            ended()
            system.handedOver(chosen.moment)
        }
        stage.session.withLock { $0 = session }
        session.start()
        if chosen.stage == .expired { session.expire() }
    }
}

private struct Reporter: DeliveryReporter {
    let body: @Sendable () -> Void

    func report(_ report: DeliveryReport) { body() }
}

/// The file that all processes of a test append to, and the screen.
private final class EventLog: DeliveredNotifications {
    private let file: FileHandle
    private let name: String

    init(_ path: String, _ name: String) {
        file = FileHandle(fileDescriptor: unsafe open(path, O_WRONLY | O_APPEND | O_CLOEXEC), closeOnDealloc: true)
        self.name = name
    }

    func add(_ event: String) { file.write(Data("\(name) \(event)\n".utf8)) }

    func remove(_ requestIDs: [String]) {
        for requestID in requestIDs { add("removed \(requestID)") }
    }
}

/// Replaces the time limit of the store by the one that the test chose.
private struct SessionTimer: DeadlineTimer {
    /// nil for none.
    let storeTimeLimit: Duration?

    func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        guard duration == DeliverySession.storeTimeLimit else { return ThreadTimer().schedule(after: duration, body) }
        guard let storeTimeLimit else { return {} }
        return ThreadTimer().schedule(after: storeTimeLimit, body)
    }
}

/// Accepts two of three receipts.
private final class UnreliableServer: HTTPTransport {
    private let count = Locked(0)

    func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws {
        throw TransferError(.network, "no network")
    }

    func post(_ post: HTTPPost) async throws {
        let number = count.withLock { count in
            count += 1
            return count
        }
        guard number.isMultiple(of: 3) else { return }
        throw TransferError(.network, "no network")
    }
}

private struct ChosenStage: ContentStage {
    enum Kind: String, Sendable {
        case none, fast, slow, throwing, emptying, suppressing
        /// Ignores its cancellation; it has a limit of its own.
        case limited
        /// Ignores its cancellation; only the session's deadline ends it.
        case endless
        /// Blocks its thread for ever; only the session's deadline ends it.
        case blocking
        /// The session expires right after its start.
        case expired
        /// The session expires while the stage runs.
        case expiring
    }

    struct Failure: Error {}

    let kind: Kind
    let session = Locked<DeliverySession?>(nil)

    var timeLimit: Duration? { kind == .limited ? .milliseconds(5) : nil }

    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        var content = content
        switch kind {
        case .none, .expired: break
        case .fast: content.title.literal = (content.title.literal ?? "") + " changed"
        case .slow: try await Task.sleep(for: .milliseconds(2))
        case .throwing: throw Failure()
        case .emptying: return NotificationContent()
        case .suppressing: content.isSuppressed = true
        case .limited, .endless: await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        case .blocking: block()
        case .expiring: session.withLock { $0 }?.expire()
        }
        return content
    }

    private func block() { DispatchSemaphore(value: 0).wait() }
}
