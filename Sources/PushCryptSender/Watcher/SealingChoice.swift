import PushCryptCore

/// The key of a keyset that seals or signs, and the times at which it does: choosing costs a look at every key, and
/// another one seals as time goes by without any change of the file.
final class SealingChoice: Sendable {
    enum Key: Sendable {
        case recipient(Recipient)
        case sender(SenderKey)
    }

    let keyset: Keyset
    let entry: Keyset.Entry
    let key: Key
    private let span: Range<UnixTime>

    /// - Throws: `KeyError` with `noKeySeals`, `wrongKind` for keys that can't seal or sign, `pskMissing`.
    init(_ keyset: Keyset, at time: UnixTime) throws {
        self.keyset = keyset
        entry = try keyset.sealingEntry(at: time)
        key = keyset.kind == .sender ? .sender(try SenderKey(entry)) : .recipient(try Recipient(entry))
        span = keyset.timeline.span(around: time)
    }

    func holds(at time: UnixTime) -> Bool { span.contains(time) }
}
