import PushCryptSimulator

/// Which options have changed something, so that one without effect can be named.
struct OptionEffects {
    var hasKept = false
    /// Whether a calendar trigger without a time zone of its own was scheduled.
    var hasUsedTimeZone = false
    /// The members of --attachment-member that a push had.
    private var knownMembers: Set<String> = []
    private var hasOpened = false
    private var hasTextKeys = false
    /// Whether the system ended the extension during a push.
    private var hasDied = false
    private var hasSuppressed = false
    private var hasReceived = false
    private var (hasUnsealed, hasReceipt) = (false, false)
    /// Whether a receipt was left in the store.
    var hasLeftReceipt = false
    /// Whether a push has another result than it would have with the right clock.
    var hasClockFailure = false
    /// How long the extension has worked for a push at most.
    private var longestDuration: Duration = .zero

    mutating func note(_ reception: SimulatedDevice.Reception, _ duration: Duration) {
        hasReceived = true
        hasUnsealed = hasUnsealed || reception.isUnsealed || reception.failure == .notSealed
        hasReceipt = hasReceipt || reception.report.map { $0.isRestored || $0.failure != nil } == true
        hasDied = hasDied || reception.presentation?.origin == .died
        hasSuppressed = hasSuppressed || reception.presentation?.origin == .suppressed
        longestDuration = max(longestDuration, duration)
    }

    mutating func note(_ findings: PushFindings, isOpened: Bool) {
        hasTextKeys = hasTextKeys || findings.hasTextKeys
        hasOpened = hasOpened || isOpened
        knownMembers.formUnion(findings.settings.plainMembers.filter { findings.member($0) != nil })
    }

    private static func hasCategory(_ settings: SimulatedPhones.Settings, _ phone: SimulatedDevice) -> Bool {
        let known = settings.categories.map(\.category.id)
        return phone.center.presentations.contains { presentation in
            presentation.notification.request.content.category.map(known.contains) == true
        }
    }

    /// A line for each option without effect.
    func unused(_ settings: SimulatedPhones.Settings, _ phone: SimulatedDevice, _ app: SimulatedApp) -> [String] {
        let requested = Set(phone.network.requested)
        let served = settings.files.map(\.address).filter { !requested.contains($0) }
            .map { "served and never requested: \($0)" }
        let limit = settings.timeLimit.map { $0 - settings.options.grace } ?? .zero
        let hasMemoryLimit =
            settings.options.memoryLimitInBytes != SimulatedDevice.Options().memoryLimitInBytes
        let options: [(isUnused: Bool, option: String, reason: String)] = [
            (
                settings.networkDelay > .zero && requested.isEmpty && phone.network.posts.isEmpty, "--slow-network",
                "no push has requested a file"
            ),
            (
                settings.options.endsProcessAfter != nil && !hasDied && !hasLeftReceipt, "--kill-at",
                "the extension was ready with each push before"
            ),
            (longestDuration < limit, "--time-limit", "the extension was ready with each push before"),
            (
                hasMemoryLimit && !hasDied, "--memory-limit",
                phone.memory.peakInBytes == 0
                    ? "only the files that the extension fetches count, and it has fetched none"
                    : "the extension held \(NumberText.grouped(phone.memory.peakInBytes)) bytes of files at most"
            ),
            (
                settings.options.hasFilteringEntitlement && !hasSuppressed, "--filtering",
                "no push was sealed with --quiet or taken back before"
            ),
            (settings.isOffline && !hasKept, "--offline", "APNs has kept no push"),
            (
                settings.showsUnsealed && !hasUnsealed, "--unsealed",
                "the extension received no push that isn't sealed"
            ),
            (
                settings.receipts != nil && !hasReceipt && !hasLeftReceipt, "--receipts",
                hasDied
                    ? "the extension made no receipt, and the system ended it during a push"
                    : "the extension made no receipt"
            ),
            (
                settings.phoneClock != nil && !hasClockFailure, "--phone-clock",
                settings.phoneClock == settings.startsAt
                    ? "APNs has the same time"
                    : hasReceived ? "each push can be opened at either time" : "no push was received"
            ),
            (
                settings.foreground != nil && app.presentationCount == 0, "--foreground",
                "no notification came while the app was in the foreground"
            ),
            (
                !settings.categories.isEmpty && !Self.hasCategory(settings, phone), "--categories",
                "no notification with one of these categories was shown"
            ),
            (
                settings.hasTimeZone && !hasUsedTimeZone, "--time-zone",
                "no calendar trigger without a timeZone was scheduled"
            ),
            (settings.strings != nil && !hasTextKeys, "--strings", "no push has a key of the app's texts"),
        ]
        let known = settings.categories.map(\.category.id)
        var foreign = phone.center.presentations.compactMap(\.notification.request.content.category)
        foreign = Set(foreign).subtracting(known).sorted()
        let unknown =
            known.isEmpty ? [] : foreign.map { "--categories doesn't have the category \($0) of a notification" }
        let members = hasOpened ? settings.plainMembers.filter { !knownMembers.contains($0) } : []
        return served + unknown + options.filter(\.isUnused).map { "\($0.option) has no effect: \($0.reason)" }
            + members.map { "--attachment-member \($0) has no effect: no push has this member" }
    }
}
