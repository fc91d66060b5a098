import PushCryptCore
import PushCryptExtension

extension OpenedPush {
    /// A note about the parts of the message that stdout doesn't contain; nil if there are none.
    var note: String? {
        let notes = [isSelfTest ? "a self-test of the extension" : nil] + instructionNotes + [fetchNote]
        let texts = notes.compactMap(\.self)
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }

    /// Whether the push stays secret from a quantum computer.
    var postQuantumText: String { suite.postQuantumText(hasPSK: profile & SenderProof.secret.rawValue != 0) }

    private var instructionNotes: [String?] {
        [
            retractedMessageIDs.isEmpty ? nil : "takes back \(retractedMessageIDs.joined(separator: ", "))",
            isQuiet ? "quiet" : nil, badgeIncrement.map { "adds \($0) to the badge" },
        ]
    }

    private var fetchNote: String? {
        let parts = [
            attachments.isEmpty ? nil : NumberText.counted(attachments.count, "attachment"),
            avatar == nil ? nil : "an avatar", offload == nil ? nil : "the whole payload, which was offloaded",
        ].compactMap(\.self)
        return parts.isEmpty ? nil : "not fetched: \(parts.joined(separator: " and "))"
    }

    /// The members of the message that affect more than its own notification, as raw JSON members.
    ///
    /// ```
    /// ["retract": ["<message id>", ...]], ["quiet": true], ["badgeAdd": N]
    /// ```
    var instructions: [String] {
        let ids = retractedMessageIDs.map { "\"\($0)\"" }.joined(separator: ",")
        return [
            ids.isEmpty ? nil : "\"retract\":[\(ids)]", isQuiet ? "\"quiet\":true" : nil,
            badgeIncrement.map { "\"badgeAdd\":\($0)" },
        ].compactMap(\.self)
    }
}
