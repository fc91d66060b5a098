package import PushCryptPrimitives

/// What an app pins in its bundle: who signs the sets of sender keys, and which set is the app's. Only an app update
/// changes it.
///
/// ```
/// {"publishers": [JWK, ... 1 to 4, public], "set": BASE64URL of 16 bytes, "epoch": n}
/// ```
/// There are no other members. `pushcrypt keys export` writes the text.
public struct SenderSetPins: Sendable {
    /// The publishers' public keys, 1 to 4. The next one can be there in advance.
    package let publishers: [KeyRecord]
    /// The id of the set, 16 bytes.
    package let set: [UInt8]
    /// The epoch, 0 to 2^53 - 1. An app update with a higher epoch makes devices forget the state of the previous epoch, so
    /// that no set of a stolen publisher key outlives the update.
    public let epoch: Int64

    package static let maximumPublisherCount = 4

    /// Reads the pins, UTF-8 JSON.
    ///
    /// - Throws: `KeyError` with `malformed`, `tooLarge` for more than 4 publishers, `wrongKind` for a private key or a key
    ///   that isn't a publisher's, `duplicateKey`, and the codes of a key that can't be read.
    public init(json: some Collection<UInt8>) throws {
        try self.init(json: Array(json), backend: DefaultBackend.shared)
    }

    package init(json: [UInt8], backend: any CryptoBackend) throws {
        let root: JSONValue
        do { root = try JSONText(json).root } catch {
            throw KeyError(.malformed, "the pins of the sender set are not a JSON text: \(error)")
        }
        guard root.hasExactly("publishers", "set", "epoch") else {
            throw KeyError(
                .malformed, "the pins of the sender set must have the members publishers, set and epoch only")
        }
        guard let list = root["publishers"], list.kind == .array else {
            throw KeyError(.malformed, "the pins' publishers are not an array")
        }
        guard let set = root["set"]?.utf8.flatMap(Base64URL.decode), let epoch = root["epoch"]?.protocolInteger else {
            throw KeyError(
                .malformed, "the pins' set is not base64url, or their epoch is not an integer of 0 to 2^53 - 1")
        }
        try Self.requireCount(list.elements.count)
        try self.init(
            publishers: list.elements.map { try KeyRecord($0, backend: backend) }, set: set, epoch: epoch)
    }

    /// - Parameters:
    ///   - publishers: 1 to 4 public keys of publishers.
    ///   - set: 16 bytes.
    ///   - epoch: 0 to 2^53 - 1.
    /// - Throws: `KeyError` with `malformed`, `tooLarge`, `wrongKind`, `duplicateKey`.
    package init(publishers: [KeyRecord], set: [UInt8], epoch: Int64) throws {
        try Self.requireCount(publishers.count)
        try Keyset(publishers.map { Keyset.Entry($0, KeyLifecycle()) }).requireKind(.publisher)
        for publisher in publishers where publisher.isPrivateAsymmetric {
            throw KeyError(
                .wrongKind, "key \(publisher.kid) is a publisher's private key: an app pins only its public half")
        }
        guard set.count == SenderSetPublication.setByteCount, UnixTime.protocolRange.contains(epoch) else {
            throw KeyError(
                .malformed,
                "the pins' set is not \(SenderSetPublication.setByteCount) bytes, or their epoch is too large")
        }
        self.publishers = publishers
        self.set = set
        self.epoch = epoch
    }

    private static func requireCount(_ count: Int) throws(KeyError) {
        guard count > 0 else { throw KeyError(.malformed, "the pins name no publisher") }
        guard count <= maximumPublisherCount else {
            throw KeyError(.tooLarge, "the pins name \(count) publishers; at most \(maximumPublisherCount) are allowed")
        }
    }

    /// The text that ``init(json:)`` reads, with a line feed at its end.
    package var json: [UInt8] {
        get throws {
            var output = Array("{\"publishers\": [\n  ".utf8)
            for (index, publisher) in publishers.enumerated() {
                if index > 0 { output += ",\n  ".utf8 }
                try publisher.appendJWK(to: &output)
            }
            output += "\n ], \"set\": \"\(Base64URL.encode(set))\", \"epoch\": \(epoch)}\n".utf8
            return output
        }
    }
}

extension JSONValue {
    /// Whether this is an object with these members and no others.
    func hasExactly(_ names: String...) -> Bool {
        members.count == names.count && names.allSatisfy { self[$0] != nil }
    }
}
