import PushCryptCore
import PushCryptExtension
import PushCryptSender

/// A recipient whose record lost its psk on one side.
struct RecordWithoutPSK {
    let opener: Opener
    private let recipient: Recipient

    init(_ name: String) throws {
        var members = OwnVectors.shared.keys[name] ?? [:]
        members["psk"] = nil
        func keyset() throws -> Keyset {
            let json = "{" + members.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ",") + "}"
            return try Keyset(json: Array(json.utf8))
        }
        opener = try Opener(topic: Channel.topic, keyring: KeysetKeyring(keyset()), senders: .unsigned)
        members["d"] = nil
        recipient = try keyset().recipient(at: Channel.now)
    }

    func seal() throws -> [UInt8] {
        let sealer = try Sealer(topic: Channel.topic, clock: { Channel.now })
        let json = Array(#"{"aps":{"alert":"x"}}"#.utf8)
        return Array(try sealer.seal(json, to: recipient, placeholder: Channel.placeholder).json)
    }
}
