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

    func send(_ message: Message, _ backend: BackendClient) async throws {
        let payload = #"{"aps":{"alert":{"title":"Clinic","body":"\#(message.text)"}}}"#
        let to = message.receiver.map { #"{"user":"\#(users[$0])"}"# } ?? #"{"segment":"everyone"}"#
        let accepted = try await backend.send(payload, to: to, key: "message-\(message.number)")
        state.withLock { state in
            state.accepted.append((message, accepted.id, accepted.deliveries))
            state.acceptedDeliveries += accepted.deliveries
        }
    }

    /// Compares reports and screens, and prints the figures.
    ///
    /// - Throws: `RehearsalError` if a push was lost or shown twice.
    func check(
        _ reports: [BackendClient.Report], _ phones: [Phone], _ scene: Scene,
        _ times: (accepted: Duration, ended: Duration)
    ) throws {
        let accepted = state.withLock { $0.accepted }
        let screens = phones.map { phone in Dictionary(grouping: phone.texts) { $0 }.mapValues(\.count) }
        var (shown, failed, twice, lost) = (0, 0, 0, 0)
        var reasons: [String: Int] = [:]
        var missing: [String] = []
        for ((message, id, deliveries), report) in zip(accepted, reports) {
            let counts = screens.indices.filter { message.receiver == nil || $0 == message.receiver }
                .map { screens[$0][message.text] ?? 0 }
            let shownHere = counts.filter { $0 > 0 }.count
            let failedHere = report.failed.values.reduce(0, +)
            shown += shownHere
            failed += failedHere
            twice += counts.filter { $0 > 1 }.count
            // A push that failed may also have been shown before. A push that was neither shown nor failed is lost.
            if shownHere + failedHere < deliveries { missing.append("\(message.text) \(id): \(counts) \(report)") }
            lost += max(deliveries - shownHere - failedHere, 0)
            reasons.merge(report.failed) { $0 + $1 }
        }
        let placeholders = screens.reduce(0) { $0 + ($1["Open the app to read it"] ?? 0) }
        let deliveries = accepted.reduce(0) { $0 + $1.deliveries }
        let seconds = Double(times.ended.components.seconds) + Double(times.ended.components.attoseconds) / 1e18
        let why = reasons.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        print(
            """
            \(accepted.count) messages, \(deliveries) pushes accepted, \(phones.count) phones
              arrived at phones         \(scene.phones.arrivedCount), repeats included
              shown once                \(shown - twice)
              shown twice               \(twice)
              reported as failed        \(failed)\(why.isEmpty ? "" : " (\(why))")
              neither shown nor failed  \(lost)
              placeholders left         \(placeholders)
              time                      \(String(format: "%.1f s, %.0f pushes/s", seconds, Double(deliveries) / seconds))
            """)
        for line in missing { print("  lost: \(line)") }
        guard twice == 0, lost == 0, shown + failed >= deliveries else {
            throw RehearsalError("a push was lost or shown twice")
        }
    }
}
