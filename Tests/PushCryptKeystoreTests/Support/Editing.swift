import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives

@testable import PushCryptKeystore

/// A keyset with real keys that is edited in memory, one change after the other, as `KeysetStore` does it on disk.
struct Editing {
    private(set) var stored: StoredKeyset
    /// The lines of its audit log.
    private(set) var lines: [String] = []
    static let actor = Actor(name: "tester", reason: "because")

    /// Makes a keyset with one key, which seals from day 0 on.
    init(_ kind: KeyKind = .shared, type: KeyPairType = .p256, psk: Bool = false, _ policy: RotationPolicy = .standard)
        throws
    {
        let record = try KeyRecord.generate(kind, type: type, psk: psk, backend: DefaultBackend.shared)
        let empty = KeysetMetadata(
            kind: kind, sequence: 0, timeline: KeyTimeline([]), policy: policy, audit: .none, traits: [:])
        stored = StoredKeyset(metadata: empty, records: [:], protection: .plaintext, secret: nil)
        try change(at: .days(0)) { try $0.add(record, activatesAt: .days(0), as: .created) }
    }

    var timeline: KeyTimeline { stored.metadata.timeline }
    var primary: KeyID { timeline.primary(at: timeline.updatedAt!)!.kid }

    /// - Returns: the result of `body`, and the editor after it.
    @discardableResult
    mutating func change<Result>(
        at time: UnixTime, confirmsClock: Bool = false, _ body: (inout KeysetEditor) throws -> Result
    ) throws -> (result: Result, editor: KeysetEditor) {
        var editor = KeysetEditor(stored, at: time, confirmsClock: confirmsClock)
        let result = try body(&editor)
        guard !editor.events.isEmpty else { return (result, editor) }
        stored = try editor.finished(by: Self.actor, at: "Keys/NAME")
        lines += stored.metadata.audit.lastLines
        return (result, editor)
    }

    /// The secret members of all keys, as files contain them.
    func secrets() throws -> [String] {
        try stored.records.values.flatMap { record in
            var text = [UInt8]()
            try record.appendJWK(to: &text)
            let json = try JSONText(text)
            return ["d", "k", "psk"].compactMap { json.root[$0]?.string }
        }
    }
}
