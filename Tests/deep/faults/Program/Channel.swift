import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptSender

/// A sender and a recipient with the keys of Conformance/vectors.
struct Channel {
    private let sealer: Sealer
    private let recipient: Recipient
    private let opener: Opener

    init(_ name: String, isSigned: Bool) throws {
        let entry = try Vectors.entry(name)
        let sender = try Vectors.entry("sender")
        let time = Vectors.time
        sealer = try Sealer(topic: Vectors.topic, signer: isSigned ? .key(SenderKey(sender)) : nil, clock: { time })
        recipient = try Recipient(Keyset.Entry(entry.record.publicRecord(keepingPSK: true), Vectors.lifecycle))
        let pinned = try TrustedSenders(
            Keyset([.init(sender.record.publicRecord(keepingPSK: false), Vectors.lifecycle)]))
        opener = try Opener(
            topic: Vectors.topic, keyring: OneKey(key: RecipientKey(entry)),
            senders: isSigned ? .pinned(pinned) : .unsigned)
    }

    func seal() throws -> [UInt8] {
        try Array(sealer.seal(Vectors.inner, to: recipient, placeholder: .standard).json)
    }

    /// Changes the last whole character of `sealed`, which is in the tag.
    func sealWithChangedTag() throws -> [UInt8] {
        var push = try seal()
        let member = Array("\"sealed\":\"".utf8)
        let start = push.indices.first { push[$0...].starts(with: member) }! + member.count
        let end = push[start...].firstIndex(of: UInt8(ascii: "\""))! - 2
        push[end] = push[end] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        return push
    }

    func opens(_ push: [UInt8]) throws -> Bool {
        try opener.open(push, at: Vectors.time).get().payload == Vectors.inner
    }

    func refuses(_ push: [UInt8]) throws -> Bool {
        switch opener.open(push, at: Vectors.time) {
        case .success: return false
        case .failure(.undecryptable): return true
        case .failure(let other): throw other
        }
    }
}

private struct OneKey: RecipientKeyring {
    let key: RecipientKey

    func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey {
        guard id == key.kid else { throw .unknownKey }
        return key
    }
}
