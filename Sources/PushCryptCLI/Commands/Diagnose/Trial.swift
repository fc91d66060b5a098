import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives

/// An attempt to open the push as the device does, and then under other assumptions, one of which explains a failure.
struct Trial {
    /// What was different from the configuration when the push opened.
    enum Difference: Hashable {
        case topic(String)
        /// Sealed without the psk that the device's key has.
        case withoutPSK
        /// Sealed with the psk of the registration record, which the device's key doesn't have.
        case pskOfRegistration
        /// Sealed to the shared key itself.
        case bareSharedKey
        /// Sealed to the key of another device.
        case otherDevice(DeviceID)
        /// Sealed as a message of this sender, whose id the payload doesn't contain.
        case missingSender(KeyID)
    }

    /// nil if it didn't open in any way.
    let differences: [Difference]?
    /// nil if it didn't open, or the message isn't an alert payload with a header.
    private(set) var header: MessageHeader?
    /// Why the message isn't a notification; nil if it is one, or the push didn't open.
    private(set) var flaw: String?
    /// Whether the signature is one of the trusted key; nil if it wasn't verified.
    private(set) var hasValidSignature: Bool?
    /// The members of the message with an address that isn't https.
    private(set) var insecureAddresses: [String] = []
    /// The payload in the message.
    private(set) var payload: JSONValue?
    /// Whether the key has a psk or is shared; for the advice.
    let suite: Suite
    /// Whether the key is the shared (master) key, and nothing names the device whose key is derived from it.
    let lacksDevice: Bool

    /// The topic with which the push opened, if it isn't the app's.
    var otherTopic: String? {
        for case .topic(let name) in differences ?? [] { return name }
        return nil
    }

    /// The device with whose key the push opened, if it isn't the recipient.
    var otherDevice: DeviceID? {
        for case .otherDevice(let id) in differences ?? [] { return id }
        return nil
    }

    private struct KeyVariant {
        let entry: Keyset.Entry
        let difference: Difference?
    }

    /// One way to open the push.
    private struct Attempt {
        let topic: String
        let entry: Keyset.Entry
        let sender: KeyID?
        let differences: [Difference]

        func open(_ sealed: [UInt8], verifyingWith key: any VerificationKey = AnySignature()) -> [UInt8]? {
            guard let recipient = try? RecipientKey(entry), let topic = try? Topic(topic) else { return nil }
            return try? Envelope.open(sealed, with: recipient, signedBy: sender.map { ($0, key) }, topic: topic)
        }
    }

    init?(_ evidence: Evidence) {
        guard let kid = evidence.payload.kid, let sealed = evidence.payload.sealed?.bytes,
            let entry = evidence.keys?.entry(kid), let topic = evidence.expectedTopic
        else { return nil }
        lacksDevice = evidence.lacksDevice
        let keys = Self.keyVariants(entry, evidence)
        guard let first = keys.first, let usual = try? RecipientKey(first.entry) else { return nil }
        suite = usual.suite
        let topics: [(String, Difference?)] = Self.topics(evidence, topic).map { ($0, $0 == topic ? nil : .topic($0)) }
        let senders: [(KeyID?, Difference?)] =
            [(evidence.payload.skid, nil)]
            + (evidence.payload.skid == nil ? Self.knownSenders(evidence).map { ($0, .missingSender($0)) } : [])
        let attempts = topics.lazy.flatMap { topic in
            keys.lazy.flatMap { key in
                senders.lazy.map { sender in
                    Attempt(
                        topic: topic.0, entry: key.entry, sender: sender.0,
                        differences: [topic.1, key.difference, sender.1].compactMap(\.self))
                }
            }
        }
        for count in 0...3 {
            for attempt in attempts where attempt.differences.count == count {
                guard let message = attempt.open(sealed) else { continue }
                differences = attempt.differences
                read(message, attempt)
                // Whether the device trusts the sender is examined separately.
                if let sender = attempt.sender, let key = Self.key(of: sender, evidence) {
                    hasValidSignature = attempt.open(sealed, verifyingWith: key) != nil
                }
                return
            }
        }
        differences = nil
    }

    private mutating func read(_ message: [UInt8], _ attempt: Attempt) {
        guard let inner = try? InnerPayload(message: message), let key = try? RecipientKey(attempt.entry) else {
            flaw = "it isn't a JSON object with an aps.alert whose text has a visible character"
            return
        }
        header = inner.header(proof: key.proof(isSigned: attempt.sender != nil))
        flaw = header == nil ? MessageFlaw.malformed(inner) : nil
        payload = inner.text.root
        insecureAddresses = AttachmentAddresses.insecure(in: inner.text.root)
    }

    /// The sender's key, if it is given and verifies now.
    private static func key(of sender: KeyID, _ evidence: Evidence) -> (any VerificationKey)? {
        guard case .trusted(let senders)? = evidence.senders else { return nil }
        return try? senders.verificationKey(sender, at: evidence.time).key
    }

    private static func keyVariants(_ entry: Keyset.Entry, _ evidence: Evidence) -> [KeyVariant] {
        switch entry.record.material {
        case .recipient(let publicKey, let privateKey?, let psk):
            func variant(_ psk: SecretBytes?, _ difference: Difference?) -> KeyVariant? {
                let record = try? KeyRecord(
                    .recipient(publicKey: publicKey, privateKey: privateKey, psk: psk), backend: DefaultBackend.shared)
                return record.map { KeyVariant(entry: Keyset.Entry($0, entry.lifecycle), difference: difference) }
            }
            var variants = [variant(psk, nil)]
            if psk != nil { variants.append(variant(nil, .withoutPSK)) }
            if case .recipient(_, _, let other?)? = evidence.registration?.entry?.record.material, other != psk,
                evidence.registration?.entry?.record.kid == entry.record.kid
            {
                variants.append(variant(other, .pskOfRegistration))
            }
            return variants.compactMap(\.self)
        case .shared:
            var variants: [KeyVariant] = []
            if let device = evidence.recipientDevice, let own = try? entry.device(device) {
                variants.append(KeyVariant(entry: own, difference: nil))
                if !entry.record.isDeviceKey { variants.append(KeyVariant(entry: entry, difference: .bareSharedKey)) }
            } else {
                variants.append(KeyVariant(entry: entry, difference: nil))
            }
            if let other = evidence.registration?.entry, other.record.kid == entry.record.kid,
                let id = other.record.deviceID, id != evidence.recipientDevice
            {
                variants.append(KeyVariant(entry: other, difference: .otherDevice(id)))
            }
            return variants
        default: return []
        }
    }

    private static func knownSenders(_ evidence: Evidence) -> [KeyID] {
        var kids: [KeyID] = []
        if case .trusted(let senders)? = evidence.senders { kids += senders.keyIDs }
        if let senders = evidence.report?.senders {
            kids += ((senders.kids ?? []) + (senders.refused ?? [:]).keys.sorted()).compactMap { KeyID($0) }
        }
        var seen = Set<KeyID>()
        return Array(kids.filter { seen.insert($0).inserted }.prefix(knownSenderLimit))
    }

    /// How many senders are tried: a report may be wrong, and each attempt takes time. A signed set has at most so many keys.
    private static let knownSenderLimit = 64

    /// The configured topic, and those that backends and extensions use by mistake.
    private static func topics(_ evidence: Evidence, _ topic: String) -> [String] {
        let known =
            [
                topic, evidence.headers?.topic, evidence.report?.topic, evidence.app?.app?.identifier,
                evidence.app?.service?.identifier,
            ].compactMap(\.self) + (evidence.app?.targets.compactMap(\.identifier) ?? [])
        let parents = known.compactMap { name -> String? in
            let parts = name.split(separator: ".")
            return parts.count > 2 ? parts.dropLast().joined(separator: ".") : nil
        }
        let extensions = [
            "NotificationService", "NotificationServiceExtension", "NotificationExtension", "ServiceExtension",
            "PushService", "PushExtension", "Extension", "NSE", "notificationservice", "push", "service", "voip", "dev",
            "debug", "beta", "staging", "prod", "test",
        ]
        let children = extensions.map { topic + "." + $0 }
        var seen = Set<String>()
        return (known + parents + children + [topic.lowercased()]).filter { seen.insert($0).inserted }
    }
}

/// Accepts every signature.
private final class AnySignature: VerificationKey {
    var serialized: [UInt8] { [] }
    func isValid(_ signature: Span<UInt8>, for message: Span<UInt8>) throws -> Bool { true }
}

/// Addresses of files in a payload, in the members that apps use.
enum AttachmentAddresses {
    private static let names = [
        "image_url", "image-url", "imageUrl", "imageURL", "image", "attachment-url", "attachment_url", "attachmentUrl",
        "attachmentURL", "media_url", "mediaUrl", "media-url", "picture", "picture_url", "video_url",
    ]

    /// The paths of the members with an address that begins with `http:`. The addresses aren't returned: they may be
    /// private.
    static func insecure(in root: JSONValue) -> [String] {
        let places: [(String, JSONValue?)] = [
            ("", root), ("aps.", root["aps"]), ("aps.alert.", root["aps"]?["alert"]), ("data.", root["data"]),
            ("fcm_options.", root["fcm_options"]),
        ]
        return places.flatMap { path, place in
            names.filter { name in
                place?[name]?.string.map { $0.lowercased().hasPrefix("http:") } ?? false
            }.map { path + $0 }
        }
    }
}

extension KeyRecord {
    /// The device of a shared key; nil for other keys.
    var deviceID: DeviceID? { if case .shared(_, let device) = material { device } else { nil } }
}
