package import PushCryptCore
package import PushCryptKeysets

/// Compares a keyset's files with each other.
package struct Verification: Sendable {
    package struct Check: Hashable, Sendable, Encodable {
        package enum Outcome: String, Hashable, Sendable, Encodable {
            case ok
            /// An interrupted change was finished or discarded. The JSON value is part of the output format.
            case repaired = "mended"
            /// The check needs the secret, or a digest that the file lacks.
            case unchecked
            case bad
        }

        package let check: String
        package let outcome: Outcome
        package let message: String
        package let advice: String?

        private enum CodingKeys: CodingKey {
            case check, outcome, message, advice
        }

        /// Encodes missing advice as null.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(check, forKey: .check)
            try container.encode(outcome, forKey: .outcome)
            try container.encode(message, forKey: .message)
            try container.encode(advice, forKey: .advice)
        }
    }

    package fileprivate(set) var checks: [Check] = []
    /// Whether there is an interrupted change that can be finished or discarded.
    package internal(set) var isUnfinished = false
    let snapshot: KeysetSnapshot
    /// The options that name the secret of an encrypted keyset, for commands that findings advise: each begins with a space.
    private let secretArguments: String

    private var restore: String { Self.restore(snapshot.path, secretArguments) }
    private var verify: String { Self.verify(snapshot, secretArguments) }

    package var findings: [Check] { checks.filter { $0.outcome == .bad } }

    /// - Parameter secret: without a given secret, checks that need it are `unchecked`.
    /// - Throws: `KeystoreError` if the secret is wrong or is given for plain keys, or a file can't be read.
    package init(_ snapshot: KeysetSnapshot, secret: SecretSource, at time: UnixTime) throws {
        self.snapshot = snapshot
        secretArguments = (try? snapshot.keyset.get().protection) == .plaintext ? "" : secret.arguments
        guard let file = try readableFile() else { return }
        checkDigest(file)
        let metadata = file.metadata
        let count = metadata.timeline.keys.count
        add("metadata", .ok, "\(count) \(metadata.kind.rawValue) key\(count == 1 ? "" : "s"), seq \(metadata.sequence)")
        let condition = snapshot.logCondition
        let isEarlierCopy = condition?.isEarlierCopy ?? false
        checkLifecycles(metadata, isEarlierCopy: isEarlierCopy, at: time)
        let stored = try checkKeys(file, secret)
        if let log = try readable(snapshot.log, "log"), let condition {
            checkLog(log, condition, metadata, at: time)
        }
        if let published = try readable(snapshot.published, "public") {
            let restoreOlder = isEarlierCopy ? Self.restoreOlder(snapshot, secretArguments) : nil
            checkPublic(published, metadata, stored, restore: restoreOlder)
        }
        checkLeftovers()
    }

    mutating func add(_ check: String, _ outcome: Check.Outcome, _ message: String, advice: String? = nil) {
        checks.append(Check(check: check, outcome: outcome, message: message, advice: advice))
    }

    /// - Returns: nil for an invalid keyset, which is a finding.
    private mutating func readableFile() throws -> KeysetFile? {
        do {
            return try snapshot.keyset.get()
        } catch let error as KeystoreError where [.damaged, .notAKeyset].contains(error.code) {
            let message = error.code == .damaged ? Self.digestMismatch : error.reason
            add("digest", .bad, message, advice: restore)
        } catch let error as KeystoreError {
            throw error
        } catch {
            let advice =
                switch (error as? KeyError)?.code {
                case .unsupportedVersion?: Self.keepLaterFile
                case .unsupportedSuite?: Self.updateLibrary
                default: restore
                }
            add("metadata", .bad, "\(KeysetFolder.keysetName): \(error)", advice: advice)
        }
        return nil
    }

    /// - Returns: nil for a link or folder in place of a file, which is a finding.
    mutating func readable<Content>(_ content: Result<Content, any Error>, _ check: String) throws -> Content? {
        do {
            return try content.get()
        } catch let error as KeystoreError where error.code == .notAKeyset {
            add(check, .bad, error.reason, advice: "find out who put it there, and restore the file")
            return nil
        }
    }

    mutating func checkDigest(_ file: KeysetFile) {
        guard file.root[KeysetFile.digestName] == nil else {
            return add("digest", .ok, "\(KeysetFolder.keysetName) matches its digest")
        }
        add(
            "digest", .unchecked,
            "\(KeysetFolder.keysetName) has no digest: it was made or edited by hand; the next change adds one")
    }

    mutating func checkLifecycles(_ metadata: KeysetMetadata, isEarlierCopy: Bool, at time: UnixTime) {
        guard !isEarlierCopy else {
            return add("lives", .unchecked, "the keyset is an earlier copy: no command uses its keys")
        }
        do throws(LifecycleError) {
            try Invariants.check(standing: metadata.timeline, at: time)
            let kid = metadata.timeline.primary(at: time).map { "key \($0.kid)" } ?? "a key"
            add("lives", .ok, "\(kid) seals now, and a key seals at every later time")
        } catch {
            add("lives", .bad, error.reason, advice: restore)
        }
    }

    mutating func checkKeys(_ file: KeysetFile, _ secret: SecretSource) throws -> StoredKeyset? {
        if let error = file.metadata.unsupportedSuite {
            add("keys", .unchecked, error.reason, advice: Self.updateLibrary)
            return nil
        }
        guard file.protection == .plaintext || secret.isGiven else {
            add(
                "keys", .unchecked, "the private keys are encrypted (\(file.protection.name))",
                advice: Self.giveTheSecret)
            return nil
        }
        do {
            let stored = try file.unlocked(secret, evenIfOlder: true)
            add("keys", .ok, "every private key is present and matches its public key and its id")
            return stored
        } catch let error as KeystoreError where error.code != .damaged {
            throw error
        } catch {
            add("keys", .bad, (error as? KeystoreError)?.fault ?? "\(error)", advice: restore)
            return nil
        }
    }

    mutating func checkLog(
        _ log: AuditLog, _ condition: AuditLog.Condition, _ metadata: KeysetMetadata, at time: UnixTime
    ) {
        switch condition {
        case .whole where log.lines.isEmpty:
            add("log", .ok, "there is no audit log yet; the first change starts it")
        case .whole:
            let lines = "\(log.lines.count) line\(log.lines.count == 1 ? "" : "s")"
            add("log", .ok, "the chain of hashes in the audit log is whole and matches the keyset: \(lines)")
        case .interrupted(let missing):
            isUnfinished = true
            add("log", .bad, Self.missingLines(missing.count), advice: verify)
        case .newer(let later):
            let advice = Self.restoreOlder(snapshot, secretArguments)
            add("log", .bad, "\(later)", advice: advice)
            for (kid, entry) in later.givenUp(in: metadata) {
                add("log", .bad, Self.givenUp(kid, entry, metadata, at: time), advice: advice)
            }
        case .broken(let flaw):
            add("log", .bad, flaw, advice: Self.restartLog(snapshot, secretArguments))
        }
    }

    mutating func checkPublic(
        _ published: [UInt8]?, _ metadata: KeysetMetadata, _ stored: StoredKeyset?, restore: String?
    ) {
        let name = KeysetFolder.publicName
        guard !snapshot.isDemo else { return add("public", .ok, "the demo keys are published with pushcrypt") }
        guard metadata.unsupportedSuite == nil else {
            return add("public", .unchecked, "\(name) has a key that this host can't use", advice: Self.updateLibrary)
        }
        let condition = PublicCondition(published, metadata, stored?.records)
        isUnfinished = isUnfinished || condition.isUnfinished
        switch condition {
        case .unneeded: add("public", .ok, "shared keys have no public half")
        case .whole: add("public", .ok, "\(name) matches the keyset")
        case .plausible:
            add(
                "public", .unchecked, "\(name) matches the metadata; the private keys were not compared",
                advice: Self.giveTheSecret)
        default:
            let (message, advice) = condition.description(snapshot, secretArguments, restore: restore)
            let needsSecret = condition.isUnfinished && stored == nil
            add("public", .bad, message, advice: needsSecret ? Self.giveTheSecret : advice)
        }
    }

    mutating func checkLeftovers() {
        let names = snapshot.leftovers
        guard !names.isEmpty else { return add("leftovers", .ok, "no interrupted change left a file") }
        isUnfinished = true
        add(
            "leftovers", .bad, "an interrupted change left \(names.joined(separator: ", "))",
            advice: verify)
    }
}

extension KeysetStore {
    /// Compares the keyset's files with each other. Finishes or discards an interrupted change if the folder is writable.
    ///
    /// - Parameter secret: a given secret or none. This function asks no person.
    /// - Throws: `KeystoreError` if there is no keyset, the system refuses access, the secret is wrong, or a secret is
    ///   given for plain keys.
    package func verify(_ secret: SecretSource, at time: UnixTime) throws -> Verification {
        func check() throws -> Verification {
            try Verification(KeysetSnapshot(folder.path, requiringPrivacy: true), secret: secret, at: time)
        }
        let found = try check()
        guard found.isUnfinished else { return found }
        let notices: [String]
        do {
            notices = try finish(secret)
        } catch let error as KeystoreError where [.noPermission, .damaged].contains(error.code) {
            // The folder is read-only, or the keyset can't be authenticated; the findings report this.
            return found
        } catch let error as KeyError where error.code == .unsupportedSuite {
            return found
        }
        var left = try check()
        let repairs = notices.map {
            Verification.Check(check: "unfinished", outcome: .repaired, message: $0, advice: nil)
        }
        left.checks = repairs + left.checks
        return left
    }
}
