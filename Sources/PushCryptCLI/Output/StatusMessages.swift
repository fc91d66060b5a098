import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

/// The sentences of `status`.
extension StatusFinding.Code {
    /// One sentence for the list of codes and for each finding.
    var meaning: String {
        switch self {
        case .missing: "What must be there is missing."
        case .damaged: "The keyset, or what this host has seen of it, is damaged."
        case .unreadable: "It can't be read."
        case .otherUser: "It belongs to another user, who alone can examine it."
        case .openToOthers: "Other users can open what must be private."
        case .cannotWrite: "Commands can't write to it."
        case .twoFiles: "Two files are one keyset, and commands that change refuse both."
        case .oldCopy: "The file is an old copy: this host has seen later lines."
        case .twoHistories: "Two hosts have changed copies of the keyset."
        case .clock: "The clock is wrong, or it was wrong at the last change."
        case .noKeySeals: "No key seals, or in a week none will."
        case .overdue: "A step of the policy is late."
        case .runFailed: "The last run of `rotate` failed."
        case .served: "Apps don't get the last set."
        case .servedAhead: "The served set was made of lines that the keyset lacks."
        case .publisherOlder: "The publisher keyset lacks lines that a published set names: it is an old copy."
        case .otherWriter: "Another host changes the keyset."
        case .notRun: "`rotate` hasn't run for 36 hours."
        case .waiting: "A key has waited for the devices' reports for a week."
        case .unpublished: "No set was made since a change, or since half of the validity of the last one."
        case .outbox: "Devices lack keys in their outbox."
        case .unknownName: "The settings name a keyset that isn't there."
        case .nearLimit: "More than half of what apps or commands accept is used."
        case .lostKeys: "No file has the private half of some keys, which do nothing."
        case .notEncrypted: "The keys aren't encrypted."
        case .publisherAway: "The publisher is on another host, which must sign the sets."
        case .firstSight: "This host sees the keyset for the first time, so an old copy would pass."
        case .unknownFile: "A file in a keystore isn't a keyset."
        }
    }
}

extension KeysetReference {
    /// The path, or the id of a keyset without a file.
    var place: String { location?.path ?? id?.description ?? "" }
}

extension StatusFinding {
    /// The keysets, or the folders and files at fault.
    var place: String {
        switch facts {
        case .missing(let path?), .openToOthers(let path), .unknownFile(let path): path
        case .damaged(let path, _), .unreadable(let path, _): path
        case .otherUser(_, let paths), .cannotWrite(_, let paths): Self.list(paths)
        case .unknownName(let members): Self.list(members)
        case .twoFiles(let locations): Self.list(locations.map(\.path))
        default: Self.list(keysets.map(\.place).sorted())
        }
    }

    private static func list(_ places: [String]) -> String {
        places.prefix(3).joined(separator: ", ") + (places.count > 3 ? " and \(places.count - 3) more" : "")
    }

    var what: String { code.meaning + (detail.map { " (\($0))" } ?? "") }

    private var detail: String? {
        func line(_ point: LogPoint, _ time: UnixTime) -> String { "line \(point.number), of \(time)" }
        func name(_ epoch: Int64?) -> String { epoch.map { "epoch \($0)" } ?? "public keys" }
        switch facts {
        case .missing, .openToOthers, .twoFiles, .notEncrypted, .unknownFile, .unknownName: return nil
        case .damaged(_, let error):
            return error.row == 0 ? error.code.rawValue : "line \(error.row): \(error.code.rawValue)"
        case .unreadable(_, .file(let error)): return error.systemError == 0 ? error.reason : error.systemMessage
        case .unreadable(let path, .log(let error)): return Failure(error, of: path).message
        case .unreadable(_, .secret(let error)): return error.reason
        case .unreadable(_, .other(let type)): return type
        case .otherUser(let owner, _): return "user \(owner)"
        case .cannotWrite(let fault, _): return fault.text
        case .oldCopy(let point, let time), .twoHistories(let point, let time), .firstSight(let point, let time):
            return line(point, time)
        case .clock(_, let last): return "the last change or run is of \(last)"
        case .noKeySeals(let time): return "from \(time)"
        case .overdue(let action, let time): return "\(action.text), since \(time)"
        case .runFailed(let status, let time): return "exit status \(status)" + (time.map { " at \($0)" } ?? "")
        case .served(let epoch, let fault): return "\(name(epoch)): \(fault.text)"
        case .servedAhead(let epoch, let point, let isSigned):
            let signer = isSigned.map { $0 ? "signed by the publisher" : "not signed" } ?? "the publisher isn't here"
            return "\(name(epoch)), line \(point.number): \(signer)"
        case .publisherOlder(let epoch, let point): return "epoch \(epoch), line \(point.number)"
        case .otherWriter(let writer): return writer
        case .notRun(let last): return last.map { "the last run was at \($0)" } ?? "no run is recorded"
        case .waiting(let kid, let time): return (kid.map { "key \($0), " } ?? "") + "since \(time)"
        case .unpublished(let epoch, let time): return "\(name(epoch)), since \(time)"
        case .outbox(let missing, let late, let folder): return "\(folder): \(missing) missing, \(late) old"
        case .nearLimit(.log, let count): return "the file has \(count) bytes of \(KeysetLog.maximumByteCount)"
        case .nearLimit(.set, let count): return "the set has \(count) bytes of \(SignedSenderSet.maximumByteCount)"
        case .nearLimit(.revokedKeys, let count):
            return "\(count) revoked keys of \(SenderSetState.maximumRevokedCount)"
        case .lostKeys(let kids): return Self.list(kids.map(\.description))
        case .publisherAway(let epoch, let id): return "epoch \(epoch), publisher \(id)"
        }
    }

    /// One command, if there is one that helps.
    var advice: String {
        func command(_ verb: String, _ keyset: KeysetReference? = nil, _ rest: String = "") -> String {
            // A keyset without a file is found by what a copy of it says.
            let path = keyset?.location.map { " \(ShellArgument.quoted($0.path))" } ?? ""
            return "`pushcrypt \(verb)\(path)\(rest)`"
        }
        switch remedy {
        case .restore(let keyset) where [.missing, .damaged, .lostKeys].contains(code):
            // A damaged history needs no copy.
            if case .damaged(let path, _) = facts, path != keyset.location?.path { return command("restore", keyset) }
            return "with a copy: " + command("restore", keyset, " FILE")
        case .restore(let keyset):
            guard case .servedAhead(_, _, isSigned: false) = facts else { return command("restore", keyset) }
            return "if it is forged: \(command("publish --replace", keyset)); else: \(command("restore", keyset))"
        case .rotate(let keyset): return command("rotate", keyset)
        case .rotateAll: return "it says why: " + command("rotate")
        case .publish(let keyset): return command("publish", keyset)
        case .takeOver(let keyset):
            return "if this host shall, stop `rotate` there, then: " + command("restore", keyset)
        case .setClock:
            if case .clock(isBehind: true, _) = facts {
                return "set the clock; if it is right: " + command("restore --confirm-clock")
            }
            return "set the clock; if it is right: " + command("rotate --confirm-clock")
        case .enableTimer: return "`systemctl enable --now pushcrypt-rotate.timer`, or run `pushcrypt rotate` from cron"
        case .runAs(let owner): return "`sudo -u '#\(owner)' pushcrypt status`"
        case .makeWritable(let folders):
            if case .cannotWrite(.missing, _) = facts { return "make it: `install -d \(Self.quoted(folders))`" }
            return "let this user write there: `ls -ld \(Self.quoted(folders))`"
        case .freeSpace(let folders): return "make room: `df \(Self.quoted(folders))`"
        case .moveToLocalDisk: return "move the keystore to a local disk: this file system has no locks"
        case .makePrivate(let path): return "`chmod go= \(ShellArgument.quoted(path))`"
        case .removeFile(let path): return "`rm \(ShellArgument.quoted(path))`"
        case .inspect(let path): return "`ls -ld \(ShellArgument.quoted(path))`"
        case .giveSecret: return "check the secret that the settings name for it"
        case .correctSettings: return "correct the name in the settings, or remove it"
        case .encrypt(let keyset): return command("keys secret set", keyset)
        case .update: return "install the later version of pushcrypt"
        case .reportCoverage(let keyset): return command("rotate --reports FILE", keyset)
        case .signElsewhere(let keyset):
            return command("publish --unsigned FILE", keyset) + ", then sign FILE on the publisher's host"
        case .compare(let keyset): return "compare the last line with a copy: " + command("keys log", keyset)
        case .replaceKeyset: return "begin a new keyset: `pushcrypt init`"
        }
    }

    private static func quoted(_ paths: [String]) -> String {
        paths.map { ShellArgument.quoted($0) }.joined(separator: " ")
    }
}

extension FolderFault {
    fileprivate var text: String {
        switch self {
        case .missing: "there is no such folder"
        case .noPermission(let owner): "user \(owner) owns it"
        case .readOnly: "the file system is read-only"
        case .full: "less than 16 MiB are free"
        case .noLocks: "the file system has no locks"
        case .other(let number): FileError(.write, "", systemError: number).systemMessage
        }
    }
}

extension StatusFinding.ServedFault {
    fileprivate var text: String {
        switch self {
        case .missing: "the file is missing"
        case .notASet: "the file isn't the set"
        case .notSigned: "the publisher hasn't signed it"
        case .otherSet(let id, _): "it is the set of \(id)"
        case .lacksRevocations(let kids):
            "it lacks the revocation of \(kids.map(\.description).joined(separator: ", "))"
        case .older(let served, let time): "it was made of line \(served.number), the last one at \(time)"
        case .ends(let time): "it ends at \(time)"
        }
    }
}
