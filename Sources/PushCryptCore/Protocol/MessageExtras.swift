import PushCryptPrimitives

/// The optional members of a message header (PROTOCOL sections 5 to 7).
///
/// ```
/// "attachments": [1 to 8 of AttachmentReference, their ids distinct], "offload": OffloadReference, "test": true,
/// "retract": [1 to 16 distinct message ids], "quiet": true, "badge": {"add": -999 to 999}
/// ```
/// An empty member is not written and not accepted. The second line and an attachment's `use` are instructions: they
/// affect more than the message's own notification, so they need a `SenderProof`.
package struct MessageExtras: Equatable, Sendable {
    /// What the message is shown with, and its avatar.
    package var attachments: [AttachmentReference]
    /// The payload that the recipient fetches and shows instead of this one.
    package var offload: OffloadReference?
    /// Whether the message is a test of the extension.
    package var isSelfTest: Bool
    /// The ids of the messages whose notifications are removed, or never shown: at most 16, each 16 bytes as 22
    /// characters of base64url.
    package var retractedIDs: [String]
    /// Whether the message is not shown where the app may suppress, and is shown passively elsewhere.
    package var isQuiet: Bool
    /// The number to add to the app's badge, in `badgeIncrements`.
    package var badgeIncrement: Int?

    package static let maximumRetractedCount = 16
    package static let badgeIncrements = -999...999

    package init(
        attachments: [AttachmentReference] = [], offload: OffloadReference? = nil, isSelfTest: Bool = false,
        retractedIDs: [String] = [], isQuiet: Bool = false, badgeIncrement: Int? = nil
    ) {
        self.attachments = attachments
        self.offload = offload
        self.isSelfTest = isSelfTest
        self.retractedIDs = retractedIDs
        self.isQuiet = isQuiet
        self.badgeIncrement = badgeIncrement
    }

    /// Whether a member needs a `SenderProof`.
    package var hasInstructions: Bool {
        !retractedIDs.isEmpty || isQuiet || badgeIncrement != nil || attachments.contains { $0.use != .shown }
    }

    /// Why these can't be sealed; nil if they can.
    package var flaw: String? { attachmentFlaw ?? retractionFlaw ?? quietFlaw ?? badgeFlaw }

    private var attachmentFlaw: String? {
        guard attachments.count <= AttachmentReference.maximumCount else {
            return "a message has at most \(AttachmentReference.maximumCount) attachments"
        }
        guard attachments.compactMap(\.id).areDistinct else { return "two attachments have the same id" }
        return attachments.count { $0.use == .avatar } > 1 ? "a message has at most one avatar" : nil
    }

    private var retractionFlaw: String? {
        guard retractedIDs.count <= Self.maximumRetractedCount else {
            return "a message retracts at most \(Self.maximumRetractedCount) others"
        }
        guard retractedIDs.allSatisfy(MessageHeader.isID) else {
            return "an id to retract is not a message id, 22 characters of base64url"
        }
        return retractedIDs.areDistinct ? nil : "an id to retract is given twice"
    }

    /// An attachment of a push that isn't shown would tell its server when the device is on, and at which address.
    private var quietFlaw: String? {
        isQuiet && (!attachments.isEmpty || offload != nil)
            ? "a quiet message can't have attachments or an offloaded payload" : nil
    }

    private var badgeFlaw: String? {
        guard let badgeIncrement, !Self.badgeIncrements.contains(badgeIncrement) else { return nil }
        return "the badge's increment is not \(Self.badgeIncrements.lowerBound) to \(Self.badgeIncrements.upperBound)"
    }
}

extension MessageExtras {
    /// - Parameters:
    ///   - header: the `pushcrypt` member of an inner payload.
    ///   - proof: of the message's sender. If it is empty, instructions are ignored.
    /// - Returns: nil if a member breaks a rule.
    init?(_ header: JSONValue, proof: SenderProof) {
        self.init()
        if let list = header["attachments"] {
            guard let read = Self.attachments(list, proof: proof) else { return nil }
            attachments = read
        }
        if let value = header["offload"] {
            guard let read = OffloadReference(value) else { return nil }
            offload = read
        }
        if let value = header["test"] {
            guard value.boolean == true else { return nil }
            isSelfTest = true
        }
        guard proof.isEmpty || readInstructions(header), flaw == nil else { return nil }
    }

    /// - Returns: the attachments of known use; nil if one breaks a rule.
    private static func attachments(_ list: JSONValue, proof: SenderProof) -> [AttachmentReference]? {
        let elements = list.elements
        guard (1...AttachmentReference.maximumCount).contains(elements.count) else { return nil }
        var read: [AttachmentReference] = []
        for element in elements {
            guard element.kind == .object else { return nil }
            if let use = element["use"] {
                if proof.isEmpty { continue }
                guard use.kind == .string else { return nil }
                guard AttachmentReference.Use(use) != nil else { continue }
            }
            guard let reference = AttachmentReference(element) else { return nil }
            read.append(reference)
        }
        return read
    }

    /// - Returns: false if a member has the wrong type.
    private mutating func readInstructions(_ header: JSONValue) -> Bool {
        if let list = header["retract"] {
            retractedIDs = list.elements.compactMap(\.string)
            guard !retractedIDs.isEmpty, retractedIDs.count == list.elements.count else { return false }
        }
        if let value = header["quiet"] {
            guard value.boolean == true else { return false }
            isQuiet = true
            // Also if every attachment was skipped.
            guard header["attachments"] == nil else { return false }
        }
        if let value = header["badge"] {
            guard value.members.count == 1, let increment = value["add"]?.smallInteger else { return false }
            badgeIncrement = increment
        }
        return true
    }

    /// Appends the members, with a comma before each.
    func append(to member: inout [UInt8]) {
        for (index, attachment) in attachments.enumerated() {
            member += (index == 0 ? #","attachments":["# : ",").utf8
            member += attachment.json
        }
        if !attachments.isEmpty { member.append(UInt8(ascii: "]")) }
        if let offload {
            member += #","offload":"#.utf8
            member += offload.json
        }
        if isSelfTest { member += #","test":true"#.utf8 }
        if !retractedIDs.isEmpty {
            member += #","retract":["\#(retractedIDs.joined(separator: #"",""#))"]"#.utf8
        }
        if isQuiet { member += #","quiet":true"#.utf8 }
        if let badgeIncrement { member += #","badge":{"add":\#(badgeIncrement)}"#.utf8 }
    }
}

extension [String] {
    fileprivate var areDistinct: Bool { count < 2 || Set(self).count == count }
}

extension JSONValue {
    /// An integer of up to three digits and a sign; nil for other values, for -0, a fraction or an exponent.
    fileprivate var smallInteger: Int? {
        guard kind == .number, range.count <= 4 else { return nil }
        let text = String(decoding: rawBytes, as: UTF8.self)
        return text == "-0" ? nil : Int(text)
    }
}

/// The secrets whose use a message proves: a psk or shared key, a signing key (PROTOCOL section 11). It is empty in the base
/// profile, where everyone with the recipient's public key can seal.
package struct SenderProof: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Bit 0: the sender has the recipient's psk or shared key.
    package static let secret = SenderProof(rawValue: 1)
    /// Bit 1: the message is signed.
    package static let signature = SenderProof(rawValue: 2)
}

extension EncryptionScheme {
    /// The proof in messages to this key.
    fileprivate func proof(isSigned: Bool) -> SenderProof {
        var proof: SenderProof = isSigned ? .signature : []
        switch self {
        case .hpke(let scheme): if scheme.psk != nil { proof.insert(.secret) }
        case .shared: proof.insert(.secret)
        }
        return proof
    }
}

extension Recipient {
    /// The proof in messages to this recipient.
    package func proof(isSigned: Bool) -> SenderProof { scheme.proof(isSigned: isSigned) }
}

extension RecipientKey {
    /// The proof in messages that this key opens.
    package func proof(isSigned: Bool) -> SenderProof { scheme.proof(isSigned: isSigned) }
}
