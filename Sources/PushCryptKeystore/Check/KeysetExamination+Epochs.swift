import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// Compares the epoch of a keyset with those of its served sets.
extension KeysetExamination {
    /// Apps that pin the keyset's epoch refuse the sets of earlier ones. An update of the app that pins it may not be out yet.
    mutating func examineOwnEpoch(_ sets: [ServedSet], _ folder: ServedFolder, _ metadata: KeysetMetadata) {
        let epochs = sets.compactMap(\.publication?.epoch)
        guard let own = metadata.publication?.epoch, let highest = epochs.max(), highest < own else { return }
        // Of two names with the same epoch, one may be that of the apps that pin another one, unless its copies show that it was exchanged.
        let isDoubtful =
            epochs.count > Set(epochs).count && !findings.contains { $0.code == "served-changed" }
        guard isDoubtful || metadata.timeline.updatedAt.map({ $0 + Self.graceInSeconds < now }) ?? true else { return }
        let paths = sets.filter { $0.publication?.epoch == highest }.map(\.path).sorted().joined(separator: ", ")
        add(
            .warning, "served-epoch",
            "\(folder.path) has no set of epoch \(own), which the keyset has: apps that pin it fetch no set that they accept"
                + (isDoubtful ? ". \(paths) have epoch \(highest)" : ""),
            advice: (isDoubtful
                ? "if one of these has the name that apps with epoch \(own) fetch, first move it and its numbered copies away: "
                : "")
                + PublishedSet.command(
                    snapshot.path, secretArguments, to: ShellArgument.quoted(folder.path),
                    by: context.publisher(of: nil)?.path ?? PublishedSet.anyPublisher)
                + " --as NAME  # with the name that these apps fetch; until an app pins the epoch: status --ignore served-epoch"
        )
    }

    /// `keys publish` doesn't replace a set by one of an earlier epoch.
    mutating func examineEpoch(_ set: ServedSet, _ metadata: KeysetMetadata) {
        guard let epoch = set.publication?.epoch, let own = metadata.publication?.epoch, own < epoch else { return }
        add(
            .error, "served-newer",
            "\(set.path) has epoch \(epoch), and the keyset has epoch \(own): the keyset is an old copy",
            advice: restore + "; if it is restored: "
                + PublishedKeyset.raiseCommand(snapshot.path, toEpoch: epoch, secretArguments))
    }
}
