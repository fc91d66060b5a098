import Foundation
import PushBackend
import Synchronization

/// Records which messages were accepted, and for which phones, so that every screen can be compared with them.
final class Ledger: Sendable {
    /// A message to send.
    struct Message: Sendable {
        let number: Int
        /// The index of the phone; nil for all.
        let receiver: Int?
        var text: String { "Message \(number)" }
    }

    private struct State {
        var next = 0
        var planned = 0
        var acceptedDeliveries = 0
        var accepted: [(message: Message, id: String, deliveries: Int)] = []
    }

    private let users: [String]
    private let goal: Int
    private let state = Mutex(State())

    /// - Parameter goal: how many deliveries there will be at least.
    init(_ phones: [Phone], pushes goal: Int) {
        users = phones.map(\.user)
        self.goal = goal
    }

    /// The share of the deliveries that were accepted.
    var acceptedShare: Double { state.withLock { Double($0.acceptedDeliveries) / Double(goal) } }
    /// The ids of the accepted messages.
    var ids: [String] { state.withLock { $0.accepted.map(\.id) } }

    /// The next message: half of the pushes go to single users, half to the segment of all.
    func next() -> Message? {
        state.withLock { state in
            guard state.planned < goal else { return nil }
            defer { state.next += 1 }
            let isForAll = state.next % (users.count + 1) == users.count
            state.planned += isForAll ? users.count : 1
            return Message(number: state.next, receiver: isForAll ? nil : state.next % (users.count + 1))
        }
    }

    /// A message to all after the others.
    func last() -> Message {
        state.withLock { state in
            defer { state.next += 1 }
            return Message(number: state.next, receiver: nil)
        }
    }

    func send(_ message: Message, _ backend: BackendClient) async throws {
        let payload = #"{"aps":{"alert":{"title":"Clinic","body":"\#(message.text)"}}}"#
        let to = message.receiver.map { #"{"user":"\#(users[$0])"}"# } ?? #"{"segment":"everyone"}"#
        let accepted = try await backend.send(payload, to: to, key: "message-\(message.number)")
        state.withLock { state in
            state.accepted.append((message, accepted.id, accepted.deliveries))
            state.acceptedDeliveries += accepted.deliveries
        }
    }

    /// Compares the service's database and reports with the screens, and prints the figures.
    ///
    /// - Parameter userWithoutApp: the user who has deleted the app.
    /// - Throws: `RehearsalError` if a push was lost, shown twice or replaced by a placeholder, or failed without a reason.
    func check(
        _ reports: [BackendClient.Report], _ phones: [Phone], _ scene: Scene, userWithoutApp: String,
        _ times: (accepted: Duration, ended: Duration)
    ) throws {
        let accepted = state.withLock { $0.accepted }
        let stored = try scene.deliveries()
        for (message, id, count) in accepted where stored[id, default: []].count != count {
            throw RehearsalError("\(message.text): \(count) accepted, \(stored[id, default: []].count) in the database")
        }
        let deliveries = accepted.flatMap { message, id, _ in
            stored[id, default: []].map { Tally.Delivery(text: message.text, user: $0.user, failure: $0.failure) }
        }
        let screens = Dictionary(uniqueKeysWithValues: phones.map { ($0.user, $0.texts) })
        let tally = Tally(deliveries, screens: screens, userWithoutApp: userWithoutApp)
        let failed = tally.failures.values.reduce(0, +)
        let why = tally.failures.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        let seconds = times.ended / .seconds(1)
        print(
            """
            \(accepted.count) messages, \(deliveries.count) pushes accepted, \(phones.count) phones
              arrived at phones         \(scene.phones.arrivedCount), repeats included
              shown once                \(tally.shownOnce)
              shown twice               \(tally.shownTwice)
              reported as failed        \(failed)\(why.isEmpty ? "" : " (\(why))")
              neither shown nor failed  \(tally.lost)
              placeholders left         \(tally.placeholders)
              time                      \(String(format: "%.1f s, %.0f pushes/s", seconds, Double(deliveries.count) / seconds))
            """)
        for flaw in tally.flaws { print("  \(flaw)") }
        guard tally.flaws.isEmpty else { throw RehearsalError("the screens aren't what was accepted") }
        guard failed > 0 else { throw RehearsalError("no push met the 410 of the user who deleted the app") }
        guard reports.reduce(into: [:], { $0.merge($1.failed, uniquingKeysWith: +) }) == tally.failures else {
            throw RehearsalError("the reports have other failures than the database")
        }
    }
}
