import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

/// The sentences and exit statuses of the keystore's errors: what, where, and one command that helps.
extension Failure {
    /// - Parameter path: of the keyset that a command works with.
    init(_ error: any Error, of path: String) {
        switch error {
        case let refusal as KeystoreRefusal: self.init(refusal, path)
        case let error as KeysetFileError: self.init(error.cause, error.path)
        case let error as KeysetLogError: self.init(error, path)
        case let error as SettingsError: self.init(error)
        case let conflict as SetupConflict: self.init(conflict)
        case let error as FileError where error.code == .symbolicLink:
            let target = FileSystem.resolvedPath(error.path).map { ": change its target, \($0)" } ?? ""
            self.init(.config, error.reason + target)
        case let error as FileError: self.init(Self.status(error) ?? Failure(KeystoreError(error)).status, error.reason)
        case is LifecycleError, is KeyError: self.init(at: path, error)
        case let error as KeystoreError where error.code == .wrapCommandFailed: self.init(at: path, error)
        default: self.init(error)
        }
    }

    private init(at path: String, _ error: any Error) {
        let failure = Failure(error)
        self.init(failure.status, "\(path): \(failure.message)")
    }

    /// nil for the statuses of all commands.
    private static func status(_ error: FileError) -> ExitStatus? {
        if error.code == .busy { return .temporary }
        return error.code == .noLocks || error.systemError == EROFS ? .config : nil
    }

    private static func command(_ verb: String, _ path: String, _ rest: String = "") -> String {
        "`pushcrypt \(verb) \(ShellArgument.quoted(path))\(rest)`"
    }

    private init(_ refusal: KeystoreRefusal, _ path: String) {
        let restore = Self.command("restore", path)
        switch refusal {
        case .missing(let path) where FileSystem.exists(String(path.dropLast(KeysetLocation.suffix.count))):
            let given = path.dropLast(KeysetLocation.suffix.count)
            self.init(.noInput, "\(given) isn't a keyset: the name of its file ends with \(KeysetLocation.suffix)")
        case .missing(let path):
            let command = Self.command("restore", path, " FILE")
            self.init(.noInput, "\(path): there is no such keyset. If it was lost: \(command), where FILE is a copy")
        case .exists(let path): self.init(.cannotCreate, "\(path): there is a keyset; choose another name")
        case .demoKeys(let path):
            self.init(
                .usage,
                "\(path) has the published demo keys, which never change. For keys of your own: `pushcrypt init`")
        case .olderThanHistory(_, let seen):
            self.init(
                .config,
                "\(path) is an old copy: this host has seen its line \(seen.number). To go on from there: \(restore)")
        case .twoHistories(_, let seen):
            self.init(
                .config,
                "\(path): two hosts have changed copies: this host has seen another line \(seen.number). To go on with the longest one: \(restore)"
            )
        case .notEncrypted:
            let command = Self.command("restore", path, " FILE")
            self.init(
                .config,
                "\(path) isn't encrypted, and this host has seen it encrypted: somebody may have replaced it. With a copy: \(command)"
            )
        case .twoFiles(_, let paths):
            self.init(
                .config, "\(paths.joined(separator: " and ")) are one keyset. To keep one file: `pushcrypt restore`")
        case .otherWriter(let writer):
            self.init(
                .config,
                "\(path): \(writer) changes this keyset. If this host shall, stop `pushcrypt rotate` there, then here: \(restore)"
            )
        case .clockBehind(let lastLine):
            self.init(
                .config,
                "\(path): the clock is before the last change, of \(lastLine). Set the clock; if the clock is right: "
                    + Self.command("restore --confirm-clock", path))
        case .clockAhead(let last):
            self.init(
                .config,
                "\(path): the clock is long after the last change or run, of \(last). Set the clock; if it is right, add --confirm-clock"
            )
        case .noPublication:
            self.init(
                .config,
                "\(path) has no topics or no epoch, so no app accepts its set. To name an app: "
                    + Self.command("keys policy", path, " --topic TOPIC --valid-for 60d"))
        case .otherPublisher(let epoch):
            self.init(
                .config,
                "\(path): the publisher of epoch \(epoch) isn't at hand. On its host: `pushcrypt publish --sign FILE --to FOLDER`, "
                    + "with FILE of " + Self.command("publish --unsigned FILE", path))
        case .olderPublisher(let published):
            self.init(
                .config,
                "\(path): its publisher keyset is an old copy, without line \(published.number). To go on: `pushcrypt restore PUBLISHER`"
            )
        case .publisherKey(let kid):
            self.init(
                .config,
                "\(path): key \(kid) is a publisher's, too, and apps refuse such a set. To replace it: "
                    + Self.command("revoke", path, " \(ShellArgument.last(kid))"))
        case .servedAhead(let point, isSigned: true):
            self.init(
                .config,
                "\(path): the served set was made of line \(point.number), which this file lacks: it is an old copy. To go on: \(restore)"
            )
        case .servedAhead(let point, isSigned: false):
            self.init(
                .config,
                "\(path): the served set has line \(point.number), which this file lacks, and no publisher here has signed it. To keep "
                    + "what it revokes: \(restore). If it is forged: " + Self.command("publish --replace", path))
        case .notReviewed: self.init(.usage, "not confirmed; nothing was signed")
        case .setTooLarge:
            self.init(
                .config,
                "\(path): its set has more than 256 KiB or 4,096 revoked keys, which apps refuse. Begin a new keyset: `pushcrypt init`"
            )
        case .choiceNeeded(let what):
            self.init(
                .config,
                "\(path): \(Self.text(what)) would be given up, and a person must agree: on a terminal, or with --over. Nothing was changed"
            )
        case .noDeviceIDs(let list, let lines):
            let shown = lines.prefix(5).map(String.init).joined(separator: ", ") + (lines.count > 5 ? ", ..." : "")
            self.init(
                .dataError,
                "\(list): no device ids in \(lines.count == 1 ? "line" : "lines") \(shown). The other devices have their files"
            )
        case .unknownKey(let kid):
            self.init(.noInput, "\(path) has no key \(kid). To see its keys: " + Self.command("keys list", path))
        case .publicationLimits:
            self.init(.usage, "\(path): a set is signed for 1 to 16 different topics, and for 14d to 90d")
        case .epochTaken(let epoch):
            self.init(
                .usage,
                "\(path): another publisher signs epoch \(epoch), and apps that pin it trust that one. Use the next number: "
                    + Self.command("keys policy", path, " --epoch \(epoch + 1) --publisher KEYSET"))
        case .epochNeeded(let epochs):
            let command = Self.command("keys policy", path, " --epoch 1 --publisher KEYSET")
            self.init(
                epochs.isEmpty ? .config : .usage,
                epochs.isEmpty
                    ? "\(path) has no epoch. To name a publisher: \(command)"
                    : "\(path): name one of its epochs: \(epochs.map(String.init).joined(separator: ", "))")
        case .publisherCount:
            self.init(
                .usage,
                "\(path): a publisher keyset has 1 to 4 keys: import one before you destroy the last, or destroy one first"
            )
        case .unknownSecret(let name, let names):
            let all = names.isEmpty ? "its keys are in clear" : "it has \(Self.list(names))"
            self.init(.noInput, "\(path) has no secret named \(name); \(all)")
        case .lastSecret:
            self.init(
                .usage,
                "\(path) has no other secret. To write the keys in clear: "
                    + Self.command("keys secret set", path, " --insecure-plaintext"))
        case .secretsNeeded(let names):
            self.init(
                .usage,
                "\(path) gets a key that the removed secret doesn't open, and each remaining one wraps it. Missing: \(Self.list(names)). "
                    + "Use --remaining-passphrase-file FILE or --remaining-wrap-command COMMAND")
        }
    }

    private static func list(_ names: [SecretName]) -> String {
        names.map(\.description).joined(separator: ", ")
    }

    private static func text(_ what: KeystoreRefusal.GivenUp) -> String {
        switch what {
        case .log(let point): "another history up to line \(point.number)"
        case .servedSet(nil, _, _): "the served set"
        case .servedSet(let epoch?, _, _): "the served set of epoch \(epoch)"
        case .unsignedSet(_, let point, _): "line \(point.number), which a served set without a valid signature names,"
        case .namedPoint(let point): "line \(point.number), which another keyset names,"
        }
    }

    private init(_ error: KeysetLogError, _ path: String) {
        guard KeysetID(FileSystem.name(of: path).utf8) == nil else {
            self.init(
                .dataError,
                "\(path), line \(error.row): what this host has seen is damaged (\(error.code.rawValue)). To go on without it: "
                    + "`pushcrypt restore`")
            return
        }
        let place = error.row == 0 ? path : "\(path), line \(error.row)"
        let member = error.member.map { " (\($0))" } ?? ""
        let restore = Self.command("restore", path, " FILE")
        switch error.code {
        case .tooLarge: self.init(.dataError, "\(path) has more than 4 MiB. Begin a new keyset: `pushcrypt init`")
        case .unsupportedVersion:
            self.init(.dataError, "\(path) was written by a later version of pushcrypt: install that one")
        case .incomplete:
            self.init(.dataError, "\(path) isn't a whole keyset. To go on with a copy of it: \(restore)")
        case .malformed, .wrongNumber, .brokenChain, .timeWentBack, .misplaced, .wrongKind, .kidMismatch, .unknownEpoch,
            .wrongDigest, .otherKeys, .otherSecrets:
            self.init(
                .dataError, "\(place)\(member): damaged (\(error.code.rawValue)). To go on with a copy: \(restore)")
        case .notAuthentic:
            self.init(
                .dataError,
                "\(place)\(member): somebody without the secret changed it. To go on with a copy: \(restore)")
        case .notEncrypted:
            self.init(
                .dataError,
                "\(path) isn't encrypted, though a secret is given: somebody may have replaced it. To go on with a copy: \(restore)"
            )
        case .secretNeeded:
            self.init(
                .usage,
                "\(path) is encrypted: name its secret in the settings, set PUSHCRYPT_PASSPHRASE, or use --passphrase-file FILE"
            )
        case .wrongSecret: self.init(.noPermission, "\(path): the passphrase is wrong; nothing was changed")
        }
    }

    private init(_ error: SettingsError) {
        let place = error.member.map { "\(error.path), \($0)" } ?? error.path
        let quoted = ShellArgument.quoted(error.path)
        switch error.code {
        case .missing: self.init(.noInput, "\(place): there is no such file or folder")
        case .foreignOwner:
            self.init(
                .noPermission,
                "\(place) belongs to another user. Work as that user, as in `sudo -u pushcrypt pushcrypt status`, or: "
                    + "`sudo chown root \(quoted)`")
        case .writableByOthers:
            self.init(.noPermission, "\(place): other users can change it. To correct it: `chmod go-w \(quoted)`")
        case .stickyFolder:
            self.init(.noPermission, "\(place): every user can make files there; use a folder that only you can change")
        case .notAFile: self.init(.dataError, "\(place) isn't a file")
        case .notAFolder: self.init(.dataError, "\(place) isn't a folder")
        case .tooManyLinks: self.init(.dataError, "\(place): too many links lead to it")
        case .malformed: self.init(.dataError, "\(place) isn't JSON: \(error.json.map { "\($0)" } ?? "malformed")")
        case .unknownMember: self.init(.dataError, "\(place): settings have no such member; a comment begins with #")
        case .missingMember: self.init(.dataError, "\(place): one member is needed here, and only one")
        case .wrongType: self.init(.dataError, "\(place): a value of another type is needed")
        case .empty: self.init(.dataError, "\(place) is empty: leave the member out")
        case .controlCharacter: self.init(.dataError, "\(place) has a control character")
        case .invalidName: self.init(.dataError, "\(place): a name is needed, such as senders: no path and no suffix")
        case .duplicate: self.init(.dataError, "\(place) stands there twice")
        case .conflicting:
            self.init(
                .dataError,
                "\(place): keystores, history, served folder and outboxes must lie apart from each other; see docs/rotation.md"
            )
        case .noCredentials:
            self.init(
                .config,
                "\(place): CREDENTIALS_DIRECTORY isn't set: run the command as a systemd service with LoadCredential=")
        }
    }

    private init(_ conflict: SetupConflict) {
        let path = conflict.path
        switch conflict.code {
        case .sameName: self.init(.usage, "two keysets have one name: give each another one")
        case .publisherAmongOthers:
            self.init(.usage, "the publisher needs a keystore of its own: use --publisher-keystore FOLDER")
        case .publisherInClear: self.init(.usage, "a publisher in clear beside encrypted keysets isn't possible")
        case .noPublication: self.init(.usage, "the app isn't named: use --topic com.example.app")
        case .noPinnedSet: self.init(.usage, "--pins needs exactly one sender keyset")
        case .notAFolder: self.init(.cannotCreate, "\(path) isn't a folder; nothing was changed")
        case .otherKind: self.init(.cannotCreate, "\(path) is a keyset of another kind; nothing was changed")
        case .otherPublication:
            self.init(.cannotCreate, "\(path) is signed for other topics or another time; nothing was changed")
        case .otherWriter:
            let restore = Self.command("restore", path)
            self.init(.cannotCreate, "\(path): another host changes it. If this one shall: \(restore), then this again")
        case .otherPublisher: self.init(.cannotCreate, "\(path): another publisher signs it; nothing was changed")
        case .otherPins:
            self.init(.cannotCreate, "\(path) has the pins of another set; use --pins FILE. Nothing was changed")
        case .otherSettings:
            self.init(.cannotCreate, "\(path) names other folders or secrets; use --settings FILE. Nothing was changed")
        }
    }
}

extension RotationPlan.Action {
    var text: String {
        switch self {
        case .add: "add a key"
        case .promote(let kid): "promote key \(kid)"
        case .destroy(let kid): "destroy key \(kid)"
        }
    }
}

extension RotationPlan.Step {
    /// A step as the JSON of `keys list` has it.
    ///
    /// ```
    /// {"step": "add" | "promote" | "destroy", "kid": KID | null, "at": TIME, "why": TEXT, ["because": TEXT]}
    /// ```
    var row: JSONObject {
        let json: JSONObject = ["step": action.name, "kid": action.kid?.description, "at": "\(dueAt)", "why": why]
        return json.adding(ifKnown: ["because": blockedBy])
    }
}
