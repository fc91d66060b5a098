import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptKeystore

/// An operator who does what `status` and the refusals of `keys publish` advise, and has every copy that was saved.
extension ServedLife {
    /// - Returns: what is wrong if following the advice doesn't end with a status without findings; nil if it does.
    func repair() throws -> String? {
        refusal = nil
        for _ in 0..<40 {
            guard let finding = try findings().first else { return try flaw() }
            story.append("advice for \(finding.code), \(finding.message): \(finding.advice)")
            guard try follow(finding.advice) else { return "the advice for \(finding.code) changes nothing" }
        }
        return "the advice doesn't end"
    }

    /// - Returns: whether something was done.
    private func follow(_ advice: String, depth: Int = 0) throws -> Bool {
        var isDone = false
        for command in Self.commands(in: advice) {
            story.append("  $ " + command.joined(separator: " "))
            do {
                switch try run(command) {
                case .nothing: continue
                case .something: isDone = true
                case .allThatIsNeeded: return true
                }
            } catch let error as KeystoreError where error.code == .notPublished && depth < 3 {
                story.append("  refused: \(error)")
                isDone = try follow("\(error)", depth: depth + 1) || isDone
            } catch {
                story.append("  failed: \(error)")
            }
        }
        return isDone
    }

    private enum Effect {
        case nothing, something, allThatIsNeeded
    }

    private func run(_ command: [String]) throws -> Effect {
        func value(_ option: String) -> String? {
            command.firstIndex(of: option).flatMap { command.indices.contains($0 + 1) ? command[$0 + 1] : nil }
        }
        switch command.prefix(3).joined(separator: " ") {
        case "pushcrypt keys restore": return try restoreNewest(command.last!) ? .allThatIsNeeded : .nothing
        case "pushcrypt keys policy":
            let (sequence, epoch) = (value("--publish-seq"), value("--publish-epoch"))
            try change {
                try $0.publish(
                    topics: nil, epoch: epoch.flatMap { Int64($0) }, validForInSeconds: nil,
                    sequence: sequence.flatMap { Int64($0) })
            }
        case "pushcrypt keys revoke":
            let kid = try #require(KeyID(command.last!))
            try change { try $0.revoke(kid) }
        case "pushcrypt keys destroy":
            // The operator knows whether the key was destroyed.
            guard destroyedPublishers.contains(command.last!) else { return .nothing }
            let kid = try #require(KeyID(command.last!))
            try change(publisher) { try $0.destroy(kid, force: true) }
            return .allThatIsNeeded
        case "pushcrypt keys publish":
            try publish(
                isSigned: value("--signed-by") != nil, epoch: value("--epoch").flatMap { Int64($0) },
                as: value("--as") ?? "senders",
                isNewPublisher: command.contains("--new-publisher"))
        case "pushcrypt keys prune":
            try change { editor in
                for case .destroy(let kid) in editor.metadata.plan(at: time, confirmsClock: true).due.map(\.action) {
                    try editor.destroy(kid, force: false)
                }
            }
        case let line where line.hasPrefix("mv "):
            try? files.removeItem(atPath: command[2])
            try files.moveItem(atPath: command[1], toPath: command[2])
        case let line where line.hasPrefix("pushcrypt rotate"): try rotate(confirmsClock: true)
        default: return .nothing
        }
        return .something
    }

    /// - Returns: whether there was a newer copy than the keyset in the folder.
    private func restoreNewest(_ path: String) throws -> Bool {
        let newest = try copies[path, default: []]
            .map { (path: $0, sequence: try KeysetFolder($0).file().metadata.sequence) }
            .max { $0.sequence < $1.sequence }
        guard let newest, try newest.sequence > KeysetFolder(path).file().metadata.sequence else { return false }
        try replace(path, withCopy: newest.path)
        return true
    }

    /// The commands of an advice, in its order.
    private static func commands(in advice: String) -> [[String]] {
        advice.matches(of: /(?:pushcrypt |mv )[^`;,&(#]+/).map { match in
            match.0.split(separator: " ").map { String($0.filter { $0 != "'" }) }
        }
    }
}
