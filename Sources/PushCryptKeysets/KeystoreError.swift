package import PushCryptFiles

/// Why a keystore can't be read or written.
public struct KeystoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String

        package init(name: String) {
            self.name = name
        }

        /// There is something of that name already.
        public static let alreadyExists = Code(name: "alreadyExists")
        /// The file or folder can't be made.
        public static let cannotCreate = Code(name: "cannotCreate")
        /// There is no such file or keyset.
        public static let notFound = Code(name: "notFound")
        /// The system refuses access.
        public static let noPermission = Code(name: "noPermission")
        /// Others than the owner can reach a private file.
        public static let looseMode = Code(name: "looseMode")
        /// A private file or folder belongs to another user, who isn't root.
        public static let foreignOwner = Code(name: "foreignOwner")
        /// Not a keyset: a folder, a link, a device, or far too long.
        public static let notAKeyset = Code(name: "notAKeyset")
        /// Keys that are published with this project: everybody has their private halves.
        public static let demoKeys = Code(name: "demoKeys")
        /// Reading or writing failed half-way.
        public static let inputOutput = Code(name: "inputOutput")
        /// The keyset's folder was exchanged for another one while the command waited for it.
        public static let changedMeanwhile = Code(name: "changedMeanwhile")
        /// The file isn't what was written: a bit flipped, the end is missing, somebody edited it.
        public static let damaged = Code(name: "damaged")
        /// The private keys are encrypted, and nothing was given that opens them.
        public static let secretNeeded = Code(name: "secretNeeded")
        /// A secret was given, and the keys are in plain text: perhaps not those that were encrypted with it.
        public static let notEncrypted = Code(name: "notEncrypted")
        /// The passphrase doesn't open the private keys.
        public static let wrongSecret = Code(name: "wrongSecret")
        /// The external command that wraps data keys failed.
        public static let wrapCommandFailed = Code(name: "wrapCommandFailed")
        /// The audit log doesn't follow from the keyset.
        public static let auditBroken = Code(name: "auditBroken")
    }

    public let code: Code
    /// What is wrong, where, and what to do.
    public let reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    public var description: String { reason }
}

extension KeystoreError: FileErrorConvertible {
    package init(_ error: FileError) {
        switch error.code {
        case .notFound: self.init(.notFound, error.reason)
        case .alreadyExists: self.init(.alreadyExists, error.reason)
        case .cannotCreate: self.init(.cannotCreate, error.reason)
        case .noPermission: self.init(.noPermission, error.reason)
        case .foreignOwner: self.init(.foreignOwner, error.reason)
        case .looseMode: self.init(.looseMode, error.reason)
        case .changedMeanwhile: self.init(.changedMeanwhile, error.reason)
        case .notAFile: self.init(.notAKeyset, error.reason)
        case .tooLong: self.init(.notAKeyset, error.reason + ": not a key file")
        case .symbolicLink where error.systemError == 0:
            self.init(.notAKeyset, error.reason + "; a keystore holds files and folders only")
        case .symbolicLink: self.init(.notAKeyset, error.reason)
        default: self.init(.inputOutput, error.reason)
        }
    }
}
