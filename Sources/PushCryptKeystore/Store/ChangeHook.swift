import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets
import PushCryptPrimitives

/// A program of the operator that runs after each change of a keyset, for example to publish its public keys.
///
/// ```
/// change the keyset ──> run the program ──> write hook.json: {"seq": N, "lines": N, "program": PATH, "arguments": [TEXT, ...]}
/// ```
/// The file has the `seq` of the keyset and the length of its audit log for which the program last succeeded. Whenever `seq`
/// differs, the program is still to run. So a crash at any point, a failure and a change without this program are noticed
/// at the next run, and without the file the program runs. The first attempt writes `seq` null and `lines` 0, so that a
/// program that never succeeds is noticed too. The program is the one that ran last, for the command that `keys doctor` advises.
package struct ChangeHook: Sendable {
    private let program: String
    private let arguments: [String]

    /// In seconds. A program that uploads to several hosts may take a while.
    private static let timeLimit = 600
    /// The environment of a process is limited, and a log isn't.
    private static let maximumChangeCount = 1_000

    /// - Parameter program: a path with a slash.
    /// - Throws: `KeystoreError` with `notFound`, or `noPermission` for a file that isn't executable.
    package init(_ program: String, _ arguments: [String]) throws {
        if let options = Self.optionsOfWords(program, arguments) {
            throw KeystoreError(
                .notFound,
                "\(program) is not a program: there is no such file; an argument of the program has an option of its own:"
                    + options)
        }
        try KeystoreError.converting { () throws(FileError) in try FileSystem.checkExecutable(program) }
        self.program = program
        self.arguments = arguments
    }

    /// The options that run the program, each with a space before it.
    fileprivate static func options(_ program: String, _ arguments: [String]) -> String {
        let arguments = arguments.map { " --exec-argument \(ShellArgument.quotedValue($0))" }
        return " --exec-on-change \(ShellArgument.quoted(program))" + arguments.joined()
    }

    /// The options for a program that was given together with its arguments; nil if it wasn't.
    private static func optionsOfWords(_ program: String, _ arguments: [String]) -> String? {
        let words = program.split(separator: " ").map(String.init)
        guard words.count > 1, FileStatus(program, followingLinks: true) == nil,
            (try? FileSystem.checkExecutable(words[0])) != nil
        else { return nil }
        return options(words[0], words.dropFirst() + arguments)
    }

    /// The state for which a program last succeeded.
    package struct Record: Hashable, Sendable {
        /// nil if a program ran and none has succeeded.
        package let sequence: Int64?
        let lineCount: Int64
        /// The program that ran last, and its arguments; empty in a file of an earlier version.
        private let command: [String]

        /// Before a program runs.
        fileprivate init(_ hook: ChangeHook, after record: Record?) {
            (sequence, lineCount) = (record?.sequence, record?.lineCount ?? 0)
            command = [hook.program] + hook.arguments
        }

        /// After a program has succeeded.
        fileprivate init(_ hook: ChangeHook, succeededFor keyset: KeysetMetadata) {
            (sequence, lineCount) = (keyset.sequence, keyset.audit.count)
            command = [hook.program] + hook.arguments
        }

        /// nil if the file doesn't name the program.
        package var program: String? { command.first }

        /// The options that run the program again, each with a space before it; nil if the file doesn't name the program.
        package var options: String? {
            guard let program else { return nil }
            return ChangeHook.options(program, Array(command.dropFirst()))
        }

        /// The keys that were revoked after this state, by the audit log.
        func revocations(in log: AuditLog, _ head: AuditHead) -> [AuditEntry] {
            log.history(head).entries.filter {
                $0.number > lineCount && $0.what == AuditEvent.Action.revoked.rawValue
            }
        }

        init?(json: [UInt8]) {
            guard let root = try? JSONText(json).root, let lineCount = root["lines"]?.protocolInteger,
                let sequence = root["seq"], sequence.kind == .null || sequence.protocolInteger != nil
            else { return nil }
            (self.sequence, self.lineCount) = (sequence.protocolInteger, lineCount)
            let program = root["program"]?.string.map { [$0] } ?? []
            command = program.isEmpty ? [] : program + (root["arguments"]?.elements.compactMap(\.string) ?? [])
        }

        var json: [UInt8] {
            var text = Array("{\"seq\": \(sequence.map { "\($0)" } ?? "null"), \"lines\": \(lineCount)".utf8)
            if let program = command.first {
                text += Array(", \"program\": ".utf8)
                JSONWriter.appendString(program, to: &text)
                text += Array(", \"arguments\": [".utf8)
                for (index, argument) in command.dropFirst().enumerated() {
                    if index > 0 { text += Array(", ".utf8) }
                    JSONWriter.appendString(argument, to: &text)
                }
                text.append(UInt8(ascii: "]"))
            }
            return text + Array("}\n".utf8)
        }

        /// The changes after this state, as in `added:KID renewed`; empty if no program has succeeded.
        func changes(in log: AuditLog, _ head: AuditHead) -> String {
            guard sequence != nil else { return "" }
            return log.history(head).entries.filter { $0.number > lineCount }.suffix(maximumChangeCount)
                .compactMap { entry in
                    // The log isn't authenticated, so that only known words get into the environment.
                    guard let action = AuditEvent.Action(rawValue: entry.what) else { return nil }
                    return ([action.rawValue] + [entry.kid.flatMap(KeyID.init)?.description].compactMap(\.self))
                        .joined(separator: ":")
                }.joined(separator: " ")
        }
    }

    /// Runs the program and waits for its end.
    ///
    /// - Throws: `KeystoreError` with `hookFailed`.
    fileprivate func run(_ path: String, _ keyset: KeysetMetadata, after record: Record?, _ log: AuditLog) throws {
        var process = HelperProcess.Program(path: program, arguments: arguments)
        process.variables = [
            "PUSHCRYPT_KEYSET": path, "PUSHCRYPT_KIND": keyset.kind.rawValue, "PUSHCRYPT_SEQ": "\(keyset.sequence)",
            "PUSHCRYPT_PREVIOUS_SEQ": record?.sequence.map { "\($0)" } ?? "",
            "PUSHCRYPT_CHANGES": record?.changes(in: log, keyset.audit) ?? "",
        ]
        do throws(FileError) {
            try HelperProcess.run(process, seconds: Self.timeLimit, mayAsk: TerminalDevice() != nil) {
                ContinuousClock.now
            }
        } catch {
            throw KeystoreError(
                .hookFailed,
                "\(path): \(program), which runs after changes, failed: \(error.reason); the keyset stays changed, and the "
                    + "next run with --exec-on-change runs the program again")
        }
    }
}

extension KeystoreError.Code {
    /// The program that runs after changes failed.
    package static let hookFailed = KeystoreError.Code(name: "hookFailed")
}

extension KeysetStore {
    /// Runs the program unless it has succeeded for this state of the keyset.
    ///
    /// The lock isn't held meanwhile, so that the program can use the keyset. Two processes may both run their program.
    /// - Parameters:
    ///   - secretArguments: as in `SecretSource.arguments`.
    ///   - again: whether to run it also if it has succeeded. The earlier success no longer counts: if the program fails, or this
    ///     process is killed, the next run runs it.
    /// - Returns: whether the program ran.
    /// - Throws: `KeystoreError` with `hookFailed`, `unconfirmedRestoration`, or if the folder can't be written.
    @discardableResult
    package func run(
        _ hook: ChangeHook, after keyset: KeysetMetadata, _ secretArguments: String, again: Bool = false
    ) throws -> Bool {
        let record = again ? nil : try hookRecord()
        guard record?.sequence != keyset.sequence else { return false }
        try requirePublishable(secretArguments)
        let log = try withLock { folder in
            let before = again ? nil : try Self.hookRecord(in: folder)
            let attempt = ChangeHook.Record(hook, after: before)
            if attempt != before { try folder.replace(KeysetFolder.hookName, with: attempt.json) }
            return try self.folder.auditLog(in: folder)
        }
        try hook.run(folder.path, keyset, after: record, log)
        FaultPoint.reach("hook-succeeded")
        try withLock { folder in
            try folder.replace(KeysetFolder.hookName, with: ChangeHook.Record(hook, succeededFor: keyset).json)
        }
        return true
    }

    /// The state for which a program last succeeded; nil if none ran, or the file is damaged.
    package func hookRecord() throws -> ChangeHook.Record? {
        try KeystoreError.convertingFileErrors { try Self.hookRecord(in: Folder(folder.path)) }
    }

    static func hookRecord(in folder: Folder) throws(FileError) -> ChangeHook.Record? {
        guard folder.has(KeysetFolder.hookName) else { return nil }
        return ChangeHook.Record(json: try folder.read(KeysetFolder.hookName, .ownerOnly).bytes)
    }
}
