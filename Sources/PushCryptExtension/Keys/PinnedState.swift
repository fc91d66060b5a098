import PushCryptCore

/// What ``SenderPins`` stores, in one file, so that set and revocations are replaced in one step.
///
/// ```
/// {["set": JWK SET,] "revoked": ["<RFC 7638 thumbprint, 43 characters of base64url>", ...]}
/// ```
/// Revocation is final: `revoked` names every key that any accepted set listed as revoked, and only grows. A key in it
/// verifies nothing, whether later sets drop it or list it as good again. There is no `set` after ``forget()``.
struct PinnedState {
    private(set) var set: PinnedSet?
    private(set) var revoked: Set<[UInt8]> = []

    init() {}

    /// - Throws: `DeviceKeyError` with `damaged`.
    init(stored json: [UInt8]) throws(DeviceKeyError) {
        let root = try Self.root(json)
        revoked = try Self.revoked(root)
        set = try root["set"].map { value throws(DeviceKeyError) in try PinnedSet(stored: Array(value.rawBytes)) }
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
    mutating func pin(_ new: PinnedSet) throws(DeviceKeyError) -> Bool {
        if let set, try !new.isNewer(than: set) { return false }
        try new.checkNames(revoked: revoked)
        set = new
        revoked.formUnion(new.revoked)
        return true
    }

    /// Forgets the set and its number. The revocations stay.
    mutating func forget() { set = nil }
}
