package import PushCryptCore
import PushCryptPrimitives

/// What a host has seen of a keyset.
///
/// ```
/// file = 1*(LINE LF) SEEN LF
/// SEEN = {"v": 1 [, "mac": B64(32)] [, "firstSeen": TIME] [, "lastRun": TIME] [, "status": N]}
/// ```
package struct KeysetHistory: Sendable {
    package let log: KeysetLog
    /// Of the keyset's file; nil for keys in clear.
    package let mac: [UInt8]?
    /// When the host saw the keyset for the first time; nil if it has made the keyset.
    package var firstSeen: UnixTime?
    /// When the host last ran `rotate` for the keyset; nil if no run was recorded.
    package var lastRun: UnixTime?
    /// The exit status of a run of `rotate`, 0 to 255; nil if none was recorded.
    package var lastStatus: Int?

    private static let statuses: ClosedRange<Int64> = 0...255
    /// Of the file, in bytes.
    static let maximumByteCount = KeysetLog.maximumByteCount + 1_024

    package init(
        _ log: KeysetLog, mac: [UInt8]?, firstSeen: UnixTime? = nil, lastRun: UnixTime? = nil, lastStatus: Int? = nil
    ) {
        self.log = log
        self.mac = mac
        self.firstSeen = firstSeen
        self.lastRun = lastRun
        self.lastStatus = lastStatus
    }

    /// - Parameter file: the text of the file.
    /// - Throws: `KeysetLogError`.
    package init(_ file: [UInt8]) throws {
        let (rows, last, row) = try KeysetLog.splittingLastRow(file)
        let reader = try RowReader(Array(last), row: row)
        guard try reader.number("v", in: 1...KeysetLine.maximumNumber) == 1 else {
            throw reader.error(.unsupportedVersion, "v")
        }
        try reader.allowOnly(["v", "mac", "firstSeen", "lastRun", "status"])
        mac = reader.has("mac") ? try reader.bytes("mac", count: HKDF.hashByteCount) : nil
        firstSeen = try reader.time(ifAny: "firstSeen")
        lastRun = try reader.time(ifAny: "lastRun")
        lastStatus = reader.has("status") ? Int(try reader.number("status", in: Self.statuses)) : nil
        log = try KeysetLog(Array(rows))
    }

    /// The text of the file.
    package var file: [UInt8] {
        var last = "{\"v\":1"
        if let mac { last += ",\"mac\":\"\(Base64URL.encode(mac))\"" }
        if let firstSeen { last += ",\"firstSeen\":\"\(firstSeen)\"" }
        if let lastRun { last += ",\"lastRun\":\"\(lastRun)\"" }
        if let lastStatus { last += ",\"status\":\(lastStatus)" }
        return log.bytes + Array((last + "}\n").utf8)
    }

    /// Whether the log is one of the keyset's.
    package func isAuthentic(_ key: HistoryKey?) -> Bool { mac == key?.mac(of: log) }
}
