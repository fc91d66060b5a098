import PushCryptCore
import PushCryptKeysets

extension KeysetLine {
    /// What the line did, for people.
    var deeds: [String] {
        // A key that another one follows is no deed of its own.
        let starts = changes.keys.filter { !$0.isEnd }
        var deeds = (starts.isEmpty ? changes.keys : starts).map(\.deed)
        if changes.policy != nil { deeds.append("changed the policy") }
        if changes.publication != nil, action != .created { deeds.append("changed what is published") }
        for (epoch, publisher) in changes.epochs.sorted(by: { $0.key < $1.key }) where action != .created {
            deeds.append(publisher == nil ? "ended epoch \(epoch)" : "named the publisher of epoch \(epoch)")
        }
        if let writer = changes.writer, action != .created { deeds.append("\(writer) changes it from now on") }
        if let secrets = changes.secrets, action == .secrets {
            let names = secrets.map(\.description).joined(separator: ", ")
            deeds.append(secrets.isEmpty ? "the keys are in clear from now on" : "secrets from now on: \(names)")
        }
        deeds += changes.keptRevocations
        switch action {
        case .created: return ["made"] + deeds
        case .published: return deeds + ["published" + (changes.epoch.map { " epoch \($0)" } ?? "")]
        case .clockCorrected:
            return changes.keys.map { "key \($0.kid) has other times" } + ["corrected the clock"]
        case .restored: return deeds + ["restored"]
        case .rotated, .imported, .revoked, .destroyed, .policy, .secrets: return deeds
        }
    }
}

extension KeysetChanges {
    /// What a restoration keeps of other logs, for people.
    var keptRevocations: [String] {
        revoked.keys.sorted().map { "key \($0), which only another copy had, stays revoked" }
    }
}

extension KeysetChanges.Key {
    /// Whether the line changes nothing but the end of the key.
    fileprivate var isEnd: Bool {
        jwk == nil && isLost == nil && moments.keys.allSatisfy { [.retiresAt, .expiresAt].contains($0) }
    }

    var deed: String {
        func time(_ moment: KeysetChanges.Moment) -> UnixTime? { moments[moment].flatMap(\.self) }
        if time(.destroyedAt) != nil { return "destroyed key \(kid)" }
        if time(.revokedAt) != nil { return "revoked key \(kid)" }
        if let isLost { return "key \(kid) is \(isLost ? "lost: no file has it" : "found again")" }
        let start = time(.activatesAt)
        if jwk != nil || time(.createdAt) != nil {
            return "added key \(kid)" + (start.map { ", primary from \($0)" } ?? "")
        }
        if let start { return "key \(kid) is primary from \(start)" }
        if let end = time(.retiresAt) { return "key \(kid) is primary until \(end)" }
        return "key \(kid) " + (time(.expiresAt).map { "opens until \($0)" } ?? "has other times")
    }
}

extension KeysetLog {
    /// What the lines after a number did, without publications.
    func deeds(after number: Int64) -> [String] {
        lines.filter { $0.number > number && $0.action != .published }.flatMap(\.deeds)
    }
}
