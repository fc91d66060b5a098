/// Compares the accepted deliveries with the screens of their phones, each delivery with its own phone. A push that is both shown
/// and reported as failed must not hide the loss of another phone's push.
struct Tally {
    /// A push to one phone, as the service's database has it.
    struct Delivery {
        let text: String
        let user: String
        /// Why it is reported as failed; nil if it isn't.
        let failure: String?
    }

    static let placeholder = "Open the app to read it"
    /// Why pushes to a deleted app fail: APNs refuses them, or a push that was signed by a revoked key can't be sealed again.
    private static let reasonsWithoutApp: Set<String> = ["Unregistered", "keyRevoked"]

    private(set) var shownOnce = 0
    private(set) var shownTwice = 0
    private(set) var lost = 0
    private(set) var placeholders = 0
    /// How many deliveries failed, by reason.
    private(set) var failures: [String: Int] = [:]
    /// What must not happen, a line for each case.
    private(set) var flaws: [String] = []

    /// - Parameters:
    ///   - screens: the texts on each user's phone, the oldest first.
    ///   - userWithoutApp: the user who has deleted the app, whose pushes alone may fail.
    init(_ deliveries: [Delivery], screens: [String: [String]], userWithoutApp: String) {
        var left = screens.mapValues { Dictionary(grouping: $0) { $0 }.mapValues(\.count) }
        for delivery in deliveries {
            let count = left[delivery.user]?.removeValue(forKey: delivery.text) ?? 0
            let name = "\(delivery.text) to \(delivery.user)"
            if let failure = delivery.failure {
                failures[failure, default: 0] += 1
                if delivery.user != userWithoutApp || !Self.reasonsWithoutApp.contains(failure) {
                    flaws.append("\(name) failed: \(failure)")
                }
            }
            switch count {
            case 0 where delivery.failure == nil:
                lost += 1
                flaws.append("\(name) is lost")
            case 0: break
            case 1: shownOnce += 1
            default:
                shownTwice += 1
                flaws.append("\(name) is shown \(count) times")
            }
        }
        // A placeholder stays where nothing can replace it.
        let explainedCount = failures.filter { Self.reasonsWithoutApp.contains($0.key) }.values.reduce(0, +)
        for (user, texts) in left.sorted(by: { $0.key < $1.key }) {
            let count = texts[Self.placeholder] ?? 0
            placeholders += count
            let isExplained = user == userWithoutApp && count <= explainedCount
            for (text, _) in texts.sorted(by: { $0.key < $1.key }) where !(text == Self.placeholder && isExplained) {
                flaws.append("\(user) sees \(text) without a push")
            }
        }
    }
}
