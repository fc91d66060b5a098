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
    }

    /// nil if it didn't open in any way.
    let differences: [Difference]?
    /// nil if it didn't open, or the message isn't an alert payload with a header.
    private(set) var header: MessageHeader?
    /// Whether the push opened, and the message isn't a notification.
    private(set) var isMalformed = false
    /// Whether the signature is one of the trusted key; nil if it wasn't verified.
    private(set) var hasValidSignature: Bool?
    /// The payload in the message.
    private(set) var payload: JSONValue?
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

    init?(_ facts: Facts) {
        guard let kid = facts.payload.kid, let sealed = facts.payload.sealed,
            let entry = facts.keys?.entry(kid), let topic = facts.expectedTopic
        else { return nil }
        lacksDevice = facts.lacksDevice
        let keys = Self.keyVariants(entry, facts)
        guard !keys.isEmpty else { return nil }
        let topics: [(String, Difference?)] = Self.topics(facts, topic).map { ($0, $0 == topic ? nil : .topic($0)) }
        let attempts = topics.lazy.flatMap { topic in
            keys.lazy.map { key in
                Attempt(
                    topic: topic.0, entry: key.entry, sender: facts.payload.skid,
                    differences: [topic.1, key.difference].compactMap(\.self))
            }
        }
        for count in 0...2 {
            for attempt in attempts where attempt.differences.count == count {
                guard let message = attempt.open(sealed) else { continue }
                differences = attempt.differences
                read(message, attempt)
                // Whether the device trusts the sender is examined separately.
                if let sender = attempt.sender, let key = Self.key(of: sender, facts) {
                    hasValidSignature = attempt.open(sealed, verifyingWith: key) != nil
                }
                return
            }
        }
        differences = nil
    }

    private mutating func read(_ message: [UInt8], _ attempt: Attempt) {
        guard let inner = try? InnerPayload(message: message), let key = try? RecipientKey(attempt.entry) else {
            isMalformed = true
            return
        }
        header = inner.header(proof: key.proof(isSigned: attempt.sender != nil))
        isMalformed = header == nil
        payload = inner.text.root
    }

    /// The sender's key, if it is given and verifies now.
    private static func key(of sender: KeyID, _ facts: Facts) -> (any VerificationKey)? {
        try? facts.trusted?.verificationKey(sender, at: facts.time).key
    }

    private static func keyVariants(_ entry: Keyset.Entry, _ facts: Facts) -> [KeyVariant] {
        switch entry.record.material {
        case .recipient(let publicKey, let privateKey?, let psk):
            func variant(_ psk: SecretBytes?, _ difference: Difference?) -> KeyVariant? {
                let record = try? KeyRecord(
                    .recipient(publicKey: publicKey, privateKey: privateKey, psk: psk), backend: DefaultBackend.shared)
                return record.map { KeyVariant(entry: Keyset.Entry($0, entry.lifecycle), difference: difference) }
            }
            var variants = [variant(psk, nil)]
            if psk != nil { variants.append(variant(nil, .withoutPSK)) }
            if case .recipient(_, _, let other?)? = facts.record?.material, other != psk,
                facts.record?.kid == entry.record.kid
            {
                variants.append(variant(other, .pskOfRegistration))
            }
            return variants.compactMap(\.self)
        case .shared:
            var variants: [KeyVariant] = []
            if let device = facts.device, let own = try? entry.device(device) {
                variants.append(KeyVariant(entry: own, difference: nil))
                if !entry.record.isDeviceKey { variants.append(KeyVariant(entry: entry, difference: .bareSharedKey)) }
            } else {
                variants.append(KeyVariant(entry: entry, difference: nil))
            }
            if let other = facts.entry, other.record.kid == entry.record.kid,
                let id = other.record.deviceID, id != facts.device
            {
                variants.append(KeyVariant(entry: other, difference: .otherDevice(id)))
            }
            return variants
        default: return []
        }
    }

    /// The configured topic, and those that backends and extensions use by mistake.
    private static func topics(_ facts: Facts, _ topic: String) -> [String] {
        let known =
            [
                topic, facts.headers?.topic, facts.report?.topic, facts.app?.app?.identifier,
                facts.app?.service?.identifier,
            ].compactMap(\.self) + (facts.app?.targets.compactMap(\.identifier) ?? [])
        let parents = known.compactMap { name -> String? in
            let parts = name.split(separator: ".")
            return parts.count > 2 ? parts.dropLast().joined(separator: ".") : nil
        }
        let extensions = [
            "NotificationService", "NotificationServiceExtension", "NotificationExtension", "PushExtension",
            "Extension",
            "NSE", "push", "service", "voip", "dev", "debug", "beta", "staging", "prod", "test",
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
