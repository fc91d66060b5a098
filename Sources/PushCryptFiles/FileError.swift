import PushCryptPrimitives

/// Why a file or folder can't be opened, read or written, or why a helper program failed.
///
/// Each target converts it to its own error type through ``FileErrorConvertible``.
package struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    package struct Code: Hashable, Sendable {
        package let name: String

        package static let notFound = Code(name: "notFound")
        package static let alreadyExists = Code(name: "alreadyExists")
        package static let cannotCreate = Code(name: "cannotCreate")
        package static let noPermission = Code(name: "noPermission")
        /// A private file or folder belongs to another user, who isn't root.
        package static let foreignOwner = Code(name: "foreignOwner")
        /// Users other than the owner can open or change a private file or folder.
        package static let looseMode = Code(name: "looseMode")
        /// A folder, pipe or device in place of a file, or a file in place of a folder.
        package static let notAFile = Code(name: "notAFile")
        /// A symbolic link where none is followed.
        package static let symbolicLink = Code(name: "symbolicLink")
        /// More bytes than the caller accepts.
        package static let tooLong = Code(name: "tooLong")
        /// A text in UTF-16 where UTF-8 is needed.
        package static let otherEncoding = Code(name: "otherEncoding")
        /// The disk or the user's quota is full.
        package static let noSpace = Code(name: "noSpace")
        package static let busy = Code(name: "busy")
        /// The file system has no locks.
        package static let noLocks = Code(name: "noLocks")
        /// Another folder replaced the one that was opened.
        package static let changedMeanwhile = Code(name: "changedMeanwhile")
        /// A helper program ended with an error, ended too late or printed too much.
        package static let helperFailed = Code(name: "helperFailed")
        package static let inputOutput = Code(name: "inputOutput")
    }

    /// The operation that failed; the raw value is its verb in ``reason``.
    package enum Operation: String, Sendable {
        case read, create, replace, write, lock, remove
    }

    package let code: Code
    /// The file or folder, as the caller named it.
    package let path: String
    /// nil if a check refused the file.
    package let operation: Operation?
    /// `errno` of the call that failed; 0 if a check refused the file.
    package let systemError: Int32
    /// The fault with its path.
    package private(set) var fault: String
    /// The shell command that corrects the fault; nil if none is known.
    package private(set) var correction: String?
    /// The owner of a file or folder that only its owner can read or write; nil if this user can correct it.
    package private(set) var owner: UInt32?
    /// What can be done in place of the correction, and what follows it.
    private var alternative = "", remark = ""

    /// - Parameter owner: of a file or folder that isn't this user's.
    package init(
        _ code: Code, _ path: String, _ fault: String, correction: String? = nil, owner: UInt32? = nil
    ) {
        self.owner = owner
        self.code = code
        self.path = path
        self.fault = fault
        self.correction = correction
        operation = nil
        systemError = 0
    }

    /// - Parameter folder: the open folder of the file; nil if it was opened by its path.
    package init(
        _ operation: Operation, _ path: String, systemError number: Int32 = errno, in folder: Folder? = nil
    ) {
        code = Self.code(number, operation)
        self.path = path
        self.operation = operation
        systemError = number
        let parent = operation == .create && number == ENOENT ? FileSystem.parent(of: path) : ""
        let cause = parent.isEmpty ? Self.message(number) : "there is no folder \(parent)"
        let permission = number == EACCES ? MissingPermission(to: operation, path, in: folder) : nil
        fault = "can't \(operation.rawValue) \(path): \(cause)" + (permission?.fault ?? "")
        alternative = permission?.alternative ?? ""
        correction = permission?.correction
        owner = correction == nil ? permission?.owner : nil
    }

    func adding(_ text: String) -> FileError {
        var error = self
        if correction == nil { error.fault += text } else { error.remark += text }
        return error
    }

    /// The fault with its path, and how to correct it.
    package var reason: String {
        fault + (correction.map { "; \(alternative)correct it with: \($0)" } ?? "") + remark
    }

    /// The system's description of ``systemError``, without the path.
    package var systemMessage: String { Self.message(systemError) }

    private static func message(_ number: Int32) -> String {
        let text = unsafe String(cString: strerror(number))
        return number == EACCES ? "\(text) for user \(geteuid())" : text
    }

    private static func code(_ number: Int32, _ operation: Operation) -> Code {
        let makesFile = operation == .create || operation == .replace
        // NFS locks only what is open for writing, which a folder can't be: EBADF.
        let noLocks = [ENOLCK, ENOTSUP, EOPNOTSUPP, ENOSYS, EINVAL, EBADF]
        if operation == .lock, noLocks.contains(number) { return .noLocks }
        return switch number {
        case ENOENT, ENOTDIR, ENAMETOOLONG: makesFile ? .cannotCreate : .notFound
        case EEXIST, ENOTEMPTY: .alreadyExists
        case EACCES, EPERM, EROFS: .noPermission
        case ELOOP: .symbolicLink
        case ENOSPC, EDQUOT: .noSpace
        default: makesFile ? .cannotCreate : .inputOutput
        }
    }

    package var description: String { reason }
}

/// The error of a target that works with files. Its initialiser converts a ``FileError``.
package protocol FileErrorConvertible: Error {
    init(_ error: FileError)
}

extension FileErrorConvertible {
    /// Runs `body` and converts a ``FileError`` to this error.
    package static func converting<Value>(_ body: () throws(FileError) -> Value) throws(Self) -> Value {
        do throws(FileError) {
            return try body()
        } catch {
            throw Self(error)
        }
    }

    /// Runs `body`, converts a ``FileError`` to this error and rethrows any other error.
    package static func convertingFileErrors<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as FileError {
            throw Self(error)
        }
    }
}
