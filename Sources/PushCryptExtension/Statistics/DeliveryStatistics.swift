public import PushCryptCore
import PushCryptSQLite

/// The counters of the outcomes of pushes since the last reset.
public struct DeliveryStatistics: Hashable, Sendable {
    /// A count with the time and the key of the last counted push.
    public struct Counter: Hashable, Sendable {
        /// The number of pushes.
        public let count: Int
        /// The number of pushes since advice was last taken.
        public let recentCount: Int
        /// The time of the last push.
        public let lastTime: UnixTime
        /// The key that the last push names; nil if it couldn't be read.
        public let lastKid: KeyID?

        /// Creates a counter.
        public init(count: Int, recentCount: Int, lastTime: UnixTime, lastKid: KeyID? = nil) {
            self.count = count
            self.recentCount = recentCount
            self.lastTime = lastTime
            self.lastKid = lastKid
        }
    }

    /// Pushes that one version of the extension has handled.
    public struct Run: Hashable, Sendable {
        /// The version, ``ExtensionConfiguration/version``; empty if it has none.
        public let version: String
        /// How many pushes it has handled.
        public let count: Int
        /// The time of the last one.
        public let lastTime: UnixTime
    }

    /// The pushes whose text was restored; nil for none.
    public var opened: Counter?
    /// The failed pushes by class. A push that was restored without an attachment is also in `opened`. Custom classes after
    /// the first 32 are counted together as `other`.
    public var failures: [FailureClass: Counter] = [:]
    /// The failed stages by name and ending; those after the first 64 are counted together as `other`.
    public var stageFailures: [StageFailure: Counter] = [:]
    /// The pushes of which nothing was shown; they are also in `opened` or `failures`. nil for none.
    public var suppressed: Counter?
    /// The extension that handled the last push; nil if none ever did. A reset of the counters keeps it.
    public var lastRun: Run?
    /// The time of the last restored self-test.
    public var lastSelfTest: UnixTime?
    /// The time when the app last followed ``RecoveryAdvice``.
    public var lastAdviceTaken: UnixTime?
    /// How often a damaged store was replaced. Each time the counters and the memory of shown messages were lost.
    public var rebuildCount = 0

    /// Creates statistics without pushes.
    public init() {}
}

extension FailureClass {
    /// The class that counts the custom classes over the limit.
    public static let other = FailureClass(rawValue: "other")
}

extension Database {
    /// Counts the outcome of a push, within a transaction.
    func count(_ report: DeliveryReport) throws(SQLiteError) {
        let table = CounterTable(database: self, time: report.time, kid: report.kid)
        if report.isRestored { try table.count(.opened) }
        if report.isSuppressed { try table.count(.suppressed) }
        if let failure = report.failure { try table.count(.failure, failure.rawValue) }
        for stage in report.stageFailures { try table.count(.stage, stage.stage, stage.ending.description) }
        if let version = report.version { try table.countRun(of: version) }
        if report.isSelfTest, report.isRestored { try setMoment(.selfTest, report.time) }
    }
}

extension SharedStore {
    /// Reads all counters in one transaction. Throws `StoreError`.
    public func statistics() throws -> DeliveryStatistics {
        var statistics = try transaction { database throws(SQLiteError) in
            var statistics = DeliveryStatistics()
            let rows = try database.cursor("SELECT kind, name, ending, count, recent, time, kid FROM counter")
            while let row = try rows.next() { statistics.add(row) }
            statistics.lastSelfTest = try database.moment(.selfTest)
            statistics.lastAdviceTaken = try database.moment(.advice)
            return statistics
        }
        statistics.rebuildCount = try rebuildCount()
        return statistics
    }

    /// Sets all counters to zero, but not the times of the last self-test and advice or the number of rebuilds. Throws
    /// `StoreError`.
    public func resetStatistics() throws {
        try transaction { database throws(SQLiteError) in
            _ = try database.run("DELETE FROM counter WHERE kind <> ?", .integer(CounterTable.Kind.run.rawValue))
        }
    }

    /// Records that the app followed ``RecoveryAdvice``, which then returns only `unlock` for a day. Throws `StoreError`.
    public func adviceTaken(at time: UnixTime) throws {
        try transaction { database throws(SQLiteError) in
            try database.setMoment(.advice, time)
            try database.run("UPDATE counter SET recent = 0")
        }
    }
}

extension DeliveryStatistics {
    fileprivate mutating func add(_ row: Statement) {
        let name = row.text(1) ?? ""
        let counter = Counter(
            count: Int(clamping: row.integer(3) ?? 0), recentCount: Int(clamping: row.integer(4) ?? 0),
            lastTime: UnixTime(row.integer(5) ?? 0), lastKid: row.text(6).flatMap { KeyID($0) })
        switch row.integer(0).flatMap(CounterTable.Kind.init) {
        case .opened: opened = counter
        case .suppressed: suppressed = counter
        case .failure: failures[FailureClass(rawValue: name)] = counter
        case .stage:
            let ending = StageFailure.Ending(description: row.text(2) ?? "")
            stageFailures[StageFailure(stage: name, ending: ending)] = counter
        case .run: lastRun = Run(version: name, count: counter.count, lastTime: counter.lastTime)
        case nil: break
        }
    }
}

private enum Moment: String {
    case selfTest, advice
}

extension Database {
    fileprivate func moment(_ moment: Moment) throws(SQLiteError) -> UnixTime? {
        try integer("SELECT time FROM moment WHERE name = ?", .text(moment.rawValue)).map(UnixTime.init)
    }

    fileprivate func setMoment(_ moment: Moment, _ time: UnixTime) throws(SQLiteError) {
        try run(
            "INSERT OR REPLACE INTO moment (name, time) VALUES (?, ?)", .text(moment.rawValue), .integer(time.seconds))
    }
}

/// The counters, within a transaction. Their number is bounded because an app's code may choose the names.
struct CounterTable {
    enum Kind: Int64 {
        case opened = 0
        case failure = 1
        case stage = 2
        case suppressed = 3
        case run = 4

        /// How many names outside the protocol are counted.
        var limit: Int64 { self == .stage ? 64 : 32 }
    }

    static let nameByteLimit = 64
    /// The greatest count, so that a damaged number doesn't overflow.
    private static let countLimit: Int64 = 1 << 53

    let database: Database
    let time: UnixTime
    let kid: KeyID?

    func count(_ kind: Kind, _ name: String = "", _ ending: String = "") throws(SQLiteError) {
        let name = Self.shortened(name)
        let (key, end) = try hasRoom(kind, name, ending) ? (name, ending) : (FailureClass.other.rawValue, "")
        try database.run(
            """
            INSERT INTO counter (kind, name, ending, count, recent, time, kid) VALUES (?, ?, ?, 1, 1, ?, ?)
            ON CONFLICT (kind, name, ending) DO UPDATE SET
                count = min(max(count, 0), ?) + 1, recent = min(max(recent, 0), ?) + 1,
                time = excluded.time, kid = excluded.kid
            """, .integer(kind.rawValue), .text(key), .text(end), .integer(time.seconds), SQLiteValue(kid?.description),
            .integer(Self.countLimit), .integer(Self.countLimit))
    }

    /// Counts a push that the extension has handled. Only the last version is kept.
    func countRun(of version: String) throws(SQLiteError) {
        let isLast =
            try database.run(
                "UPDATE counter SET count = min(max(count, 0), ?) + 1, time = ? WHERE kind = ? AND name = ?",
                .integer(Self.countLimit), .integer(time.seconds), .integer(Kind.run.rawValue),
                .text(Self.shortened(version))) > 0
        guard !isLast else { return }
        try database.run("DELETE FROM counter WHERE kind = ?", .integer(Kind.run.rawValue))
        try count(.run, version)
    }

    private func hasRoom(_ kind: Kind, _ name: String, _ ending: String) throws(SQLiteError) -> Bool {
        if [.opened, .suppressed, .run].contains(kind)
            || kind == .failure && FailureClass.Defined(rawValue: name) != nil
        {
            return true
        }
        let known = try database.integer(
            "SELECT 1 FROM counter WHERE kind = ? AND name = ? AND ending = ?", .integer(kind.rawValue), .text(name),
            .text(ending))
        if known != nil { return true }
        let names = try database.rows("SELECT name FROM counter WHERE kind = ?", [.integer(kind.rawValue)]) {
            $0.text(0) ?? ""
        }
        return names.count { FailureClass.Defined(rawValue: $0) == nil } < kind.limit
    }

    private static func shortened(_ name: String) -> String {
        var short = Substring(name)
        while short.utf8.count > nameByteLimit { short.removeLast() }
        return String(short)
    }
}
