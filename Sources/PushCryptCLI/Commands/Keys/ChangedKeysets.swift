import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

extension HostKeysets {
    /// Makes a keyset of one key and prints the key's id.
    ///
    /// - Parameter policy: nil for the standard one.
    func create(
        _ location: KeysetLocation, _ record: KeyRecord, _ policy: RotationPolicy? = nil, allowsPlaintext: Bool
    ) throws {
        // Also `Keys/` with a variable that isn't set.
        guard !location.fileName.hasPrefix(".") else {
            throw Failure(.usage, "\(location): a keyset needs a name without a dot at its beginning")
        }
        do {
            let host = try host(of: location)
            guard try host.storage.keyset(location.path) == nil else {
                throw KeystoreRefusal.exists(path: location.path)
            }
            let id = try KeysetID.random()
            let secrets = try newSecrets(of: location, id, allowsPlaintext: allowsPlaintext)
            try FileSystem.makeFolders(location.keystore)
            var changes = KeysetChanges()
            changes.policy = policy
            // Its history may only be known now that the folder is there.
            _ = try self.host(of: location).create(location.path, record, changes, id: id, secrets: secrets)
        } catch { throw Failure(error, of: location.path) }
        if let settings, !has(location) {
            StandardStreams.writeNote(
                "\(location): its folder isn't a keystore of \(settings.path), so `pushcrypt rotate` doesn't find it")
        }
        try StandardStreams.write("\(record.kid)\n")
    }

    private func newSecrets(
        of location: KeysetLocation, _ id: KeysetID, allowsPlaintext: Bool
    ) throws -> KeysetSecrets? {
        let named = try namedSecret(of: location, id)
        guard !allowsPlaintext else {
            guard named == nil else {
                let source = secrets.isGiven ? secrets.name : "a secret in the settings"
                throw Failure(.usage, "\(source) would be unused with --insecure-plaintext")
            }
            return nil
        }
        let secret = try named?.asNew() ?? NewSecretArguments.typed(NewSecretArguments.advice)
        return try KeysetSecrets(ofLog: [(.standard(for: secret), secret)])
    }

    /// Changes a keyset, publishes it, prints what was done, and runs `after`.
    ///
    /// - Parameter kid: of a new key.
    func change(
        _ location: KeysetLocation, kid: KeyID? = nil, asJSON: Bool = false,
        _ body: (KeystoreHost<FileStorage>, KeysetState) throws -> OpenedKeyset
    ) throws {
        var outcome = KeysetOutcome(location)
        do {
            let host = try host(of: location)
            let state = try state(of: location)
            outcome.id = state.id
            outcome.changes = try body(host, state).log.deeds(after: state.head.number)
            publish(&outcome)
            publishDevices(&outcome)
        } catch let error as ExitCode { throw error } catch { throw Failure(error, of: location.path) }
        outcome.kid = kid
        try finish([outcome], asJSON: asJSON)
    }

    /// What the file says, without the secret.
    func state(of location: KeysetLocation) throws -> KeysetState {
        guard let found = try host(of: location).storage.keyset(location.path) else {
            throw KeystoreRefusal.missing(path: location.path)
        }
        return found.log.state
    }
}
