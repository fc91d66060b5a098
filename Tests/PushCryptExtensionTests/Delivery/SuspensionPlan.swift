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
