package import PushCryptFiles
public import PushCryptPrimitives

/// Why a keystore can't be read or written.
public struct KeystoreError: DescribedError, Hashable, Sendable {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String

        package init(name: String) { self.name = name }

        /// The name is taken.
        public static let alreadyExists = Code(name: "alreadyExists")
        /// The file or folder can't be created.
        public static let cannotCreate = Code(name: "cannotCreate")
        /// There is no such file or keyset.
        public static let notFound = Code(name: "notFound")
        /// The system refuses access.
        public static let noPermission = Code(name: "noPermission")
        /// Users other than the owner can open a private file.
        public static let looseMode = Code(name: "looseMode")
        /// A private file or folder belongs to another user, who isn't root.
        public static let foreignOwner = Code(name: "foreignOwner")
        /// Not a keyset: a folder, a link, a device, or a file above the size limit.
        public static let notAKeyset = Code(name: "notAKeyset")
        /// Keys that are published with this project, including their private halves.
        public static let demoKeys = Code(name: "demoKeys")
        /// Reading or writing failed.
        public static let inputOutput = Code(name: "inputOutput")
        /// Another folder replaced the keystore's folder while the command waited for its lock.
        public static let changedMeanwhile = Code(name: "changedMeanwhile")
        /// The file doesn't match its digest, or the encrypted keys can't be authenticated.
        public static let damaged = Code(name: "damaged")
        /// The private keys are encrypted, and no suitable secret was given.
        public static let secretNeeded = Code(name: "secretNeeded")
        /// A secret was given, and the keys are in plain text: an attacker may have replaced the encrypted ones.
        public static let notEncrypted = Code(name: "notEncrypted")
        /// The passphrase doesn't decrypt the private keys.
        public static let wrongSecret = Code(name: "wrongSecret")
        /// The external command that wraps data keys failed.
        public static let wrapCommandFailed = Code(name: "wrapCommandFailed")
        /// The keyset has another id than the caller expects.
        public static let otherKeyset = Code(name: "otherKeyset")
        /// This host has seen later changes of the keyset: the file is an old copy.
        public static let olderThanHistory = Code(name: "olderThanHistory")
        /// Neither the file nor what this host has seen of the keyset goes on from the other.
        public static let twoHistories = Code(name: "twoHistories")
    }

    /// The kind of failure.
    public let code: Code
    /// The fault, its place, and how to correct it.
    public let reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// ``reason``
    public var description: String { reason }
}

extension KeystoreError: FileErrorConvertible {
    package init(_ error: FileError) {
        switch error.code {
        case .notFound, .alreadyExists, .cannotCreate, .noPermission, .foreignOwner, .looseMode, .changedMeanwhile:
            self.init(Code(name: error.code.name), error.reason)
        case .symbolicLink where error.systemError == 0:
            self.init(.notAKeyset, error.reason + "; a keystore contains only files and folders")
        case .notAFile, .tooLong, .otherEncoding, .symbolicLink: self.init(.notAKeyset, error.reason)
        default: self.init(.inputOutput, error.reason)
        }
    }
}
