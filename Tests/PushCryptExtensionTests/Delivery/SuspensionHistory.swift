import Foundation
import PushCryptTestSupport

@testable import PushCryptExtension

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
