import Foundation
import PushCryptSender
import PushCryptTestSupport

@testable import PushCryptExtension

/// The pushes and sessions of ``SuspensionTests``, chosen by a seed.
struct SuspensionPlan {
    enum Message: Hashable {
        case plain
        case badge(Int)
        /// Takes back the messages with these numbers.
        case retraction([Int])
        case broken
        case unsigned
        var isValid: Bool { self != .broken && self != .unsigned }
    }

    /// The messages by their numbers, which are the lines of the file of pushes.
    private(set) var messages: [Message] = []
    /// The number of each session's message. The first sessions are chosen; at the end a relay repeats each valid message.
    private(set) var sessions: [Int] = []
    let count: Int
    private(set) var pushes: [[UInt8]] = []

    init(seed: UInt64, count: Int) throws {
        self.count = count
        var random = SplitMix64(seed: seed)
        var ids: [String] = []
        while sessions.count < count {
            if !messages.isEmpty, Int.random(in: 0..<10, using: &random) < 3 {
                let reach = Bool.random(using: &random) ? 8 : 60
                sessions.append(Int.random(in: max(0, messages.count - reach)..<messages.count, using: &random))
                continue
            }
            let message = chooseMessage(&random)
            let (payload, id) = try Self.seal(message, messages.count, ids)
            sessions.append(messages.count)
            messages.append(message)
            pushes.append(payload)
            ids.append(id)
        }
        sessions += messages.indices.filter { messages[$0].isValid }
    }

    private func chooseMessage(_ random: inout SplitMix64) -> Message {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<8: return .broken
        case 8..<13: return .unsigned
        case 13..<30: return .badge(Int.random(in: -3...5, using: &random))
        case 30..<42:
            let recent = messages.indices.suffix(40)
            guard !recent.isEmpty else { return .plain }
            let count = Int.random(in: 1...3, using: &random)
            return .retraction((0..<count).map { _ in recent.randomElement(using: &random)! })
        default: return .plain
        }
    }

    private static func seal(_ message: Message, _ number: Int, _ ids: [String]) throws -> ([UInt8], id: String) {
        var options = Sealer.Options()
        switch message {
        case .badge(let increment): options.badgeIncrement = increment
        case .retraction(let numbers): options.retractedIDs = Array(Set(numbers)).map { ids[$0] }
        case .plain, .broken, .unsigned: break
        }
        let push = try TestPush(
            key: "shared", signer: message == .unsigned ? nil : "sender",
            json: #"{"aps":{"alert":{"title":"\#(title(number))"}}}"#, options: options
        ).seal()
        var payload = push.bytes
        if message == .broken, let start = payload.firstRange(of: Array(#""sealed":""#.utf8))?.upperBound {
            // Within the ciphertext of a sealed text of more than 200 characters.
            payload[start + 150] = payload[start + 150] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        }
        return (payload, push.id)
    }

    static func title(_ number: Int) -> String { "Message \(number)" }

    /// The sum of the increments of all valid messages.
    var badge: Int {
        messages.reduce(0) { sum, message in
            if case .badge(let increment) = message { sum + increment } else { sum }
        }
    }

    func write(to folder: TemporaryFolder) throws {
        try Data(ReferenceVectors.shared.jwk("shared")).write(to: folder.file("recipient.json"))
        try Data(ReferenceVectors.shared.publicJWK("sender")).write(to: folder.file("sender.json"))
        try Data(pushes.joined(separator: [UInt8(ascii: "\n")])).write(to: folder.file("pushes"))
        try Data().write(to: folder.file("log"))
    }
}

/// How a session's stage behaves, and when the process is suspended after it; the values of `SessionCommand`.
enum SuspensionChoice {
    /// More often the stages that change nothing.
    static let stages = [
        "none", "none", "none", "fast", "fast", "slow", "throwing", "emptying", "suppressing", "limited", "endless",
        "blocking", "expired", "expiring",
    ]
    /// The stages of sessions that may end before their push is restored.
    static let hasty: Set<String> = ["endless", "blocking", "expired"]
    static let moments = ["later", "handler", "handler", "activity", "report"]
}

/// What happened in the processes of ``SuspensionTests``, in the order of the log, and what of it must not happen.
///
/// The store remembers a message before its handler is called. The exceptions are those that `SharedStore` documents:
/// ```
/// full disk    the process remembers it, and writes it with its next call after there is room
/// time limit   the handler doesn't wait for the store: the session may not know what the store remembers, and what it must
///              remember is written when the store is free
/// ```
/// A process that is killed before the write forgets it.
struct SuspensionHistory {
    /// What a round lets the store do.
    enum Round: String {
        case ordinary
        case full
        /// The time limit of the store ends its calls although no process has it locked.
        case hasty
        case locked

        /// Whether handlers wait for the store, however long it takes.
        var waitsForStore: Bool { self == .ordinary || self == .full }
    }

    private struct Showing {
        let session: Int
        let process: String
        /// The place in the log from which the store remembers it; nil before.
        var rememberedAt: Int?
    }

    private struct Start {
        let process: String
        let place: Int
        let round: Round
        let stage: String
    }

    private let plan: SuspensionPlan
    /// The numbers of the messages that retract a message.
    private var retractions: [Int: [Int]] = [:]
    private var readCount = 0
    private var place = 0
    private var round = Round.ordinary
    /// The stage of each session that runs or will run.
    private var stages: [Int: String] = [:]
    private var batches: [String: [Int]] = [:]
    private var running: [Int: Start] = [:]
    private var showings: [Int: [Showing]] = [:]
    private var startCounts: [Int: Int] = [:]
    private var unremembered: [String: [(message: Int, index: Int)]] = [:]
    private var screen: Set<Int> = []
    private var killedMessages: Set<Int> = []
    /// Messages that a process showed which was killed before it wrote them.
    private var forgotten: Set<Int> = []
    private(set) var handlerCounts: [Int: Int] = [:]
    /// The sessions whose processes were killed before their handlers were called, or before they started.
    private(set) var unfinished: [Int] = []
    private(set) var killedSessionCount = 0
    private(set) var outcomes: [String: Int] = [:]
    /// How often a message was shown again by the exceptions.
    private(set) var exceptionCount = 0
    private(set) var violations: [String] = []

    init(_ plan: SuspensionPlan) {
        self.plan = plan
        for (number, message) in plan.messages.enumerated() {
            guard case .retraction(let retracted) = message else { continue }
            for other in Set(retracted) { retractions[other, default: []].append(number) }
        }
    }

    mutating func expect(_ session: Int, in process: String, stage: String) {
        stages[session] = stage
        batches[process, default: []].append(session)
    }

    mutating func takeUnfinished() -> [Int] {
        defer { unfinished = [] }
        return unfinished
    }

    mutating func require(_ holds: Bool, _ text: String) {
        if !holds { violations.append(text) }
    }

    /// Reads what was appended to the log since the last call.
    mutating func read(_ log: URL) throws {
        let data = try Data(contentsOf: log)
        let lines = String(decoding: data.dropFirst(readCount), as: UTF8.self).split(separator: "\n")
        readCount = data.count
        for line in lines {
            place += 1
            let words = line.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false).map(String.init)
            switch words[1] {
            case "round": round = Round(rawValue: words[2])!
            case "start": start(Int(words[2])!, words[0])
            case "shown": shown(Int(words[2])!, words[0], words[3], title: words[4])
            case "removed": removed(Int(words[2].dropFirst())!)
            case "idle": if round != .full { remembered(words[0]) }
            case "killed": killed(words[0])
            default: violations.append("an unknown line: \(line)")
            }
        }
    }

    private mutating func start(_ session: Int, _ process: String) {
        require(running[session] == nil && handlerCounts[session] == nil, "session \(session) started twice")
        running[session] = Start(process: process, place: place, round: round, stage: stages[session] ?? "none")
        startCounts[plan.sessions[session], default: 0] += 1
    }

    private mutating func shown(_ session: Int, _ process: String, _ outcome: String, title: String) {
        handlerCounts[session, default: 0] += 1
        outcomes[outcome, default: 0] += 1
        guard let start = running.removeValue(forKey: session), start.process == process else {
            violations.append("the handler of session \(session) was called \(handlerCounts[session] ?? 0) times")
            return
        }
        let number = plan.sessions[session]
        let message = plan.messages[number]
        // A handler of this process was called after the store was free: all that it had to remember is written.
        if round == .ordinary { remembered(process) }
        switch outcome {
        case "restored", "suppressed":
            require(message.isValid, "message \(number) is \(message), and session \(session) restored it")
            let expected = SuspensionPlan.title(number)
            require(
                outcome == "suppressed" ? title.isEmpty : title == expected || title == expected + " changed",
                "session \(session) showed \(title) for message \(number)")
            restored(session, number, start)
            if outcome == "restored" { screen.insert(session) }
        case "timedOut":
            require(SuspensionChoice.hasty.contains(start.stage), "session \(session) with \(start.stage) timed out")
        case "replayed":
            require(startCounts[number]! > 1, "message \(number) was refused and never shown")
        case "retracted":
            require(!retractions(of: number).isEmpty, "message \(number) wasn't retracted")
        default: require(!message.isValid, "session \(session) of message \(number): \(outcome)")
        }
    }

    private mutating func restored(_ session: Int, _ number: Int, _ start: Start) {
        func isKnown(_ showing: Showing) -> Bool { showing.rememberedAt.map { $0 < start.place } ?? false }
        for earlier in showings[number] ?? [] {
            let isException =
                earlier.process != start.process && (!start.round.waitsForStore || !isKnown(earlier))
            require(
                isException,
                "session \(session) in \(start.process) (\(start.round)) restored message \(number) again after \(earlier)"
            )
            exceptionCount += 1
        }
        for retraction in retractions(of: number) where start.round.waitsForStore {
            require(
                !(showings[retraction] ?? []).contains(where: isKnown),
                "session \(session) restored message \(number), which message \(retraction) had retracted")
        }
        let isRemembered = start.round == .ordinary
        showings[number, default: []].append(
            Showing(session: session, process: start.process, rememberedAt: isRemembered ? place : nil))
        if !isRemembered { unremembered[start.process, default: []].append((number, showings[number]!.count - 1)) }
    }

    private mutating func remembered(_ process: String) {
        for entry in unremembered.removeValue(forKey: process) ?? [] {
            showings[entry.message]?[entry.index].rememberedAt = place
        }
    }

    private mutating func removed(_ session: Int) {
        screen.remove(session)
        let number = plan.sessions[session]
        require(!retractions(of: number).isEmpty, "message \(number) was removed and not retracted")
    }

    private mutating func killed(_ process: String) {
        for session in batches.removeValue(forKey: process) ?? [] where handlerCounts[session] == nil {
            unfinished.append(session)
            guard running.removeValue(forKey: session) != nil else { continue }
            killedMessages.insert(plan.sessions[session])
            killedSessionCount += 1
        }
        forgotten.formUnion((unremembered.removeValue(forKey: process) ?? []).map(\.message))
    }

    private func retractions(of number: Int) -> [Int] { retractions[number] ?? [] }

    /// Whether the message of a session was retracted while the store knew its notification: it knows the last 512.
    private func isRetracted(_ session: Int) -> Bool {
        retractions(of: plan.sessions[session]).contains { retraction in
            showings[retraction, default: []].contains { $0.rememberedAt != nil && $0.session < session + 400 }
        }
    }

    /// Checks what holds after a relay has repeated each message.
    mutating func finish() {
        require(running.isEmpty && unfinished.isEmpty, "sessions without a handler: \(running.keys), \(unfinished)")
        require(
            handlerCounts.count == plan.sessions.count && handlerCounts.values.allSatisfy { $0 == 1 },
            "\(handlerCounts.values.reduce(0, +)) handler calls for \(plan.sessions.count) sessions")
        for (number, message) in plan.messages.enumerated() where message.isValid {
            let isRetracted = !retractions(of: number).isEmpty
            // A process that was killed between its record and its handler has lost the message.
            require(
                showings[number] != nil || isRetracted || killedMessages.contains(number),
                "message \(number) was never shown")
        }
        let left = screen.filter { isRetracted($0) && !forgotten.contains(plan.sessions[$0]) }
        require(left.isEmpty, "retracted messages are still on the screen: sessions \(left.sorted())")
    }
}
