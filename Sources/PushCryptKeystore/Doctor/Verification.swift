package import PushCryptCore
package import PushCryptKeysets

/// A keyset's files, each held against the others.
package struct Verification: Sendable {
    package struct Check: Hashable, Sendable, Encodable {
        package enum Outcome: String, Hashable, Sendable, Encodable {
            case ok
            /// It was unfinished and is not any more.
            case mended
            /// It can't be told without the secret.
            case unchecked
            /// What to do, says the advice.
            case bad
        }

        package let check: String
        package let outcome: Outcome
        package let message: String
        package let advice: String?

        private enum CodingKeys: CodingKey {
            case check, outcome, message, advice
        }

        /// Advice that isn't there is null, not absent.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(check, forKey: .check)
            try container.encode(outcome, forKey: .outcome)
            try container.encode(message, forKey: .message)
            try container.encode(advice, forKey: .advice)
        }
    }

    package private(set) var checks: [Check] = []
    /// Whether an interrupted change left something that can be finished or discarded.
    package internal(set) var isUnfinished = false
    let snapshot: KeysetSnapshot

    package var findings: [Check] { checks.filter { $0.outcome == .bad } }

    /// - Parameter secret: where it isn't given, what needs it is `unchecked`.
    /// - Throws: `KeystoreError` where the secret is wrong, or is given for plain keys, or a file can't be read at all.
    package init(_ snapshot: KeysetSnapshot, secret: SecretSource, at time: UnixTime) throws {
        self.snapshot = snapshot
        guard let file = try readableFile() else { return }
        checkDigest(file)
        let metadata = file.metadata
        let count = metadata.timeline.keys.count
        add("metadata", .ok, "\(count) \(metadata.kind.rawValue) key\(count == 1 ? "" : "s"), seq \(metadata.sequence)")
        checkLives(metadata, at: time)
        let stored = try checkKeys(file, secret)
        if let log = try readable(snapshot.log, "log") { checkLog(log, metadata.audit) }
        if let published = try readable(snapshot.published, "public") { checkPublic(published, metadata, stored) }
        checkLeftovers()
    }

    mutating func add(
        _ check: String, _ outcome: Check.Outcome, _ message: String, advice: String? = nil
    ) {
        checks.append(Check(check: check, outcome: outcome, message: message, advice: advice))
    }

    /// - Returns: nil where it is no keyset, which is a finding.
    private mutating func readableFile() throws -> KeysetFile? {
        do {
            return try snapshot.keyset.get()
        } catch let error as KeystoreError where [.damaged, .notAKeyset].contains(error.code) {
            add("digest", .bad, error.reason, advice: Self.restore)
        } catch let error as KeystoreError {
            throw error
        } catch {
            add("metadata", .bad, "\(KeysetFolder.keysetName): \(error)", advice: Self.restore)
        }
        return nil
    }

    /// Puts what `KeysetStore.finish` did in front.
    mutating func tell(_ notices: [String]) {
        checks =
            notices.map { Check(check: "unfinished", outcome: .mended, message: $0, advice: nil) } + checks
    }
}
