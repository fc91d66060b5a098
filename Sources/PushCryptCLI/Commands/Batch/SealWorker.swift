import PushCryptCore
import PushCryptKeysets
import PushCryptSender

/// Finds the recipient of a kid, and of a device where one is named; nil for an unknown one. Used by one thread.
typealias RecipientLookup = (KeyID, DeviceID?) throws -> Recipient?

/// Seals queued payloads.
///
/// ```
/// in:  {"payload": <inner>, ["to": <JWK> | "<kid>"], ["device": "<device id>"], ["placeholder": {...}],
///       ["expires": "<duration>"], ["expose": ["badge", ...]], <others>}
/// out: {"payload": <outer>, ["to": "<kid>"], ["device"], <others>,
///       "pushcrypt": {"line": N, "id": "<message id>", "expiresAt": <unix seconds>}}
/// ```
struct SealWorker: LineWorker {
    enum Outcome: String, LineOutcome {
        case sealed
    }

    /// What all workers have in common.
    struct Plan: Sendable {
        let sealer: Sealer
        let options: Sealer.Options
        let placeholder: Placeholder
        let extras: MessageExtras
        /// The key of --to.
        let entry: Keyset.Entry?
        let allowsDemoKeys: Bool
    }

    private let plan: Plan
    private let standardRecipient: Recipient?
    private let lookup: RecipientLookup?

    init(_ plan: Plan, _ lookup: RecipientLookup?) throws {
        self.plan = plan
        self.lookup = lookup
        standardRecipient = try plan.entry.map { try Recipient($0) }
    }

    mutating func take(_ bytes: [UInt8], number: Int, into output: inout [UInt8]) throws -> Outcome {
        let line = try QueueLine(bytes)
        guard line[.pushcrypt] == nil else {
            throw LineRefusal.malformedLine("the line already has a pushcrypt member: was it sealed before?")
        }
        let overrides = try SealOverrides(line)
        let recipient: Recipient
        let push: SealedPush
        do {
            recipient = try self.recipient(of: line)
            push = try plan.sealer.seal(
                Array(line.payload.rawBytes), to: recipient, placeholder: overrides.placeholder ?? plan.placeholder,
                attachments: plan.extras.attachments, offload: plan.extras.offload,
                isSelfTest: plan.extras.isSelfTest,
                options: overrides.options(plan.options))
        } catch {
            throw LineRefusal(error) ?? error
        }
        let kid = [UInt8(ascii: "\"")] + recipient.kid.utf8 + [UInt8(ascii: "\"")]
        let payload = push.bytes
        let summary = LineSummary(number: number, id: push.id, expiresAt: push.expiresAt)
        line.append(to: &output, adding: summary.member) { field in
            switch field {
            case .payload: .replace(payload)
            case .to: .replace(kid)
            case .placeholder, .expires, .expose: .remove
            case .device, .pushcrypt: .keep
            }
        }
        return .sealed
    }

    private func recipient(of line: QueueLine) throws -> Recipient {
        guard let to = line[.to] else { return try standardRecipient(line.device) }
        switch to.kind {
        case .object: return try checked(Self.recipient(jwk: to, line.device))
        case .string: return try checked(knownRecipient(to, line.device))
        default: throw LineRefusal.malformedLine("to is neither a JWK nor a key id")
        }
    }

    private func standardRecipient(_ device: DeviceID?) throws -> Recipient {
        guard let entry = plan.entry, let standardRecipient else { throw LineRefusal.recipientMissing }
        guard let device else { return standardRecipient }
        return try Recipient(entry, device: device)
    }

    /// From the line as it was read: a key in each of millions of lines isn't read twice.
    private static func recipient(jwk: JSONValue, _ device: DeviceID?) throws -> Recipient {
        let record = try KeyRecord(jwk, backend: DefaultBackend.shared)
        // One key alone needs no time to say that it seals.
        return try Recipient(Keyset.Entry(record, KeyLifecycle(activatesAt: UnixTime(0))), device: device)
    }

    private func knownRecipient(_ to: JSONValue, _ device: DeviceID?) throws -> Recipient {
        guard let kid = to.utf8.flatMap(KeyID.init(utf8:)) else {
            throw LineRefusal.malformedLine("to is not a key id, which has 11 characters of base64url")
        }
        guard let lookup else {
            throw LineRefusal.unknownKey("to is key id \(kid), and no --recipients says whose that is")
        }
        guard let recipient = try lookup(kid, device) else {
            let whose = device.map { " of device \($0)" } ?? ""
            throw LineRefusal.unknownKey("no key \(kid)\(whose) is among the recipients")
        }
        return recipient
    }

    private func checked(_ recipient: Recipient) throws -> Recipient {
        guard plan.allowsDemoKeys || !DemoKeys.covers([recipient.kid]) else {
            throw LineRefusal.demoKeys(recipient.kid)
        }
        return recipient
    }
}

/// What a line says in place of the command's options.
private struct SealOverrides {
    let placeholder: Placeholder?
    private let expiresAfterInSeconds: Int64?
    private let exposed: [String]?

    init(_ line: QueueLine) throws(LineRefusal) {
        placeholder = try line[.placeholder].map(Self.placeholder)
        expiresAfterInSeconds = try line[.expires].map(Self.seconds)
        exposed = try line[.expose].map(Self.names)
    }

    /// - Returns: nil for the command's own.
    func options(_ standard: Sealer.Options) -> Sealer.Options? {
        guard expiresAfterInSeconds != nil || exposed != nil else { return nil }
        var options = standard
        if let expiresAfterInSeconds { options.expiresAfterInSeconds = expiresAfterInSeconds }
        if let exposed { options.exposed = exposed }
        return options
    }

    private static func placeholder(_ value: JSONValue) throws(LineRefusal) -> Placeholder {
        guard value.kind == .object else { throw .malformedLine("placeholder is not an object") }
        var placeholder = Placeholder()
        for member in value.members {
            guard let text = member.value.string else {
                throw .malformedLine("a member of placeholder is not a string")
            }
            switch member.name {
            case "title": placeholder.title = text
            case "body": placeholder.body = text
            case "title-loc-key": placeholder.titleLocKey = text
            case "loc-key": placeholder.bodyLocKey = text
            default:
                throw .malformedLine("placeholder has a member that is none of title, body, title-loc-key and loc-key")
            }
        }
        return placeholder
    }

    private static func seconds(_ value: JSONValue) throws(LineRefusal) -> Int64 {
        guard let seconds = value.string.flatMap(DurationText.seconds) else {
            throw .malformedLine("expires is not a duration: a string like 12h or PT12H")
        }
        return seconds
    }

    private static func names(_ value: JSONValue) throws(LineRefusal) -> [String] {
        let names = value.elements.compactMap(\.string)
        guard value.kind == .array, names.count == value.elements.count else {
            throw .malformedLine("expose is not an array of names")
        }
        return names
    }
}
