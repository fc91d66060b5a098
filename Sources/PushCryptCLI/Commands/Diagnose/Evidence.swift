import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives

/// An input that describes the push or its device, named by its option.
enum EvidenceInput: String {
    case topic, keys, registration, device, trust, headers, report, app
    case time = "at"

    var option: String { "--" + rawValue }
}

/// All that is known about a push and its device. Everything but the payload may be missing.
struct Evidence {
    /// The backend's record of the device.
    enum Registration {
        case key(Keyset.Entry)
        case unreadable(KeyError)

        var entry: Keyset.Entry? { if case .key(let entry) = self { entry } else { nil } }
    }

    /// The sender keys that the app pins.
    enum Senders {
        case trusted(TrustedSenders)
        /// The app pins no sender and opens unsigned pushes only.
        case unsigned
        case refused(KeyError)
    }

    let payload: ReceivedPayload
    /// As given; see ``expectedTopic``.
    let topic: String?
    /// The recipient's private or shared keys, not those of one device.
    let keys: Keyset?
    /// Whether the keys were given. The record of a shared key is the key itself.
    let hasKeys: Bool
    let device: DeviceID?
    let registration: Registration?
    let senders: Senders?
    let headers: RequestHeaders?
    let report: DeviceReport?
    let app: AppFolder?
    let time: UnixTime
    /// The inputs that were given, complete or not.
    let given: Set<EvidenceInput>
    /// Whether the published demo keys are expected, as in a test.
    var acceptsDemoKeys = false
    /// How the push opens; nil without keys, a topic or a readable envelope.
    private(set) var trial: Trial?

    init(
        payload: ReceivedPayload, topic: String?, keys: Keyset?, device: DeviceID?, registration: Registration?,
        senders: Senders?, headers: RequestHeaders?, report: DeviceReport?, app: AppFolder?, time: UnixTime,
        given: Set<EvidenceInput>
    ) {
        self.given = given
        (self.payload, self.topic, self.device, self.registration) = (payload, topic, device, registration)
        (self.senders, self.headers, self.report, self.app, self.time) = (senders, headers, report, app, time)
        hasKeys = keys != nil
        let shared = registration?.entry.flatMap { $0.record.kind == .shared ? try? Keyset([$0]) : nil }
        self.keys = keys ?? shared
        trial = Trial(self)
    }

    /// A text that asks for those of the inputs that weren't given; empty if all were.
    ///
    /// - Parameter text: makes the text of their options, such as `--topic or --app`.
    func asking(for inputs: EvidenceInput..., text: (String) -> String) -> String {
        let options = inputs.filter { !given.contains($0) }.map(\.option)
        return options.isEmpty ? "" : text(options.listed(with: "or"))
    }

    /// The device that --keys belongs to, if it is the key of one device of a shared key.
    var keyDevice: DeviceID? { hasKeys ? keys?.entries.lazy.compactMap(\.record.deviceID).first : nil }

    /// The device whose key is derived from a shared key: that of --device, of --keys, or of the record.
    var recipientDevice: DeviceID? { device ?? keyDevice ?? registration?.entry?.record.deviceID }

    /// Whether the payload's key is a shared (master) key, and nothing names the device whose key is derived from it.
    var lacksDevice: Bool {
        guard recipientDevice == nil, let record = payload.kid.flatMap({ keys?.entry($0) })?.record else {
            return false
        }
        return record.kind == .shared && !record.isDeviceKey
    }

    /// The given key that the payload is sealed to: from --keys, or from the record.
    var sealingRecord: KeyRecord? {
        let entries = [payload.kid.flatMap { keys?.entry($0) }, registration?.entry].compactMap(\.self)
        return entries.map(\.record).first { $0.kid == payload.kid }
    }

    /// The app's bundle identifier, from the best source.
    var expectedTopic: String? {
        topic ?? report.flatMap { $0.topic.isEmpty ? nil : $0.topic } ?? app?.app?.identifier
            ?? headers?.topic?.withoutOuterWhiteSpace
    }

    /// How old the report is by the device's clock; negative if that clock is ahead, and 0 without a report.
    var reportAge: Int64 { report.map { time.seconds - $0.time } ?? 0 }

    /// The key of the report that the payload names.
    var reportedKey: DeviceReport.Key? {
        payload.kid.flatMap { kid in report?.keys?.first { $0.kid == kid.description } }
    }

    /// The counter of a failure since the last restored push; nil if there is none.
    func recent(_ failure: FailureClass) -> DeviceReport.Counter? {
        report?.statistics?.failures[failure.rawValue].flatMap { isRecent($0) ? $0 : nil }
    }

    /// Whether a failure was counted after the last restored push, or with it, and since advice was last taken.
    func isRecent(_ counter: DeviceReport.Counter) -> Bool {
        counter.recentCount > 0 && report?.statistics?.opened.map { $0.lastTime > counter.lastTime } != true
    }

    /// Whether the failure was counted for this push's key, or no key is known.
    func concernsThisPush(_ counter: DeviceReport.Counter) -> Bool {
        guard let kid = payload.kid, let last = counter.lastKid else { return true }
        return kid.description == last
    }

    /// Whether the device says that this push failed so: the extension left the reason in the placeholder, or counted the
    /// failure for the push's key.
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
