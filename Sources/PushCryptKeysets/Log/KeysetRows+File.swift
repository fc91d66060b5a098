import PushCryptCore
package import PushCryptFiles
import PushCryptPrimitives

/// Reading a keyset's file.
extension KeysetRows {
    package enum Use: Sendable {
        /// Links are refused, and only the owner can use the file and its folder.
        case changing
        /// Links are followed. The group may read root's file: container platforms mount secrets in this way.
        case reading
    }

    /// Reads a keyset's file. A published demo keyset, which has no secret, can be read with any owner and mode.
    ///
    /// - Throws: `FileError` with `notFound`, `noPermission`, `notAFile`, `symbolicLink`, `foreignOwner`, `looseMode`;
    ///   ``KeysetFileError``.
    package init(at location: KeysetLocation, _ use: Use) throws {
        switch use {
        case .changing:
            let folder = try Folder(location.keystore)
            try folder.check(.othersMayRead)
            try self.init(in: folder, location)
        case .reading:
            try self.init(OpenFile(location.path), .ownerOrRootsGroup, location)
        }
    }

    /// Reads a keyset's file to change it.
    ///
    /// - Parameter folder: the keystore, which was checked.
    /// - Throws: as ``init(at:_:)``.
    package init(in folder: Folder, _ location: KeysetLocation) throws {
        try self.init(folder.file(location.fileName), .ownerOnly, location)
    }

    private init(_ file: OpenFile, _ rule: FileAccess.Rule, _ location: KeysetLocation) throws {
        let status = try file.requireFile()
        self = try KeysetFileError.naming(location.path) {
            guard status.byteCount <= KeysetLog.maximumByteCount else { throw KeysetLogError(.tooLarge, row: 0) }
            var bytes = try file.readAll(limitInBytes: KeysetLog.maximumByteCount)
            defer { wipe(&bytes) }
            return try KeysetRows(bytes)
        }
        if !log.state.isDemo { try status.access.check(rule, location.path) }
    }
}

extension KeysetID {
    /// The id of a keyset's file, of which only line 1 is read; nil for any other file.
    package init?(ofFile file: OpenFile) throws(FileError) {
        var (line, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
        // Keys in clear may follow the first row.
        defer { wipe(&chunk) }
        while line.count <= KeysetLog.maximumByteCount {
            let count = try file.readSome(into: &chunk)
            let end = chunk[..<count].firstIndex(of: UInt8(ascii: "\n"))
            line += chunk[..<(end ?? count)]
            guard end == nil else { break }
            guard count > 0 else { return nil }
        }
        guard let id = (try? KeysetLine(line, row: 1))?.origin?.id else { return nil }
        self = id
    }
}

extension KeysetState {
    /// Whether all keys are published with this project: they protect nothing and are never changed.
    package var isDemo: Bool { DemoKeys.covers(keys.map(\.kid)) }
}

/// Why a file of a keyset, or the history of one, is refused.
package struct KeysetFileError: Error, Hashable, Sendable {
    package let path: String
    package let cause: KeysetLogError

    package init(_ path: String, _ cause: KeysetLogError) {
        self.path = path
        self.cause = cause
    }

    /// Runs `body` and adds the path to a `KeysetLogError`. Other errors are thrown as they are.
    package static func naming<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as KeysetLogError {
            throw KeysetFileError(path, error)
        }
    }
}
