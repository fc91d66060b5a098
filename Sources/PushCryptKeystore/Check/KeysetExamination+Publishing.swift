import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// The advised commands that publish a set.
extension KeysetExamination {
    func advice(_ difference: PublisherKeyset.Difference, _ metadata: KeysetMetadata) -> String {
        let keyset = PublishedKeyset(snapshot.path, secretArguments)
        return difference.advice(keyset.raise(from: difference.sequence, metadata))
    }

    /// The command that publishes a set again, for the apps that fetch it.
    func publish(
        _ set: ServedSet, by publisher: PublisherKeyset? = nil, options: String = "", note: String? = nil,
        movingAway path: String? = nil
    ) -> String {
        let ownName = FileSystem.name(of: snapshot.path)
        let isBesideOwn = set.nameOfCopies != ownName && context.served?.hasSet(named: ownName) == true
        let removal = isBesideOwn ? "or remove the set and its numbered copies, if nothing fetches them" : nil
        return publish(
            isSigned: set.isSigned, as: set.nameOfCopies, like: set, by: publisher, options: options,
            note: note ?? removal, movingAway: path)
    }

    /// The command that publishes: the program of `--exec-on-change`, if one has run. A command that raises `seq` stands before it if the
    /// folder has another set with the same number, or one that other publisher keys have signed.
    ///
    /// - Parameters:
    ///   - set: a set for the same apps, whose epoch and publisher are those of the new set.
    ///   - note: a comment after the command; the program gets none.
    ///   - path: a file that a command moves away, after those that may fail, so that the web server isn't left without a set.
    func publish(
        isSigned: Bool, as name: String?, like set: ServedSet? = nil, by publisher: PublisherKeyset? = nil,
        options: String = "", note: String? = nil, movingAway path: String? = nil
    ) -> String {
        let ownName = FileSystem.name(of: snapshot.path)
        let publisher = publisher ?? (isSigned ? context.publisher(of: set) : nil)
        let isExpired = isSigned && metadata?.signedSet?.condition(at: now) == .expired
        let history = context.served?.history(of: name ?? ownName, isSigned: isSigned)
        var first = ""
        if let metadata, !isExpired, history?.hasOther(than: metadata, publisher?.signers) == true {
            first = PublishedKeyset.raiseCommand(snapshot.path, above: metadata.sequence, secretArguments) + " && "
        }
        // What fetched the file that is moved away refuses a set with a lower number. Apps never accept another keyset's signed set.
        if let metadata, !isSigned, path != nil, let highest = history?.highestSequence, highest > metadata.sequence {
            first = PublishedKeyset.raiseCommand(snapshot.path, above: highest, secretArguments) + " && "
        }
        let move = path.map { PublishedKeyset.moveAway($0) + " && " } ?? ""
        let folder = ShellArgument.quoted(context.served?.path ?? "FOLDER")
        let isRenamed = name != nil && name != ownName
        let publishing =
            isSigned
            ? PublishedSet.command(
                snapshot.path, secretArguments, to: folder, by: publisher?.path ?? PublishedSet.anyPublisher)
            : command("keys publish") + " --to \(folder)" + secretArguments
        // `rotate` runs the program, and issues an expired set again.
        if options.isEmpty, let record = try? snapshot.hook.get() {
            return first + move
                + runProgram(
                    record, note: metadata?.kind == .sender ? nil : "if the program doesn't publish it: " + publishing)
        }
        var notes = [note].compactMap(\.self)
        if isExpired {
            first = command("rotate") + secretArguments + (isClockAhead ? " --confirm-clock" : "") + " && "
            if isClockAhead { notes.insert(Self.confirmation, at: 0) }
        }
        let earlier = set?.publication.flatMap { $0.epoch < metadata?.publication?.epoch ?? 0 ? $0.epoch : nil }
        return first + move + publishing + (earlier.map { " --epoch \($0)" } ?? "")
            + (isRenamed ? " --as " + ShellArgument.quoted(name ?? "") : "") + options
            + (notes.isEmpty ? "" : "  # " + notes.joined(separator: "; "))
    }
}
