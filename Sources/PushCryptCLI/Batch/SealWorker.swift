import PushCryptCore
import PushCryptKeysets
import PushCryptRecipients
import PushCryptSender

extension Seal {
    /// Chooses the keys for each line when it is sealed, so that a long run follows a rotation.
    func sealBatch() throws {
        let time = timeOptions.time
        let topic = try Topic(option: topic).description
        let givenTime = timeOptions.givenTime
        let clock: @Sendable () -> UnixTime = { givenTime ?? .now }
        let keys = try to.map { path in
            let source = try KeySource(path, keyAccess, allowsPublic: signWith != nil)
            let recipient = try source.recipient(device: nil, at: time)
            try checkRecipient(recipient, of: path)
            return try source.followed(allowsDemoKeys: demoKeys.isAllowed, clock: clock)
        }
        let signer = try signWith.map { path in
            let source = try KeySource(path, keyAccess)
            _ = try source.senderKey(at: time)
            return try source.followed(allowsDemoKeys: demoKeys.isAllowed, clock: clock)
        }
        let common = MessageExtras(
            attachments: try extras.attachments(), offload: try extras.offloadReference(), isSelfTest: extras.selfTest)
        let sealer = try Sealer(
            topic: topic, signer: signer?.signer, placeholder: placeholder.placeholder, options: options,
            clock: clock)
        try check(common)
        let counter = SealCounter()
        defer { counter.writeNotes() }
        let directory = try recipients.map { path in try RecipientDirectory(path: path) }
        var run = try BatchRun<SealWorker>(batch, input)
        try run.processAllLines {
            let reader = try directory?.makeReader()
            return SealWorker(
                sealer: sealer, retractedCampaigns: instructions.retractFrom, extras: common, keys: keys,
                allowsBare: bare, requiresPSK: requirePSK, writesRequests: request, allowsDemoKeys: demoKeys.isAllowed,
                counter: counter, lookup: reader.map { reader in { try reader.recipient(kid: $0, device: $1) } })
        }
    }

    /// Throws an error that every line would have.
    private func check(_ common: MessageExtras) throws {
        try options.check()
        if let flaw = common.flaw { throw Failure(.usage, flaw) }
        guard placeholder.placeholder.json != nil else {
            throw Failure(.usage, "the placeholder has no text: the system wouldn't run the extension")
        }
    }
}

/// Finds the recipient with a kid and, if given, a device id; nil if there is none. One thread calls it.
typealias RecipientLookup = (KeyID, DeviceID?) throws -> Recipient?

/// Seals the payloads of a batch.
///
/// ```
/// in:  {"payload": <inner>, ["to": <JWK> | "<kid>"], ["device": "<device id>"], ["placeholder": {...}],
///       ["expires": "<duration>"], ["expose": ["badge", ...]], ["campaign": "<name>"], ["retract": ["<message id>", ...]],
///       ["quiet": true/false], ["badgeAdd": N], ["carrier": "<name>"], <others>}
/// out: {"payload": <outer>, ["to": "<kid>"], ["device"], ["campaign"], <others>,
///       "pushcrypt": {"line": N, "id": "<message id>", "expiresAt": <unix seconds>, ["notes": ["<text>", ...]]}}
/// ```
struct SealWorker: LineWorker {
    enum Outcome: String, LineOutcome { case sealed }

    let sealer: Sealer
    /// The campaigns of --retract-from.
    let retractedCampaigns: [String]
    let extras: MessageExtras
    /// The keys of --to.
    let keys: FollowedKeys?
    let allowsBare: Bool
    var requiresPSK = false
    var writesRequests = false
    let allowsDemoKeys: Bool
    var counter: SealCounter?
    let lookup: RecipientLookup?

    mutating func process(_ line: QueueLine, number: Int, into output: inout [UInt8]) throws -> Outcome {
        guard line[.pushcrypt] == nil else {
            throw LineRefusal.malformedLine("the line already has a member \"pushcrypt\": was it sealed before?")
        }
        try line.refuseMisspeltNames()
        let overrides = try SealOverrides(line)
        let recipient: Recipient
        let push: SealedPush
        do {
            recipient = try self.recipient(of: line)
            push = try sealer.seal(
                Array(line.payload.rawBytes), to: recipient, placeholder: overrides.placeholder,
                attachments: extras.attachments, offload: extras.offload, isSelfTest: extras.isSelfTest
            ) { try overrides.change(&$0, retracting: retractedCampaigns, of: recipient) }
        } catch {
            throw LineRefusal(error) ?? error
        }
        counter?.count(recipient, push)
        let kid = [UInt8(ascii: "\"")] + recipient.kid.utf8 + [UInt8(ascii: "\"")]
        let payload = push.bytes
        var summary = LineSummary(number: number, id: push.id, expiresAt: push.expiresAt)
        if !push.notes.isEmpty {
            summary.others = [#""notes":[\#(push.notes.map { "\"\($0)\"" }.joined(separator: ","))]"#]
        }
        if writesRequests {
            summary.others.append(#""request":"# + String(decoding: push.request, as: UTF8.self))
            summary.others.append(#""receipt":"\#(ReceiptName(messageID: push.id)?.description ?? "")""#)
        }
        line.append(to: &output, adding: summary.member) { field in
            switch field {
            case .payload: .replace(payload)
            case .to: .replace(kid)
            case .placeholder, .expires, .expose, .retract, .quiet, .badgeAdd, .carrier: .remove
            case .device, .campaign, .pushcrypt, .error: .keep
            }
        }
        return .sealed
    }

    private func recipient(of line: QueueLine) throws -> Recipient {
        let recipient = try namedRecipient(of: line)
        guard allowsBare || !recipient.isBareSharedKey else { throw LineRefusal.deviceMissing }
        if requiresPSK { try recipient.requirePSK() }
        return recipient
    }

    private func namedRecipient(of line: QueueLine) throws -> Recipient {
        guard let to = line[.to] else { return try defaultRecipient(line.device) }
        switch to.kind {
        case .object: return try checked(Self.recipient(jwk: to, line.device))
        case .string: return try checked(knownRecipient(to, line.device))
        default: throw LineRefusal.malformedLine("\"to\" is neither a JWK nor a key id")
        }
    }

    private func defaultRecipient(_ device: DeviceID?) throws -> Recipient {
        guard let keys else { throw LineRefusal.recipientMissing }
        return try keys.recipient(device)
    }

    /// Uses the parsed line, so that no key is parsed twice.
    private static func recipient(jwk: JSONValue, _ device: DeviceID?) throws -> Recipient {
        let record = try KeyRecord(jwk, backend: DefaultBackend.shared)
        // The key of a line is always active.
        return try Recipient(Keyset.Entry(record, KeyLifecycle(activatesAt: UnixTime(0))), device: device)
    }

    private func knownRecipient(_ to: JSONValue, _ device: DeviceID?) throws -> Recipient {
        guard let kid = to.utf8.flatMap(KeyID.init(utf8:)) else {
            throw LineRefusal.malformedLine("\"to\" is not a key id: a key id has 11 characters of base64url")
        }
        guard let lookup else {
            throw LineRefusal.unknownKey("\"to\" is the key id \(kid); to look up key ids, add --recipients")
        }
        guard let recipient = try lookup(kid, device) else {
            let owner = device.map { " of device \($0)" } ?? ""
            throw LineRefusal.unknownKey("the recipient directory has no key \(kid)\(owner)")
        }
        return recipient
    }

    private func checked(_ recipient: Recipient) throws -> Recipient {
        guard allowsDemoKeys || !DemoKeys.covers([recipient.kid]) else { throw LineRefusal.demoKeys(recipient.kid) }
        return recipient
    }
}

/// The members of a line that replace the command's options, or are added to them.
private struct SealOverrides {
    let placeholder: Placeholder?
    private let expiresAfter: Duration?
    private let exposed: [String]?
    private let campaign: String?
    private let retractedIDs: [String]
    private let isQuiet: Bool?
    private let badgeIncrement: Int?
    private let carrier: Carrier?

    init(_ line: QueueLine) throws(LineRefusal) {
        placeholder = try line[.placeholder].map(Placeholder.init(line:))
        expiresAfter = try line[.expires].map(Self.duration)
        exposed = try line[.expose].map { value throws(LineRefusal) in
            try value.strings(orRefuse: "\"expose\" is not an array of names")
        }
        campaign = try line[.campaign].map(Self.name)
        retractedIDs =
            try line[.retract].map { value throws(LineRefusal) in
                try value.strings(orRefuse: "\"retract\" is not an array of message ids")
            } ?? []
        isQuiet = try line[.quiet].map(Self.boolean)
        badgeIncrement = try line[.badgeAdd].map(Self.increment)
        carrier = try line[.carrier].map(Self.carrier)
    }

    /// - Parameter campaigns: the campaigns whose pushes are retracted too.
    func change(
        _ options: inout Sealer.Options, retracting campaigns: [String], of recipient: Recipient
    ) throws(SenderError) {
        // Sealing refuses an id that the line gives twice.
        if options.retractedIDs.isEmpty { options.retractedIDs = retractedIDs } else { options.retract(retractedIDs) }
        try options.retract(campaigns: campaigns, of: recipient)
        if let campaign { options.campaign = campaign }
        if let isQuiet { options.isQuiet = isQuiet }
        if let badgeIncrement { options.badgeIncrement = badgeIncrement }
        if let carrier { options.carrier = carrier }
        if let expiresAfter { options.expiresAfter = expiresAfter }
        if let exposed { options.exposed = exposed }
    }

    private static func name(_ value: JSONValue) throws(LineRefusal) -> String {
        guard let name = value.string else { throw .malformedLine("\"campaign\" is not a string") }
        return name
    }

    private static func duration(_ value: JSONValue) throws(LineRefusal) -> Duration {
        guard let seconds = value.string.flatMap(DurationText.seconds) else {
            throw .malformedLine("\"expires\" is not a duration: a string such as 12h or PT12H")
        }
        return .seconds(seconds)
    }

    private static func boolean(_ value: JSONValue) throws(LineRefusal) -> Bool {
        guard let boolean = value.boolean else { throw .malformedLine("\"quiet\" is not true or false") }
        return boolean
    }

    private static func carrier(_ value: JSONValue) throws(LineRefusal) -> Carrier {
        guard let carrier = value.string.flatMap(Carrier.init) else {
            throw .malformedLine("\"carrier\" is none of \(Carrier.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return carrier
    }

    private static func increment(_ value: JSONValue) throws(LineRefusal) -> Int {
        guard value.kind == .number, let increment = Int(String(decoding: value.rawBytes, as: UTF8.self)) else {
            throw .malformedLine("\"badgeAdd\" is not an integer")
        }
        return increment
    }
}
