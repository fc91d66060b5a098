public import PushCryptCore
import PushCryptSQLite

extension SharedStore: DeliveryReporter {
    /// Counts what became of a push. Where the store can't be used, it isn't counted.
    public func report(_ report: DeliveryReport) {
        _ = try? transaction { database throws(SQLiteError) in
            let table = CounterTable(database: database)
            if report.isRestored { try table.count(.opened, at: report.time, kid: report.kid) }
            if let failure = report.failure {
                try table.count(.failure, failure.rawValue, at: report.time, kid: report.kid)
            }
            for stage in report.stageFailures {
                try table.count(.stage, stage.stage, stage.ending.description, at: report.time, kid: report.kid)
            }
            if report.isSelfTest, report.isRestored { try database.setMoment(.selfTest, report.time) }
        }
    }
}

extension SharedStore {
    /// All counters, as they were at one moment.
    ///
    /// - Throws: `StoreError`.
    public func statistics() throws -> DeliveryStatistics {
        var statistics = try transaction { database throws(SQLiteError) in
            var statistics = DeliveryStatistics()
            for row in try CounterTable(database: database).rows() { statistics.take(row) }
            statistics.lastSelfTest = try database.moment(.selfTest)
            statistics.lastAdviceTaken = try database.moment(.advice)
            return statistics
        }
        statistics.rebuildCount = try rebuildCount()
        return statistics
    }

    /// Sets all counters to zero. The times of the last self-test and of the last advice stay, as does the number of
    /// rebuilds.
    ///
    /// - Throws: `StoreError`.
    public func resetStatistics() throws {
        try perform { database throws(SQLiteError) in
            _ = try database.run("DELETE FROM counter")
        }
    }

    /// The app did what ``RecoveryAdvice`` says; for a day it gives none of the kind that anybody can cause.
    ///
    /// - Throws: `StoreError`.
    public func adviceTaken(at time: UnixTime) throws {
        try transaction { database throws(SQLiteError) in
            try database.setMoment(.advice, time)
            try database.run("UPDATE counter SET recent = 0")
        }
    }
}

extension DeliveryStatistics {
    fileprivate mutating func take(_ row: CounterTable.Row) {
        switch row.kind {
        case .opened: opened = row.counter
        case .failure: failures[FailureClass(rawValue: row.name)] = row.counter
        case .stage:
            let ending = StageFailure.Ending(description: row.ending)
            stageFailures[StageFailure(stage: row.name, ending: ending)] = row.counter
        case nil: break
        }
    }
}

private enum Moment: String {
    case selfTest, advice
}

extension Database {
    fileprivate func moment(_ moment: Moment) throws(SQLiteError) -> UnixTime? {
        let time = try first("SELECT time FROM moment WHERE name = ?", .text(moment.rawValue)) { $0.integer(0) ?? 0 }
        return time.map(UnixTime.init)
    }

    fileprivate func setMoment(_ moment: Moment, _ time: UnixTime) throws(SQLiteError) {
        try run(
            "INSERT OR REPLACE INTO moment (name, time) VALUES (?, ?)", .text(moment.rawValue), .integer(time.seconds))
    }
}
