/// A key's object in a set's `pushcrypt.keys`. Times are RFC 3339.
///
/// ```
/// {["createdAt"], ["activatesAt"], ["retiresAt"], ["expiresAt"], ["revokedAt"], ["destroyedAt"], ["psk": true]}
/// ```
extension KeyLifecycle {
    /// - Throws: `KeyError` with `malformed`.
    package init(_ member: JSONValue, of kid: KeyID) throws(KeyError) {
        guard member.kind == .object else {
            throw KeyError(.malformed, "key \(kid): its lifecycle in the set's pushcrypt member is not an object")
        }
        self.init(
            createdAt: try member.time("createdAt"), activatesAt: try member.time("activatesAt"),
            retiresAt: try member.time("retiresAt"), expiresAt: try member.time("expiresAt"),
            revokedAt: try member.time("revokedAt"), destroyedAt: try member.time("destroyedAt"))
    }

    /// - Parameter withHistory: whether `createdAt` and `destroyedAt` are written: in private files.
    package func jsonMembers(withHistory: Bool) -> [String] {
        [
            ("createdAt", withHistory ? createdAt : nil), ("activatesAt", activatesAt), ("retiresAt", retiresAt),
            ("expiresAt", expiresAt), ("revokedAt", revokedAt), ("destroyedAt", withHistory ? destroyedAt : nil),
        ].compactMap { name, time in time.map { "\"\(name)\": \"\($0)\"" } }
    }
}

extension JSONValue {
    /// The member as a time; nil where there is none.
    ///
    /// - Throws: `KeyError` with `malformed` for anything but an RFC 3339 string.
    package func time(_ name: String) throws(KeyError) -> UnixTime? {
        guard let value = self[name] else { return nil }
        guard let time = value.string.flatMap(UnixTime.init(rfc3339:)) else {
            throw KeyError(.malformed, "\(name) is not an RFC 3339 time")
        }
        return time
    }

    /// Whether a key's object says `"psk": true`.
    package func demandsPSK(of kid: KeyID) throws(KeyError) -> Bool {
        guard let psk = self["psk"] else { return false }
        guard psk.boolean == true else {
            throw KeyError(.malformed, "key \(kid): psk in the set's pushcrypt member is not true")
        }
        return true
    }
}
