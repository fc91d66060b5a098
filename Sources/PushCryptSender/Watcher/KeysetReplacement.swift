import PushCryptCore
package import PushCryptKeysets

/// Why a process that uses a keyset doesn't replace it by the one that is in its place now.
package struct KeysetReplacementRefusal: Error, CustomStringConvertible {
    package let description: String

    fileprivate init(_ description: String) { self.description = description }
}

extension UnlockedKeyset {
    /// Checks that a process that uses this keyset may replace it by `new`: a keyset never goes back, and a log goes on from the
    /// one in use.
    ///
    /// - Parameter path: the place of both, for errors.
    /// - Returns: false if both have the same content.
    package func isReplaced(by new: UnlockedKeyset, at path: String) throws(KeysetReplacementRefusal) -> Bool {
        guard let log else { return try keyset.isReplaced(by: new.keyset, at: path) }
        func refusal(_ fault: String) -> KeysetReplacementRefusal {
            KeysetReplacementRefusal("\(path) \(fault). To load it, restart this process.")
        }
        let (id, line) = (log.state.id, log.state.head.number)
        guard let next = new.log, next.state.id == id, next.state.kind == log.state.kind, next.extends(log) else {
            throw refusal("doesn't go on from line \(line) of the keyset \(id), which is in use")
        }
        guard next.state.head == log.state.head else { return true }
        guard new.keyset.hasSameContent(as: keyset) else { throw refusal("has other keys with the same log") }
        return false
    }
}

extension Keyset {
    fileprivate func isReplaced(by new: Keyset, at path: String) throws(KeysetReplacementRefusal) -> Bool {
        let advice = "To load an older keyset, restart this process."
        guard new.kind == kind else {
            throw KeysetReplacementRefusal(
                "\(path) contains \(new.kind.rawValue) keys now and contained \(kind.rawValue) keys before")
        }
        guard !new.hasSameContent(as: self) else { return false }
        guard new.sequence >= sequence else {
            throw KeysetReplacementRefusal("\(path) went back from seq \(sequence) to seq \(new.sequence). \(advice)")
        }
        guard new.sequence > sequence || new.sequence == Self.unnumbered else {
            throw KeysetReplacementRefusal(
                "\(path) has other content with the same seq \(new.sequence), which every change by pushcrypt increases. "
                    + "To load it, restart this process.")
        }
        if let before = updatedAt, let after = new.updatedAt, after < before {
            throw KeysetReplacementRefusal(
                "\(path) went back from updatedAt \(before) to updatedAt \(after). \(advice)")
        }
        return true
    }

    /// The `seq` of a JWK, or of a set without the `pushcrypt` member. Such files have no order. A keystore counts from 1.
    private static var unnumbered: Int64 { 0 }
}
