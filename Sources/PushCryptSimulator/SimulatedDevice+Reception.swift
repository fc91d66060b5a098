public import PushCryptExtension

extension SimulatedDevice {
    /// What became of a push.
    public struct Reception: Hashable, Sendable {
        /// Why APNs refused it; nil if it didn't.
        public var refusal: PushRefusal?
        /// Whether APNs keeps it, because the device is off line.
        public var isStored = false
        /// Whether APNs doesn't keep it although the device is off line: its expiration is 0.
        public var isDropped = false
        /// The push type. Only an `alert` is shown.
        public var pushType = "alert"
        /// The system's name of the notification; nil if there is none.
        public var requestID: String?
        /// What a device without the extension shows; nil for a push without an alert.
        public var original: NotificationContent?
        /// What this device shows, and why; nil for a push without an alert.
        public var presentation: PresentedContent?
        /// The extension's report; nil if it didn't run, or ended without one.
        public var report: DeliveryReport?
        /// Whether the clock was moved after ``Options/patience``, because code waited for something that the simulated clock
        /// doesn't know, such as a real server. ``report`` names a stage that didn't end.
        public var ranOutOfPatience = false

        /// What this device shows, in a banner, the list or on the lock screen; nil if none of them has it. Hidden previews don't
        /// change it: see ``SimulatedNotificationCenter/lockScreen``.
        public var content: NotificationContent? { presentation?.content }
        /// Why the push wasn't restored completely; nil if it was. A push that the extension didn't receive has none either:
        /// see ``isRestored``. The failures of stages are in `report.stageFailures`.
        public var failure: FailureClass? { report?.failure }
        /// Whether the extension has restored the text, and this device shows it.
        public var isRestored: Bool { report?.isRestored == true && presentation?.origin == .handedOver }
        /// Whether the extension has handed over a push that wasn't sealed, as `ExtensionConfiguration.UnsealedPolicy.shown`
        /// asks, and this device shows it.
        public var isUnsealed: Bool {
            report.map { $0.failure == nil && !$0.isRestored } == true && presentation?.origin == .handedOver
        }
    }
}

extension SimulatedDevice.Reception: CustomStringConvertible, CustomReflectable {
    /// What became of the push, without its content, as in `placeholder is shown: unknownKey` or `refused: 413 PayloadTooLarge`.
    public var description: String {
        if let refusal { return "refused: \(refusal)" }
        if isStored { return "stored by APNs" }
        if isDropped { return "dropped by APNs: the device is off line, and the push isn't stored" }
        guard pushType == "alert" else { return "nothing is shown: the push type is \(pushType)" }
        guard let presentation else { return "nothing is shown: the push has no alert" }
        let shown =
            switch presentation.origin {
            case .handedOver where isRestored: "restored"
            case .handedOver where isUnsealed: "shown although it isn't sealed"
            case .handedOver: "placeholder is shown"
            default: "\(presentation.origin)"
            }
        let stages = (report?.stageFailures ?? []).map { "stage \($0.stage) \($0.ending)" }
        let reasons = [failure.map { "\($0)" }].compactMap(\.self) + stages
        return shown + (reasons.isEmpty ? "" : ": " + reasons.joined(separator: ", "))
            + (ranOutOfPatience ? "; code waited for something other than the simulated clock" : "")
    }
    /// Nothing, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
