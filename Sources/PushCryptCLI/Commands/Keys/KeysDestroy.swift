import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

struct KeysDestroy: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "destroy", abstract: "Erase a key's material for good; its id can't be used again.",
        discussion: """
            Says what will be lost, and asks. The primary key is refused, and the only key of a publisher. `pushcrypt rotate` \
            erases keys that no push needs any more; this is for a key that must go earlier. Publishes, and runs the program \
            `after` of the settings.

            Exit status: as publish; 10 with --dry-run.

            Example: pushcrypt keys destroy Keys/backend qi99zniTdWc
            """)

    @Argument(help: .init("The keyset.", "KEYSET")) var path: String
    @Argument(help: .init("The key's id; its first 4 or more characters if the command asks.", "KID"))
    var key: KeyIDPrefix
    @Flag(name: .customLong("dry-run"), help: "Print what would be lost and change nothing.") var isDryRun = false
    @OptionGroup var agreement: AgreementOptions
    @OptionGroup var options: HostOptions

    func run() throws {
        let keysets = try options.keysets()
        let location = keysets.location(path)
        try keysets.change(location) { host, state in
            let kid = try key.kid(
                among: state.keys.map(\.kid), of: location.path, mustBeWhole: agreement.isAgreed && !isDryRun)
            var draft = try KeysetDraft(state, at: host.time(for: host.lock(location.path)))
            var losses = try draft.destroying(kid)
            guard !isDryRun else {
                var outcome = KeysetOutcome(location)
                outcome.due = ["would destroy key \(kid)"] + losses
                try outcome.print(asJSON: false)
                throw ExitCode(outcome.status)
            }
            if losses.isEmpty { losses = ["no push that is still on its way needs the key"] }
            try agreement.confirm("destroying key \(kid) of \(location) for good:", losses)
            return try host.destroy(location.path, kid)
        }
    }
}
