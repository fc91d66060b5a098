import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

struct Revoke: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke a key that leaked: from now on nobody accepts it.",
        discussion: """
            Says what will be lost, and asks. If the key is the primary one, another one becomes primary in the same step. \
            Publishes, runs the program `after` of the settings, and prints what is left to do. Works under any clock. A second run \
            publishes again.

            A key that didn't leak is replaced by `pushcrypt rotate --now --at-once KEYSET`.

            Exit status: as publish; 10 with --dry-run.

            Example: pushcrypt revoke senders qi99zniTdWc
            """)

    @Argument(help: .init("The keyset.", "KEYSET")) var path: String
    @Argument(help: .init("The key's id; its first 4 or more characters if the command asks.", "KID"))
    var key: KeyIDPrefix
    @Flag(name: .customLong("dry-run"), help: "Print what would be lost and change nothing.") var isDryRun = false
    @Flag(help: "Print JSON, as docs/cli.md describes it.") var json = false
    @OptionGroup var agreement: AgreementOptions
    @OptionGroup var keystores: KeystoreOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        let keysets = try HostKeysets(keystores, at: times.time, secrets)
        let location = keysets.location(path)
        var outcome = KeysetOutcome(location)
        do {
            let host = try keysets.host(of: location)
            let state = try host.lock(location.path).state
            let kid = try key.kid(
                among: state.keys.map(\.kid), of: location.path, mustBeWhole: agreement.isAgreed && !isDryRun)
            guard let old = state.key(kid) else { throw KeystoreRefusal.unknownKey(kid) }
            guard old.lifecycle.destroyedAt == nil else {
                throw Failure(.dataError, "\(location): key \(kid) is erased already; nothing is left to revoke")
            }
            let isDone = old.lifecycle.revokedAt != nil
            if isDryRun || !isDone {
                let losses = try losses(of: kid, state, max(times.time, state.at))
                guard !isDryRun else {
                    outcome.due = isDone ? [] : ["would revoke key \(kid)"] + losses
                    try outcome.print(asJSON: json)
                    return try HostKeysets.exit([outcome.status])
                }
                try agreement.confirm("revoking key \(kid) of \(location):", losses)
            }
            if isDone {
                StandardStreams.writeNote("\(location): key \(kid) is revoked already")
            } else {
                let log = try host.revoke(location.path, kid).log
                outcome.changes = log.deeds(after: state.head.number)
            }
            outcome.id = state.id
            keysets.publish(&outcome, isUrgent: true)
            outcome.requireSigned()
            keysets.publishDevices(&outcome)
            defer { for step in steps(state.kind, location, keysets) { StandardStreams.writeNote(step) } }
            try keysets.finish([outcome], asJSON: json)
        } catch let error as ExitCode { throw error } catch { throw Failure(error, of: location.path) }
    }

    private func losses(of kid: KeyID, _ state: KeysetState, _ time: UnixTime) throws -> [String] {
        guard state.kind != .publisher else {
            return [
                "no new pins have it; it signs on for apps that pin it, until `pushcrypt keys destroy`",
                "a thief can sign sets for these apps until they are updated",
            ]
        }
        guard state.key(kid)?.isLost == false else { return ["no push is lost: no file has the key"] }
        var timeline = state.timeline
        let old = timeline.state(of: kid, at: time)
        var losses = try timeline.revoke(kid, at: time, state.policy)
        if losses.isEmpty { losses = ["no push is lost"] }
        if old == .primary {
            let pending = timeline.keys(in: .pending, at: time).max { $0.rank < $1.rank }
            losses.append((pending.map { "key \($0.kid)" } ?? "a new key") + " becomes the primary one")
        }
        return losses + [
            "if it didn't leak, `pushcrypt rotate --now --at-once \(ShellArgument.quoted(path))` replaces it and revokes nothing"
        ]
    }

    /// What is left to do, at most three lines.
    private func steps(_ kind: KeyKind, _ location: KeysetLocation, _ keysets: HostKeysets) -> [String] {
        let keyset = ShellArgument.quoted(location.path)
        let isPublished = keysets.servedFolder != nil
        let publishing = isPublished ? "" : " Publish them: `pushcrypt publish \(keyset) --to FOLDER`."
        switch kind {
        case .sender:
            return [
                "left to do: apps refuse the key when they have fetched the new set.\(publishing)",
                "backends sign with the new key when they have read the keyset again; pushes in queues must be signed again",
            ]
        case .recipient:
            return [
                "left to do: let the app register again with the new key, and seal pushes in queues again.\(publishing)"
            ]
        case .shared:
            return [
                keysets.devices(of: location) != nil
                    ? "left to do: bring the files of the outbox to the devices"
                    : "left to do: give every device its new keys: name devices.\(location.name) in the settings, then `pushcrypt rotate`",
                "pushes that wait in queues must be sealed again",
            ]
        default:
            return [
                "left to do: `pushcrypt rotate --now \(keyset)` if no other key is there, then an app update with new pins"
            ]
        }
    }
}
