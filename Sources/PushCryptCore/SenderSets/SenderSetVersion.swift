/// Which signed set of sender keys a device has accepted. A backend that compares the reports of its devices sees whether
/// some of them were served another set, or an old one.
public struct SenderSetVersion: Hashable, Sendable {
    /// The pinned epoch.
    public let epoch: Int64
    /// The number of the set.
    public let sequence: Int64
    /// SHA-256 of the set's payload, 32 bytes.
    public let digest: [UInt8]

    package init(_ state: SenderSetState) {
        epoch = state.epoch
        sequence = state.sequence
        digest = state.digest
    }

    /// - Parameter json: as ``json``. Other members are ignored.
    /// - Returns: nil for another form.
    package init?(reading json: [UInt8]) {
        guard let root = (try? JSONText(json))?.root, let epoch = root["epoch"]?.protocolInteger,
            let sequence = root["seq"]?.protocolInteger,
            let digest = root["digest"]?.utf8.flatMap(Base64URL.decode), digest.count == Self.digestByteCount
        else { return nil }
        self.epoch = epoch
        self.sequence = sequence
        self.digest = digest
    }

    private static let digestByteCount = 32

    /// The members for a registration, UTF-8 JSON: `{"epoch":1,"seq":7,"digest":"..."}`. The digest is base64url.
    public var json: [UInt8] {
        Array(#"{"epoch":\#(epoch),"seq":\#(sequence),"digest":"\#(Base64URL.encode(digest))"}"#.utf8)
    }
}

extension SenderSetVersion: CustomStringConvertible, CustomReflectable {
    /// The epoch and the number, as in `set 7 of epoch 1`.
    public var description: String { "set \(sequence) of epoch \(epoch)" }
    /// Nothing, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
