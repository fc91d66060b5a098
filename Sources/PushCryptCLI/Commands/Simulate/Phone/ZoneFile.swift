import PushCryptCore
import PushCryptFiles
import PushCryptNotifications
import PushCryptSimulator

/// The calendar of a phone's user, with the time zones of this machine: Foundation's need a library that the tool doesn't link.
struct ZoneCalendar: NotificationCalendar {
    private static let folder = "/usr/share/zoneinfo/"

    private let zone: ZoneFile

    /// - Parameter name: the value of `--time-zone`, such as Europe/Zurich.
    /// - Throws: `Failure` if there is no such time zone.
    init(option name: String) throws {
        guard let zone = try Self.file(name) else {
            throw Failure(.usage, "--time-zone: there is no time zone \(name); a name is such as Europe/Zurich or UTC")
        }
        self.zone = zone
    }

    /// How many seconds local time is ahead of UTC.
    func offset(at time: UnixTime) -> Int64 { zone.offset(at: time) }

    func next(after time: UnixTime, matching match: CalendarMatch) throws -> UnixTime? {
        let named = try match.timeZone.map { name in
            guard let named = try Self.file(name) else { throw NotificationError.unknownTimeZone }
            return named
        }
        let zone = named ?? zone
        return LocalTime { zone.offset(at: $0) }.next(after: time, matching: match)
    }

    /// - Returns: nil for an unknown name.
    /// - Throws: `Failure` if this machine has no time zones.
    private static func file(_ name: String) throws -> ZoneFile? {
        if ["UTC", "GMT"].contains(name) { return .utc }
        let isPlain = name.utf8.allSatisfy { $0.isAlphanumeric || $0.isOne(of: "/_+-") }
        guard isPlain, name.utf8.first?.isAlphanumeric == true else { return nil }
        guard FileSystem.isFolder(folder) else {
            throw Failure(.noInput, "this machine has no time zones in \(folder): install tzdata")
        }
        return (try? FileSystem.readFoundFile(folder + name)).flatMap { ZoneFile($0) }
    }
}

/// A time zone in TZif, version 2 or later: RFC 9636. All numbers are big-endian.
///
/// ```
/// file   = header(4-byte times) block header(8-byte times) block footer
/// header = "TZif" version 15*OCTET isutcnt isstdcnt leapcnt timecnt typecnt charcnt    (44 bytes; each count has 4)
/// block  = *time *index *(offset isdst abbreviation) *character *(time correction) *isstd *isut
/// footer = LF [rule] LF                                                                 (for the times after the last one)
/// ```
struct ZoneFile {
    static let utc = ZoneFile(transitions: [], first: 0, rule: nil)

    private let transitions: [(time: Int64, offset: Int64)]
    private let first: Int64
    private let rule: ZoneRule?

    private init(transitions: [(time: Int64, offset: Int64)], first: Int64, rule: ZoneRule?) {
        (self.transitions, self.first, self.rule) = (transitions, first, rule)
    }

    /// - Returns: nil unless the bytes are such a file.
    init?(_ bytes: [UInt8]) {
        guard let old = Header(bytes, at: 0), old.version >= UInt8(ascii: "2") else { return nil }
        let second = Header.byteCount + old.blockByteCount(timeByteCount: 4)
        guard let header = Header(bytes, at: second) else { return nil }
        let times = second + Header.byteCount
        let end = times + header.blockByteCount(timeByteCount: 8)
        let types = times + header.timeCount * 9
        guard header.typeCount > 0, end < bytes.count, bytes[end] == UInt8(ascii: "\n") else { return nil }
        let offsets = (0..<header.typeCount).map { Int64(Int32(truncatingIfNeeded: bytes.number(types + $0 * 6, 4))) }
        let indexes = bytes[(times + header.timeCount * 8)..<types].map(Int.init)
        guard indexes.allSatisfy(offsets.indices.contains) else { return nil }
        let footer = bytes[(end + 1)...].prefix { $0 != UInt8(ascii: "\n") }
        self.init(
            transitions: indexes.enumerated().map { (bytes.number(times + $0 * 8, 8), offsets[$1]) }, first: offsets[0],
            rule: ZoneRule(String(decoding: footer, as: UTF8.self)))
    }

    /// How many seconds local time is ahead of UTC.
    func offset(at time: UnixTime) -> Int64 {
        if let rule, time.seconds >= transitions.last?.time ?? .min { return rule.offset(at: time.seconds) }
        return transitions.last { $0.time <= time.seconds }?.offset ?? first
    }

    private struct Header {
        static let byteCount = 44

        let version: UInt8
        private let counts: [Int]

        init?(_ bytes: [UInt8], at start: Int) {
            guard bytes.count >= start + Self.byteCount, bytes[start..<start + 4].elementsEqual("TZif".utf8) else {
                return nil
            }
            version = bytes[start + 4]
            counts = (0..<6).map { Int(bytes.number(start + 20 + $0 * 4, 4)) }
        }

        var timeCount: Int { counts[3] }
        var typeCount: Int { counts[4] }

        func blockByteCount(timeByteCount: Int) -> Int {
            counts[0] + counts[1] + counts[2] * (timeByteCount + 4) + timeCount * (timeByteCount + 1) + typeCount * 6
                + counts[5]
        }
    }
}

extension [UInt8] {
    fileprivate func number(_ start: Int, _ byteCount: Int) -> Int64 {
        Int64(truncatingIfNeeded: self[start..<start + byteCount].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
