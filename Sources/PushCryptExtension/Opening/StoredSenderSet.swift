import PushCryptCore

/// The stored state of ``SenderPins``. It is one file, so that it is replaced in one step.
///
/// ```
/// {"epoch": n, "seq": n, "digest": BASE64URL of 32 bytes, "revoked": [BASE64URL of 32 bytes, ...], "document": BASE64URL}
/// ```
/// `revoked` contains the RFC 7638 thumbprint of every key that a set of the epoch revoked. `document` is the last accepted
/// set, byte by byte, so that its signature can be verified at each reading.
struct StoredSenderSet {
    let state: SenderSetState
    let document: [UInt8]

    init(state: SenderSetState, document: [UInt8]) {
        self.state = state
        self.document = document
    }

    /// - Throws: `DeviceKeyError` with `damaged`.
    init(_ json: [UInt8]) throws(DeviceKeyError) {
        guard let root = (try? JSONText(json))?.root, let epoch = root["epoch"]?.protocolInteger,
            let sequence = root["seq"]?.protocolInteger, let digest = RevokedKeys.digest(root["digest"]),
            let revoked = RevokedKeys.read(root["revoked"]),
            let document = root["document"]?.utf8.flatMap(Base64URL.decode)
        else {
            throw DeviceKeyError(
                .damaged, "the stored set of sender keys is not a JSON object with its members: discard it")
        }
        state = SenderSetState(epoch: epoch, sequence: sequence, digest: digest, revoked: revoked)
        self.document = document
    }

    /// Whether the state is that of this set, regardless of the pins.
    func isOf(_ set: SignedSenderSet) -> Bool {
        let publication = set.publication
        return state.epoch == publication.epoch && state.sequence == publication.sequence && state.digest == set.digest
    }

    /// UTF-8. The thumbprints are sorted, so that equal states have equal bytes.
    var json: [UInt8] {
        let text =
            "{\"epoch\": \(state.epoch), \"seq\": \(state.sequence), \"digest\": \"\(Base64URL.encode(state.digest))\", "
            + "\"revoked\": \(RevokedKeys.json(state.revoked)), \"document\": \"\(Base64URL.encode(document))\"}\n"
        return Array(text.utf8)
    }
}

/// The thumbprints of revoked keys: `[BASE64URL of 32 bytes, ...]`.
private enum RevokedKeys {
    /// - Returns: nil if the value is no such list.
    static func read(_ list: JSONValue?) -> Set<[UInt8]>? {
        guard let list, list.kind == .array else { return nil }
        let thumbprints = list.elements.compactMap(digest)
        return thumbprints.count == list.elements.count ? Set(thumbprints) : nil
    }

    /// The thumbprints are sorted, so that equal sets have equal bytes.
    static func json(_ thumbprints: Set<[UInt8]>) -> String {
        "[" + thumbprints.map { "\"\(Base64URL.encode($0))\"" }.sorted().joined(separator: ", ") + "]"
    }

    /// The 32 bytes of a SHA-256; nil for anything else.
    static func digest(_ value: JSONValue?) -> [UInt8]? {
        value?.utf8.flatMap(Base64URL.decode).flatMap { $0.count == 32 ? $0 : nil }
    }
}
