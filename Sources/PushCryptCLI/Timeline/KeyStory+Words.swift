import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

extension KeyStory {
    /// What a key of this kind is for.
    var kindWords: String {
        switch view.metadata.kind {
        case .recipient: "recipient: pushes are sealed to its public half, the device opens them"
        case .sender: "sender: it signs pushes, devices verify them"
        default: "shared: one secret seals and opens; each device has its own key of it"
        }
    }

    var suiteWords: String { life.traits?.suite.description ?? "-" }

    var pskWords: String {
        guard view.metadata.kind == .recipient else { return "-" }
        return life.traits?.demandsPSK == true
            ? "yes: who knows only the public key can't send" : "no: who knows the public key can send"
    }

    private var isSender: Bool { view.metadata.kind == .sender }

    var sealsWords: String {
        let verb = isSender ? "signs" : "seals"
        let since = life.lifecycle.activatesAt.map { $0 > UnixTime(0) ? " since \($0)" : "" } ?? ""
        return switch life.state {
        case .primary: "yes: it \(verb) every new push\(since)"
        case .pending: "no: it is published and \(verb) nothing yet"
        default: "no: \(ending)"
        }
    }

    var opensWords: String {
        let verb = isSender ? "verifies" : "opens"
        return switch life.state {
        case .pending: "yes: a sender's clock may be ahead"
        case .primary: "yes"
        case .retiring: "yes: it \(verb) what is still on its way"
        default: "no: \(ending)"
        }
    }

    /// Why it does no more what it did.
    private var ending: String {
        let lifecycle = life.lifecycle
        let (words, time) =
            switch life.state {
            case .destroyed: ("its material was erased", lifecycle.destroyedAt)
            case .revoked: ("it was revoked", lifecycle.revokedAt)
            case .expired: ("it expired", lifecycle.expiresAt)
            default: ("it retired", lifecycle.retiresAt)
            }
        return words + (time.map { " at \($0)" } ?? "")
    }

    /// What becomes of the key and why.
    var whatNext: String {
        switch life.state {
        case .pending: pendingWords
        case .primary: primaryWords
        case .retiring: retiringWords
        case .destroyed: "Nothing: its material is erased, and its id stays taken."
        default: erasureWords
        }
    }

    private var pendingWords: String {
        guard let next = life.nextChange else {
            guard let step = planned({ $0.action == .promote(life.kid) }) else {
                return
                    "It waits for `pushcrypt keys promote`, which says when it begins to \(isSender ? "sign" : "seal")."
            }
            let time = step.dueAt > view.now ? ", not before \(at(step.dueAt))" : ""
            return "It waits to be promoted\(time): \(step.blockedBy ?? step.why)."
        }
        guard next.state == .primary else { return "It \(next.state.verb) at \(at(next.at)), before it ever seals." }
        let words = "It \(isSender ? "signs" : "seals") from \(at(next.at)) on"
        guard let policy = view.policy else { return words + "." }
        let lead = DurationText.human(policy.publishLeadInSeconds)
        return "\(words). The policy publishes a key \(lead) ahead, so that everybody has it by then."
    }

    private var primaryWords: String {
        if let next = life.nextChange {
            let heir = view.lives.first { $0.lifecycle.activatesAt == next.at && $0.kid != life.kid }
            let takesOver = heir.map { ": key \($0.kid) takes over" } ?? ""
            return "It \(next.state.verb) at \(at(next.at))\(takesOver)."
        }
        if let heir = view.lives.first(where: \.waitsForPromotion) {
            return "It goes on until key \(heir.kid) is promoted."
        }
        let step = planned { if case .add = $0.action { true } else { false } }
        guard let step else { return "Nothing: its times name no end." }
        let words = step.dueAt > view.now ? "is added at \(at(step.dueAt))" : "is due since \(at(step.dueAt))"
        return "Its successor \(words), by the policy: \(step.blockedBy ?? step.why)."
    }

    private var retiringWords: String {
        guard let next = life.nextChange else { return "Nothing: its times name no end." }
        guard next.state == .expired, let retiresAt = life.lifecycle.retiresAt else {
            return "It \(next.state.verb) at \(at(next.at))."
        }
        let last = isSender ? "signed" : "sealed"
        return
            "It expires at \(at(next.at)): the last push was \(last) with it before \(retiresAt), and none lives longer "
            + "than 30 days."
    }

    private var erasureWords: String {
        guard view.plan != nil, let time = life.lifecycle.expiresAt else { return "Nothing: it opens no more." }
        if let step = planned({ $0.action == .destroy(life.kid) }), let objection = step.blockedBy {
            return "Its material is to be erased, but: \(objection)."
        }
        return time > view.now
            ? "Its material is erased from \(at(time)) on; until then `pushcrypt reseal` can use it."
            : "Its material can be erased since \(at(time)): `pushcrypt rotate \(view.path)` does it."
    }

    private func planned(_ isWanted: (RotationPlan.Step) -> Bool) -> RotationPlan.Step? {
        guard let plan = view.plan else { return nil }
        return (plan.blocked + plan.due + [plan.next].compactMap(\.self)).first(where: isWanted)
    }

    private func at(_ time: UnixTime) -> String { "\(time) (\(TimeDistance.words(time, from: view.now)))" }
}
