package import PushCryptCore
package import PushCryptKeysets

extension KeysetStore {
    /// Holds the keyset's files against each other. What an interrupted change left is finished or discarded, where the
    /// keystore can be written.
    ///
    /// - Parameter secret: given, or none: nobody is asked.
    /// - Throws: `KeystoreError` where nothing can be said: no keyset, no permission, a wrong secret, or a secret and plain
    ///   keys.
    package func verify(_ secret: SecretSource, at time: UnixTime) throws -> Verification {
        let found = try Verification(snapshot(), secret: secret, at: time)
        guard found.isUnfinished else { return found }
        let notices: [String]
        do {
            notices = try finish(secret)
        } catch let error as KeystoreError where [.noPermission, .damaged].contains(error.code) {
            // It can't be written, or the secret shows that somebody else wrote it: what was found says so.
            return found
        }
        var left = try Verification(snapshot(), secret: secret, at: time)
        left.tell(notices)
        return left
    }

    private func snapshot() throws -> KeysetSnapshot {
        try KeysetSnapshot(folder.path, requiringPrivacy: true)
    }
}
