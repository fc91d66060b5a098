package import PushCryptCore
package import PushCryptFiles
package import PushCryptKeysets

/// A fault that `status` reports: what a monitor counts, what an operator must know, and the one remedy.
package struct StatusFinding: Hashable, Sendable {
    /// The keysets that the fault concerns; none if it is the host's.
    package internal(set) var keysets: [KeysetReference]
    package let facts: Facts
    package internal(set) var remedy: Remedy

    package init(_ facts: Facts, _ keyset: KeysetReference?, _ remedy: Remedy) {
        self.facts = facts
        self.remedy = remedy
        keysets = keyset.map { [$0] } ?? []
    }

    /// nil if there is none, or more than one.
    package var keyset: KeysetReference? { keysets.count == 1 ? keysets[0] : nil }
    package var code: Code { facts.code }
    package var severity: Severity { code.rule.severity }
}

/// A keyset by what is known of it.
package struct KeysetReference: Hashable, Sendable {
    /// nil if there is no file.
    package let location: KeysetLocation?
    /// nil if the file can't be read.
    package let id: KeysetID?

    package init(_ location: KeysetLocation?, _ id: KeysetID?) {
        self.location = location
        self.id = id
    }
}

/// The worst first, then by the keyset's place.
extension StatusFinding: Comparable {
    package static func < (left: Self, right: Self) -> Bool { left.order < right.order }

    private var order: (Int, String, Int) {
        let places = keysets.map { $0.location?.path ?? "\($0.id?.description ?? "")" }
        return (severity.rawValue, places.min() ?? "", Code.allCases.firstIndex(of: code) ?? 0)
    }
}

extension StatusFinding {
    package enum Severity: Int, Sendable {
        /// Apps get no pushes, or soon don't, or trust a key that they shouldn't; or commands refuse the keyset.
        case critical
        case warning
        /// Nothing has to be done now.
        case notice
    }

    /// What doesn't hold.
    package enum Basis: Hashable, Sendable {
        /// An invariant of the keystore, 1 to 10.
        case invariant(Int)
        /// One of the keystore's documented limits.
        case limit
        /// The host or its operator.
        case operation
    }

    /// docs/make_cli.py reads the documentation of the cases.
    package enum Code: String, CaseIterable, Sendable {
        /// A keystore, an expected keyset, or one that this host has seen isn't there.
        case missing
        /// A keyset's file, or what this host has seen of it, is damaged or isn't authentic.
        case damaged
        /// The system, a secret or the version of a file prevents reading.
        case unreadable
        /// Folders or files belong to another user.
        case otherUser
        /// Other users can open a keyset, its keystore or the history.
        case openToOthers
        /// `rotate` can't write to a folder: permission, read-only disk, no space, no locks.
        case cannotWrite
        /// Two files of a keystore are one keyset.
        case twoFiles
        /// The file lacks lines that this host has seen.
        case oldCopy
        /// The file and what this host has seen have different lines: two hosts have changed copies.
        case twoHistories
        /// The clock is before the last change, or long after the last change and run.
        case clock
        /// No key seals, or none will within a week.
        case noKeySeals
        /// A step of the rotation has been due for 36 hours.
        case overdue
        /// The last run of `rotate` failed.
        case runFailed
        /// A served set is missing, isn't the keyset's, is an older one, lacks a revocation, or ends soon.
        case served
        /// A served set was made of lines that the keyset lacks.
        case servedAhead
        /// The publisher keyset is an old copy.
        case publisherOlder
        /// Another host changes the keyset.
        case otherWriter
        /// `rotate` hasn't run for 36 hours.
        case notRun
        /// A new key has waited for a week until enough devices have fetched it.
        case waiting
        /// A change, or half of a set's validity, isn't followed by a set.
        case unpublished
        /// The keys of a device are missing in their folder, or are old ones.
        case outbox
        /// The settings name a keyset, in `secrets` or `devices`, that isn't there.
        case unknownName
        /// A log or a set is at half of its limit.
        case nearLimit
        /// Keys are lost: no file has them.
        case lostKeys
        /// The keys are in clear.
        case notEncrypted
        /// The publisher is on another host.
        case publisherAway
        /// This host has seen the keyset for less than a day: an older copy would have passed.
        case firstSight
        /// A file of the keystore isn't a keyset.
        case unknownFile

        package var rule: (severity: Severity, basis: Basis) {
            switch self {
            case .missing, .twoFiles: (.critical, .invariant(1))
            case .damaged: (.critical, .invariant(2))
            case .oldCopy, .twoHistories, .publisherOlder: (.critical, .invariant(3))
            case .servedAhead: (.critical, .invariant(4))
            case .served: (.critical, .invariant(5))
            case .openToOthers: (.critical, .invariant(7))
            case .clock: (.critical, .invariant(8))
            case .noKeySeals: (.critical, .invariant(9))
            case .unreadable, .otherUser, .cannotWrite, .overdue, .runFailed: (.critical, .operation)
            case .unpublished, .outbox: (.warning, .invariant(5))
            case .otherWriter: (.warning, .invariant(10))
            case .notRun, .waiting, .unknownName: (.warning, .operation)
            case .nearLimit: (.warning, .limit)
            case .lostKeys: (.notice, .invariant(6))
            case .notEncrypted, .firstSight: (.notice, .limit)
            case .publisherAway, .unknownFile: (.notice, .operation)
            }
        }
    }

    package enum Facts: Hashable, Sendable {
        /// A keystore, an expected keyset, or one that the host has seen and writes.
        case missing(path: String?)
        /// A keyset's file, or what the host has seen of it.
        case damaged(path: String, KeysetLogError)
        case unreadable(path: String, ReadFault)
        case otherUser(UInt32, paths: [String])
        /// Other users can open a keyset, its keystore or what the host has seen of it.
        case openToOthers(path: String)
        case cannotWrite(FolderFault, folders: [String])
        case twoFiles([KeysetLocation])
        /// The host has seen later lines.
        case oldCopy(seen: LogPoint, at: UnixTime)
        /// Neither the file nor what the host has seen goes on from the other.
        case twoHistories(seen: LogPoint, at: UnixTime)
        /// The clock is before the last line, which may be in the future, or long after the last line and the last run.
        case clock(isBehind: Bool, last: UnixTime)
        /// No key seals from this time on: from now, or within a week.
        case noKeySeals(from: UnixTime)
        case overdue(RotationPlan.Action, since: UnixTime)
        case runFailed(status: Int, at: UnixTime?)
        /// - Parameter epoch: nil for public keys without a signature.
        case served(epoch: Int64?, ServedFault)
        /// - Parameter isSigned: by a publisher of the log; nil if its keyset isn't at hand.
        case servedAhead(epoch: Int64?, LogPoint, isSigned: Bool?)
        case publisherOlder(epoch: Int64, published: LogPoint)
        case otherWriter(String)
        /// `rotate` hasn't run for 36 hours.
        case notRun(last: UnixTime?)
        /// Devices must fetch a key before it may seal.
        case waiting(KeyID?, since: UnixTime)
        /// A change, or half of a set's validity, isn't followed by a set.
        case unpublished(epoch: Int64?, since: UnixTime)
        /// Files of devices that are missing or were made of an earlier line.
        case outbox(missing: Int, late: Int, folder: String)
        /// Members of the settings.
        case unknownName([String])
        case nearLimit(Limit, Int)
        case lostKeys([KeyID])
        case notEncrypted
        case publisherAway(epoch: Int64, KeysetID)
        /// The host has seen no earlier line: an older one than that of another host would pass.
        case firstSight(LogPoint, at: UnixTime)
        case unknownFile(path: String)

        package var code: Code {
            switch self {
            case .missing: .missing
            case .damaged: .damaged
            case .unreadable: .unreadable
            case .otherUser: .otherUser
            case .openToOthers: .openToOthers
            case .cannotWrite: .cannotWrite
            case .twoFiles: .twoFiles
            case .oldCopy: .oldCopy
            case .twoHistories: .twoHistories
            case .clock: .clock
            case .noKeySeals: .noKeySeals
            case .overdue: .overdue
            case .runFailed: .runFailed
            case .served: .served
            case .servedAhead: .servedAhead
            case .publisherOlder: .publisherOlder
            case .otherWriter: .otherWriter
            case .notRun: .notRun
            case .waiting: .waiting
            case .unpublished: .unpublished
            case .outbox: .outbox
            case .unknownName: .unknownName
            case .nearLimit: .nearLimit
            case .lostKeys: .lostKeys
            case .notEncrypted: .notEncrypted
            case .publisherAway: .publisherAway
            case .firstSight: .firstSight
            case .unknownFile: .unknownFile
            }
        }
    }

    package enum ReadFault: Hashable, Sendable {
        case file(FileError)
        /// A secret that doesn't fit, or a file of a later version.
        case log(KeysetLogError)
        case secret(KeystoreError)
        /// The type of an error that this code doesn't know.
        case other(type: String)
    }

    package enum ServedFault: Hashable, Sendable {
        case missing, notASet, notSigned
        case otherSet(KeysetID, epoch: Int64?)
        case lacksRevocations([KeyID])
        /// A later set was made and isn't served.
        case older(served: LogPoint, madeAt: UnixTime)
        /// Less than a quarter of the validity is left, or nothing.
        case ends(UnixTime)
    }

    /// What is more than half used, in bytes or keys.
    package enum Limit: Hashable, Sendable { case log, set, revokedKeys }

    package enum Remedy: Hashable, Sendable {
        case restore(KeysetReference)
        case rotate(KeysetReference)
        /// By hand: it says why it fails.
        case rotateAll
        /// - Parameter replacing: a served set that nobody has signed.
        case publish(KeysetReference)
        /// This host becomes the writer, if the other one doesn't write any more.
        case takeOver(KeysetReference)
        /// Correct the clock. If it is right: restore keysets whose last lines are in the future, or confirm it.
        case setClock
        case enableTimer
        case runAs(UInt32)
        case makeWritable([String])
        case freeSpace([String])
        case moveToLocalDisk([String])
        case makePrivate(path: String)
        case removeFile(path: String)
        /// Find out why the system can't read or find it.
        case inspect(path: String)
        case giveSecret(KeysetReference)
        case correctSettings
        case encrypt(KeysetReference)
        case update
        /// Give the devices' reports, so that a key may seal.
        case reportCoverage(KeysetReference)
        case signElsewhere(KeysetReference)
        /// Compare the last line with that of another host or backup.
        case compare(KeysetReference)
        case replaceKeyset(KeysetReference)
    }
}
