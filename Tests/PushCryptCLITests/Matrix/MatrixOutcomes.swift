#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The file that an option names in a mistake, and the exit status.
struct FileOutcome {
    let status: Int32
    /// Makes the name from that of a file that is accepted.
    let path: (String) -> String

    init(_ status: Int32, _ path: @escaping (String) -> String) { (self.status, self.path) = (status, path) }

    static func missing(_ status: Int32) -> FileOutcome { FileOutcome(status) { "none/" + $0 } }
    static func locked(_ status: Int32) -> FileOutcome {
        FileOutcome(status) { "locked/" + $0.split(separator: "/").last! }
    }
    static func copy(_ folder: String, _ status: Int32) -> FileOutcome { FileOutcome(status) { folder + "/" + $0 } }
    static func named(_ name: String, _ status: Int32) -> FileOutcome { FileOutcome(status) { _ in name } }
}

extension ValueRule.Kind {
    var isParsed: Bool { self == .parsed }

    /// What becomes of a mistake in the file; a mistake that isn't here isn't one for this kind of file.
    var outcomes: [Mistake: FileOutcome] {
        var outcomes: [Mistake: FileOutcome] = [.noFile: .missing(66), .unreadable: .copy("unreadable", 77)]
        switch self {
        case .parsed, .text: return [:]
        case .passphraseFile:
            outcomes.merge(guarded.merging([.emptyFile: .named("empty", 64), .hugeFile: .named("huge", 64)]) { $1 }) {
                $1
            }
            outcomes[.folder] = .named("folder", 65)
        case .keyset:
            outcomes.merge(guarded) { $1 }
            outcomes[.folder] = .named("folder", 66)
        case .restored: outcomes.merge(guarded) { $1 }
        case .keys, .secretFile:
            outcomes.merge(guarded) { $1 }
            outcomes[.folder] = .named("folder", 65)
        case .privateKey: outcomes.merge(guarded.merging(Self.contents(folder: 65)) { $1 }) { $1 }
        case .input, .publicKeys: outcomes.merge(Self.contents(folder: 65)) { $1 }
        case .payload: outcomes.merge(Self.contents(folder: 66)) { $1 }
        case .lines: outcomes[.folder] = .named("folder", 66)
        case .record: outcomes[.folder] = .named("folder", 65)
        case .newFile: outcomes = [.noFile: .missing(73), .unreadable: .locked(77), .folder: .named("folder", 73)]
        case .replacedFile: outcomes = [.noFile: .missing(73), .unreadable: .locked(77)]
        case .folder: outcomes = [.noFile: .missing(66)]
        case .servedFolder: outcomes = [.noFile: .missing(69)]
        case .newKeyset: outcomes = [.unreadable: .locked(77)]
        }
        return outcomes
    }

    private static func contents(folder status: Int32) -> [Mistake: FileOutcome] {
        [.emptyFile: .named("empty", 65), .folder: .named("folder", status), .hugeFile: .named("huge", 65)]
    }

    /// Only root can give a file to another user.
    private var guarded: [Mistake: FileOutcome] {
        let loose: [Mistake: FileOutcome] = [.wrongMode: .copy("loose", 77)]
        return geteuid() == 0 ? loose.merging([.wrongOwner: .copy("foreign", 77)]) { $1 } : loose
    }
}
