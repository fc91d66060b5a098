import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// The files that are in the folder of a keyset that is restored.
struct PresentKeyset {
    /// The content of `keyset.json`; nil if there is none.
    let bytes: [UInt8]?
    /// nil if there is none, or a damaged one.
    let file: KeysetFile?
    let logBytes: [UInt8]
    /// Complete, also after an interrupted change.
    let lines: [String]
    let hasTornLog: Bool
    /// The highest `seq` of the files beside `keyset.json`.
    let derivedSequence: Int64

    static let none = PresentKeyset()

    private init() {
        (bytes, file, logBytes, lines, hasTornLog, derivedSequence) = (nil, nil, [], [], false, 0)
    }

    /// - Returns: nil for a damaged file.
    /// - Throws: `KeyError` with `unsupportedSuite`: the file is whole, and may have later keys than any backup.
    private static func file(_ bytes: [UInt8], _ path: String) throws(KeyError) -> KeysetFile? {
        do {
            let file = try KeysetFile(bytes, path: path)
            try file.metadata.requireSuites()
            return file
        } catch let error as KeyError where error.code == .unsupportedSuite {
            throw KeyError(error.code, "\(error.reason). It isn't replaced: \(Verification.updateLibrary)")
        } catch {
            return nil
        }
    }

    /// - Throws: `KeystoreError` with `auditBroken` for a log whose chain is broken or that doesn't belong to the keyset;
    ///   `KeyError` with `unsupportedSuite`.
    init(_ keyset: KeysetFolder, in folder: Folder, _ secretArguments: String) throws {
        let (keysetName, logName) = (KeysetFolder.keysetName, KeysetFolder.auditName)
        bytes = folder.has(keysetName) ? try folder.read(keysetName, .ownerOnly).bytes : nil
        file = try bytes.flatMap { try Self.file($0, keyset.path + "/" + keysetName) }
        logBytes = folder.has(logName) ? try folder.read(logName, .ownerOnly).bytes : []
        let log = AuditLog(logBytes)
        let condition: AuditLog.Condition
        if let file {
            condition = log.condition(file.metadata.audit)
        } else {
            do {
                _ = try log.head()
                condition = .whole
            } catch let error as KeystoreError {
                condition = .broken(error.reason)
            }
        }
        switch condition {
        case .whole, .newer: lines = log.lines
        case .interrupted(let missing): lines = log.lines + missing
        case .broken(let flaw):
            throw KeystoreError(
                .auditBroken,
                "\(keyset.path): \(flaw), so it can't be compared with the backup. If the keyset.json in the folder is whole, keep it "
                    + "and begin another log: `\(AuditLog.restartCommand(keyset.path, secretArguments))`. "
                    + "Otherwise move the folder to another place and restore the keyset without it; this forgets the revocations "
                    + "after the backup, so revoke these keys again")
        }
        hasTornLog = !log.tornTail.isEmpty && lines == log.lines
        derivedSequence = LaterFile.highestSequence(in: folder)
    }
}
