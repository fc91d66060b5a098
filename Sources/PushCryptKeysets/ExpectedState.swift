/// What the caller knows of a keyset from another place. It detects a copy of a whole folder that was restored with its log.
package struct ExpectedState: Hashable, Sendable {
    /// The lowest `seq` that is accepted; nil for any.
    package let sequence: Int64?
    /// The head of the audit log; nil for any.
    package let head: [UInt8]?

    package init(sequence: Int64?, head: [UInt8]?) {
        self.sequence = sequence
        self.head = head
    }

    package static let anything = ExpectedState(sequence: nil, head: nil)

    package var isEmpty: Bool { sequence == nil && head == nil }

    /// - Throws: `KeystoreError` with `unexpectedState`.
    func check(_ metadata: KeysetMetadata, of path: String) throws(KeystoreError) {
        if let sequence, metadata.sequence < sequence {
            throw refusal("\(path) has seq \(metadata.sequence), and seq \(sequence) or higher is expected")
        }
        if let head, metadata.audit.hash != head {
            throw refusal(
                "\(path) has the head \(AuditChain.text(metadata.audit.hash)) of its audit log, and \(AuditChain.text(head)) is "
                    + "expected")
        }
    }

    /// - Throws: `KeystoreError` with `unexpectedState`: a JWK and a JWK set have neither.
    func refuse(_ source: String) throws(KeystoreError) {
        guard !isEmpty else { return }
        throw refusal("\(source) has no audit log, and a keyset with the expected seq or head is required")
    }

    private func refusal(_ fault: String) -> KeystoreError {
        KeystoreError(
            .unexpectedState,
            "\(fault): an earlier copy was restored, or the keyset was changed and the change not recorded. Compare with "
                + "pushcrypt keys log, and restore the newest backup if the copy is older")
    }
}
