import PushCryptCore

/// What ``SenderPins`` stores, in one file, so that set and revocations are replaced in one step.
///
/// ```
/// {["set": JWK SET,] "revoked": ["<RFC 7638 thumbprint, 43 characters of base64url>", ...]}
/// ```
/// Revocation is final: `revoked` names every key that any accepted set listed as revoked, and only grows. A key in it
/// verifies nothing, whether later sets drop it or list it as good again. There is no `set` after ``forget()``.
struct PinnedSenders {
    private(set) var set: PinnedSenderSet?
    private(set) var revoked: Set<[UInt8]> = []

    init() {}

    /// - Throws: `DeviceKeyError` with `damaged`.
    init(stored json: [UInt8]) throws(DeviceKeyError) {
        let root = try Self.root(json)
        revoked = try Self.revoked(root)
        set = try root["set"].map { value throws(DeviceKeyError) in try PinnedSenderSet(stored: Array(value.rawBytes)) }
    }

    /// What is left of a file whose set is damaged: its revocations, if they can be read.
    init(salvaging json: [UInt8]) {
        revoked = (try? Self.revoked(Self.root(json))) ?? []
    }

    private static func root(_ json: [UInt8]) throws(DeviceKeyError) -> JSONValue {
        guard let root = (try? JSONText(json))?.root, root.kind == .object else {
            throw DeviceKeyError(.damaged, "the pinned sender keys are not a JSON object")
        }
        return root
    }

    private static func revoked(_ root: JSONValue) throws(DeviceKeyError) -> Set<[UInt8]> {
        guard let list = root["revoked"], list.kind == .array else {
            throw DeviceKeyError(.damaged, "the pinned sender keys don't say which keys are revoked")
        }
        var revoked = Set<[UInt8]>()
        for element in list.elements {
            guard let thumbprint = element.utf8.flatMap(Base64URL.decode), thumbprint.count == 32 else {
                throw DeviceKeyError(.damaged, "a revoked sender key isn't named by its thumbprint")
            }
            revoked.insert(thumbprint)
        }
        return revoked
    }

    /// UTF-8.
    var json: [UInt8] {
        var json = Array("{".utf8)
        if let set {
            json += #""set": "#.utf8
            json += set.text
            json += ", ".utf8
        }
        let names = revoked.map { "\"\(Base64URL.encode($0))\"" }.sorted()
        json += "\"revoked\": [\(names.joined(separator: ", "))]}\n".utf8
        return json
    }

    /// What the extension verifies with; nil where no set is pinned.
    var senders: TrustedSenders? {
        get throws(DeviceKeyError) { try set?.senders(revoked: revoked) }
    }

    /// - Returns: whether the set is another one than the pinned one.
    /// - Throws: `DeviceKeyError` with `rolledBack` or `conflict`.
    mutating func pin(_ new: PinnedSenderSet) throws(DeviceKeyError) -> Bool {
        if let set, try !new.isNewer(than: set) { return false }
        try new.checkNames(revoked: revoked)
        set = new
        revoked.formUnion(new.revoked)
        return true
    }

    /// Forgets the set and its number. The revocations stay.
    mutating func forget() { set = nil }
}

/// A published set of sender keys in one form: its keys in the order of their ids, written as this library writes them, so
/// that equal sets have equal bytes.
struct PinnedSenderSet {
    let keyset: Keyset
    /// RFC 7638 thumbprints, 32 bytes, of the keys that it lists as revoked, whatever time it gives.
    let revoked: Set<[UInt8]>
    let text: [UInt8]

    /// - Throws: `DeviceKeyError` with `unsuitable`.
    init(published json: [UInt8]) throws(DeviceKeyError) {
        do {
            try self.init(json)
        } catch {
            throw DeviceKeyError(.unsuitable, "not a published set of sender keys: \(error)")
        }
    }

    /// - Throws: `DeviceKeyError` with `damaged`.
    init(stored json: [UInt8]) throws(DeviceKeyError) {
        do {
            try self.init(json)
        } catch {
            throw DeviceKeyError(.damaged, "the pinned sender keys can't be read: \(error)")
        }
    }

    private init(_ json: [UInt8]) throws {
        let read = try Keyset(json: json)
        guard !read.entries.contains(where: \.record.isPrivateAsymmetric) else {
            throw KeyError(.wrongKind, "it holds private keys")
        }
        let sorted = read.entries.sorted { $0.record.kid < $1.record.kid }
        keyset = try Keyset(sorted, sequence: read.sequence)
        // Refuses every other kind of keys.
        _ = try TrustedSenders(keyset)
        revoked = Set(try sorted.filter { $0.lifecycle.revokedAt != nil }.map { try $0.record.thumbprint() })
        text = try keyset.jwkSet(withHistory: false)
    }

    /// - Parameter revoked: thumbprints of keys that verify nothing.
    /// - Throws: `DeviceKeyError` with `damaged`.
    func senders(revoked: Set<[UInt8]>) throws(DeviceKeyError) -> TrustedSenders {
        do {
            return try TrustedSenders(keyset, revoked: revoked)
        } catch {
            throw DeviceKeyError(.damaged, "the pinned sender keys can't be used: \(error)")
        }
    }

    /// A key id is 64 bits of a thumbprint: a key can be made on purpose whose id is that of a revoked one.
    ///
    /// - Throws: `DeviceKeyError` with `conflict`.
    func checkNames(revoked: Set<[UInt8]>) throws(DeviceKeyError) {
        guard !revoked.isEmpty else { return }
        for entry in keyset.entries {
            guard let own = try? entry.record.thumbprint() else { continue }
            let hasNameOfAnother = revoked.contains {
                $0 != own && $0.prefix(KeyID.byteCount) == own.prefix(KeyID.byteCount)
            }
            guard !hasNameOfAnother else {
                throw DeviceKeyError(.conflict, "a revoked sender key is called \(entry.record.kid), too")
            }
        }
    }

    /// - Returns: false for the same set.
    /// - Throws: `DeviceKeyError` with `rolledBack` or `conflict`.
    func isNewer(than pinned: PinnedSenderSet) throws(DeviceKeyError) -> Bool {
        let (own, theirs) = (keyset.sequence, pinned.keyset.sequence)
        guard own >= theirs else {
            throw DeviceKeyError(
                .rolledBack, "the set of sender keys is number \(own), older than the pinned \(theirs)")
        }
        if own == theirs {
            guard text == pinned.text else {
                throw DeviceKeyError(.conflict, "another set of sender keys is pinned under number \(own)")
            }
            return false
        }
        for entry in keyset.entries {
            guard let known = pinned.keyset.entry(entry.record.kid) else { continue }
            guard let new = try? entry.record.thumbprint(), new == (try? known.record.thumbprint()) else {
                throw DeviceKeyError(.conflict, "another sender key is called \(entry.record.kid)")
            }
        }
        return true
    }
}
