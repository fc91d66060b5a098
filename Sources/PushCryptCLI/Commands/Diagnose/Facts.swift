import PushCryptCore
import PushCryptExtension

/// All that is known about a push and its device. Everything but the payload and the time may be missing.
struct Facts {
    /// The backend's record of the device.
    enum Registration {
        case key(Keyset.Entry)
        case unreadable(KeyError)
    }

    let payload: ReceivedPayload
    /// As given; see ``expectedTopic``.
    let topic: String?
    /// The recipient's private or shared keys, or the shared key in the record.
    let keys: Keyset?
    /// Whether the keys were given. The record of a shared key is the key itself.
    let hasKeys: Bool
    let registration: Registration?
    /// The sender keys that the app pins.
    let trusted: TrustedSenders?
    let headers: RequestHeaders?
    let report: DeviceReport?
    let app: AppFolder?
    let time: UnixTime
    /// How the push opens; nil without keys, a topic or a readable envelope.
    private(set) var trial: Trial?

    init(
        payload: ReceivedPayload, topic: String? = nil, keys: Keyset? = nil, registration: Registration? = nil,
        trusted: TrustedSenders? = nil, headers: RequestHeaders? = nil, report: DeviceReport? = nil,
        app: AppFolder? = nil, time: UnixTime
    ) {
        (self.payload, self.topic, self.registration, self.trusted) = (payload, topic, registration, trusted)
        (self.headers, self.report, self.app, self.time) = (headers, report, app, time)
        hasKeys = keys != nil
        self.keys =
            keys
            ?? {
                guard case .key(let entry)? = registration, entry.record.kind == .shared else { return nil }
                return try? Keyset([entry])
            }()
        trial = Trial(self)
    }

    var entry: Keyset.Entry? { if case .key(let entry)? = registration { entry } else { nil } }
    var record: KeyRecord? { entry?.record }

    /// The device whose key is derived from a shared key: that of --keys, or of the record.
    var device: DeviceID? {
        (hasKeys ? keys?.entries.lazy.compactMap(\.record.deviceID).first : nil) ?? record?.deviceID
    }

    /// Whether the payload's key is a shared (master) key, and nothing names the device whose key is derived from it.
    var lacksDevice: Bool {
        guard device == nil, let record = payload.kid.flatMap({ keys?.entry($0) })?.record else { return false }
        return record.kind == .shared && !record.isDeviceKey
    }

    /// The topics that were given, with their places.
    var topics: [(place: String, name: String)] {
        [
            ("headers: apns-topic", headers?.topic), ("--topic", topic), ("report: topic", report?.topic),
            ("app: CFBundleIdentifier", app?.app?.identifier),
        ].compactMap { place, name in name.flatMap { $0.isEmpty ? nil : (place, $0) } }
    }

    /// The app's bundle identifier, from the best source.
    var expectedTopic: String? {
        topic ?? report.flatMap { $0.topic.isEmpty ? nil : $0.topic } ?? app?.app?.identifier
            ?? headers?.topic?.withoutOuterWhiteSpace
    }

    /// The ids of the device's keys, with the evidence: those of its report, else those of --keys.
    var deviceKeys: (kids: [String], seen: String)? {
        if let kids = report?.keys.map({ $0.map(\.kid) }) {
            return (kids, "report: the device has " + (kids.isEmpty ? "no key" : Self.list(kids)))
        }
        guard hasKeys, let kids = keys?.keyIDs.map(\.description) else { return nil }
        return (kids, "keys: they are \(Self.list(kids))")
    }

    /// The key of the report with this id.
    func reported(_ kid: KeyID?) -> DeviceReport.Key? { report?.keys?.first { $0.kid == kid?.description } }

    static func list(_ kids: [String]) -> String {
        let shown = kids.prefix(3).joined(separator: ", ")
        return (kids.count == 1 ? "key " : "keys ") + shown + (kids.count > 3 ? " and \(kids.count - 3) more" : "")
    }
}

/// What the device counted.
extension Facts {
    /// Whether a failure was counted after the last restored push, or with it, and since advice was last taken.
    func isRecent(_ counter: DeviceReport.Counter) -> Bool {
        counter.recentCount > 0 && report?.statistics?.opened.map { $0.lastTime > counter.lastTime } != true
    }

    /// Whether the failure was counted for this push's key, or no key is known.
    func concernsThisPush(_ counter: DeviceReport.Counter) -> Bool {
        guard let kid = payload.kid, let last = counter.lastKid else { return true }
        return kid.description == last
    }

    private func recent(_ failure: FailureClass) -> DeviceReport.Counter? {
        report?.statistics?.failures[failure.rawValue].flatMap { isRecent($0) ? $0 : nil }
    }

    /// Whether the device says that this push failed so: the extension left the reason in the placeholder, or counted
    /// the failure for the push's key.
    func hasFailed(_ failure: FailureClass) -> Bool {
        payload.reportedFailure == failure || recent(failure).map(concernsThisPush) ?? false
    }

    /// What the device says about a failure, as evidence.
    func seen(_ failure: FailureClass) -> [String] {
        let name = RequestHeaders.printable(failure.rawValue, limitInBytes: 64)
        var seen = payload.reportedFailure == failure ? ["payload: the extension left the reason \(name)"] : []
        if let counter = recent(failure) {
            let key =
                counter.lastKid.map { (counter.count == 1 ? ", for key " : ", the last one for key ") + $0 } ?? ""
            seen.append(
                "report: \(NumberText.counted(counter.count, "push")) failed with \(name)\(key), at "
                    + "\(UnixTime(counter.lastTime))")
        }
        return seen
    }
}

extension KeyRecord {
    /// The device of a shared key; nil for other keys.
    var deviceID: DeviceID? { if case .shared(_, let device) = material { device } else { nil } }
}
