import PushCryptCore
import PushCryptKeysets

/// The checks, one after the other.
extension Verification {
    /// - Returns: nil for a link or the like in place of a file, which is a finding.
    mutating func readable<Content>(_ content: Result<Content, any Error>, _ check: String) throws -> Content? {
        do {
            return try content.get()
        } catch let error as KeystoreError where error.code == .notAKeyset {
            add(check, .bad, error.reason, advice: "look who put it there, and put the file back")
            return nil
        }
    }

    mutating func checkDigest(_ file: KeysetFile) {
        guard file.root[KeysetFile.digestName] == nil else {
            return add("digest", .ok, "\(KeysetFolder.keysetName) is what was written")
        }
        add(
            "digest", .unchecked,
            "\(KeysetFolder.keysetName) has no digest: it was made or edited by hand; the next change adds one")
    }

    mutating func checkLives(_ metadata: KeysetMetadata, at time: UnixTime) {
        do throws(LifecycleError) {
            try Invariants.check(standing: metadata.timeline, at: time)
            let kid = metadata.timeline.primary(at: time).map { "key \($0.kid)" } ?? "a key"
            add("lives", .ok, "\(kid) seals, and one will at every later moment")
        } catch {
            add("lives", .bad, error.reason, advice: Self.restore)
        }
    }

    /// - Returns: the keyset with its keys; nil without the secret.
    mutating func checkKeys(_ file: KeysetFile, _ secret: SecretSource) throws -> StoredKeyset? {
        guard file.protection == .plaintext || secret.isGiven else {
            add(
                "keys", .unchecked, "the private keys are encrypted (\(file.protection.name))",
                advice: Self.sayTheSecret)
            return nil
        }
        do {
            let stored = try file.unlocked(secret)
            add("keys", .ok, "every private key is there and fits its public key and its id")
            return stored
        } catch let error as KeystoreError where error.code != .damaged {
            throw error
        } catch {
            add("keys", .bad, "\(error)", advice: Self.restore)
            return nil
        }
    }

    mutating func checkLog(_ log: AuditLog, _ head: AuditHead) {
        switch log.condition(head) {
        case .whole where log.lines.isEmpty:
            add("log", .ok, "there is no audit log yet; the first change begins it")
        case .whole:
            let lines = "\(log.lines.count) line\(log.lines.count == 1 ? "" : "s")"
            add("log", .ok, "\(lines) of the audit log, each following from the one before, to the keyset's own head")
        case .interrupted(let missing):
            isUnfinished = true
            let lines = "\(missing.count) line\(missing.count == 1 ? "" : "s")"
            add("log", .bad, "an interrupted change kept \(lines) from the audit log", advice: Self.verify(snapshot))
        case .broken(let flaw):
            add("log", .bad, flaw, advice: Self.beginAnew(snapshot))
        }
    }

    mutating func checkPublic(_ published: [UInt8]?, _ metadata: KeysetMetadata, _ stored: StoredKeyset?) {
        let name = KeysetFolder.publicName
        guard !snapshot.isDemo else { return add("public", .ok, "the demo keys are published as they are") }
        let condition = PublicCondition(published, metadata, stored?.records)
        isUnfinished = isUnfinished || condition.isUnfinished
        switch condition {
        case .unneeded: add("public", .ok, "shared keys have nothing public")
        case .whole: add("public", .ok, "\(name) is what the keyset gives")
        case .plausible:
            add(
                "public", .unchecked, "\(name) fits the keyset, as far as that shows without the private keys",
                advice: Self.sayTheSecret)
        default:
            let (message, advice) = condition.words(snapshot)
            let needsSecret = condition.isUnfinished && stored == nil
            add("public", .bad, message, advice: needsSecret ? Self.sayTheSecret : advice)
        }
    }

    mutating func checkLeftovers() {
        let names = snapshot.leftovers
        guard !names.isEmpty else { return add("leftovers", .ok, "no interrupted change left anything") }
        isUnfinished = true
        add(
            "leftovers", .bad, "an interrupted change left \(names.joined(separator: ", "))",
            advice: Self.verify(snapshot))
    }
}
