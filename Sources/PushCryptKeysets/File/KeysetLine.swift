package import PushCryptCore
import PushCryptPrimitives

/// A line of a keyset's log.
///
/// ```
/// {"n": N, "at": TIME, "who": TEXT, "what": ACTION, "prev": B64(32) [, "why": TEXT, "r": B64(16)]
///  [, "id": B64(16), "kind": KIND] [, CHANGES]}
/// ```
package struct KeysetLine: Hashable, Sendable {
    package enum Action: String, CaseIterable, Sendable {
        case created, rotated, imported, revoked, destroyed, policy, secrets, published, restored, clockCorrected
    }

    /// Why a person made the change, with 16 random bytes: without them, a short reason could be guessed from the line's hash.
    package struct Reason: Hashable, Sendable {
        package let text: String
        package let salt: [UInt8]

        package static let saltByteCount = 16

        package init(_ text: String, salt: [UInt8]) {
            self.text = text
            self.salt = salt
        }
    }

    /// What only line 1 has.
    package struct Origin: Hashable, Sendable {
        package let id: KeysetID
        package let kind: KeyKind

        package init(_ id: KeysetID, _ kind: KeyKind) {
            self.id = id
            self.kind = kind
        }
    }

    package let number: Int64
    package let at: UnixTime
    package let who: String
    package let action: Action
    /// The hash of the line before.
    package let previous: [UInt8]
    package let why: Reason?
    package let origin: Origin?
    package let changes: KeysetChanges

    package static let maximumNumber: Int64 = 1 << 52
    package static let hashByteCount = 32
    /// Of `who` and `why`, in bytes.
    package static let textByteCounts = 1...256

    package init(
        number: Int64, at: UnixTime, who: String, _ action: Action, previous: [UInt8], why: Reason?, origin: Origin?,
        _ changes: KeysetChanges
    ) {
        self.number = number
        self.at = at
        self.who = who
        self.action = action
        self.previous = previous
        self.why = why
        self.origin = origin
        self.changes = changes
    }

    /// The line without its line feed.
    package var json: [UInt8] {
        var output = Array("{\"n\":\(number),\"at\":\"\(at)\",\"who\":".utf8)
        JSONWriter.appendString(who, to: &output)
        output += ",\"what\":\"\(action.rawValue)\",\"prev\":\"\(Base64URL.encode(previous))\"".utf8
        if let why {
            output += ",\"why\":".utf8
            JSONWriter.appendString(why.text, to: &output)
            output += ",\"r\":\"\(Base64URL.encode(why.salt))\"".utf8
        }
        if let origin { output += ",\"id\":\"\(origin.id)\",\"kind\":\"\(origin.kind.rawValue)\"".utf8 }
        changes.append(to: &output)
        output.append(UInt8(ascii: "}"))
        return output
    }
}

/// Reading a line: the form of each member. Rules about other lines are those of ``KeysetState``.
extension KeysetLine {
    /// - Parameters:
    ///   - bytes: the row without its line feed.
    ///   - row: counted from 1, for errors.
    /// - Throws: `KeysetLogError` with `malformed`, `misplaced`, `kidMismatch`; `KeyError` with `backendFailure`.
    package init(_ bytes: [UInt8], row: Int) throws {
        let reader = try RowReader(bytes, row: row)
        try reader.allowOnly(Self.members)
        if row > 1, let name = ["id", "kind"].first(where: reader.has) { throw reader.error(.misplaced, name) }
        number = try reader.number("n", in: 1...Self.maximumNumber)
        at = try reader.time("at")
        who = try reader.text("who")
        action = try reader.choice("what", of: Action.allCases)
        previous = try reader.bytes("prev", count: Self.hashByteCount)
        if reader.has("why") || reader.has("r") {
            why = Reason(try reader.text("why"), salt: try reader.bytes("r", count: Reason.saltByteCount))
        } else {
            why = nil
        }
        origin =
            row > 1 ? nil : Origin(try reader.keysetID("id"), try reader.choice("kind", of: KeyKind.allCases))
        changes = try KeysetChanges(reader)
        guard (action == .created) == (row == 1) else { throw reader.error(.misplaced, "what") }
        try requirePlaces(reader)
    }

    private static let members: Set = [
        "n", "at", "who", "what", "prev", "why", "r", "id", "kind", "keys", "policy", "publication", "epochs", "writer",
        "secrets", "over", "revoked", "issuedAt", "validUntil", "epoch", "publisher",
    ]

    private func requirePlaces(_ reader: RowReader) throws(KeysetLogError) {
        let isPublished = action == .published
        let rules = [
            ("over", changes.over.isEmpty || action == .restored),
            ("revoked", changes.revoked.isEmpty || action == .restored),
            ("issuedAt", changes.issuedAt == nil || isPublished || action == .restored),
            ("epoch", changes.epoch == nil || isPublished), ("validUntil", changes.validUntil == nil || isPublished),
            ("publisher", changes.publisher == nil || isPublished),
        ]
        if let rule = rules.first(where: { !$0.1 }) { throw reader.error(.misplaced, rule.0) }
        guard isPublished else { return }
        let isSigned = changes.epoch != nil || changes.validUntil != nil || changes.publisher != nil
        guard changes.issuedAt != nil, !isSigned || changes.epoch != nil && changes.validUntil != nil else {
            throw reader.error(.malformed, "issuedAt")
        }
        guard let issuedAt = changes.issuedAt, let validUntil = changes.validUntil else { return }
        let longest = SenderSetPublication.maximumValidityInSeconds
        guard issuedAt < validUntil, validUntil.seconds - issuedAt.seconds <= longest else {
            throw reader.error(.malformed, "validUntil")
        }
    }
}
