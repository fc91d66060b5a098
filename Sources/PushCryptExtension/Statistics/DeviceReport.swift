public import PushCryptCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What an app knows about its pushes on this device, for people who look for a fault: `pushcrypt diagnose --report`.
///
/// It contains ids of keys, counters, times and errors, but no key, no psk and no content. Let the user send it with a request
/// for help, or upload it when ``RecoveryAdvice`` names a step.
///
/// ```
/// {"version": 1, "topic": TOPIC, "time": SECONDS,
///  "keys": [{"kid", "suite": 1 | 2 | 4, "hasPSK", "state": KeyState | "damaged"}] or "keyStorage": ERROR,
///  ["extension": {"version", "count", "lastTime": SECONDS}],
///  "senders": {"kids": [KID], "refused": {KID: FailureClass}, ["sequence"]} or {"unsigned": true} or ERROR,
///  ["allowsAlerts": Bool], "store": "available" or ERROR, "statistics": {"opened": COUNTER, "failures": {FailureClass: COUNTER}, ...}}
/// ERROR    {"error": CODE, "reason": TEXT}
/// COUNTER  {"count", "recentCount", "lastTime": SECONDS, ["lastKid"]}
/// ```
/// Times are seconds since 1970 by the device's clock.
public struct DeviceReport: Codable, Hashable, Sendable {
    package var version = 1
    package var topic: String
    package var time: Int64
    package var keys: [Key]?
    package var keyStorage: Failure?
    package var senders: Senders?
    package var store: Store?
    package var statistics: Statistics?
    /// Which extension handled the last push, and when; nil if none ever did, or if the store can't be read.
    package var `extension`: Run?
    /// Whether the user allows the app's alerts: `NotificationSettings.showsAlerts`. The system runs no extension if not. nil if the
    /// app doesn't know; then it isn't in the report.
    public var allowsAlerts: Bool?

    /// Makes the report of this device. What can't be read is in the report as an error, because that is evidence too.
    ///
    /// - Parameters:
    ///   - topic: the app's bundle identifier, as the extension uses it.
    ///   - keys: the device's keys.
    ///   - senders: whose pushes the extension opens.
    ///   - store: the extension's counters; nil for an app without a store.
    ///   - time: the device's clock.
    public init(
        topic: String, keys storage: any DeviceKeyStorage, senders: SenderTrust, store: SharedStore?,
        at time: UnixTime = .now
    ) {
        self.topic = topic
        self.time = time.seconds
        do throws(DeviceKeyError) { keys = try Self.keys(in: storage, at: time) } catch {
            keyStorage = Failure(error.code.name, error.reason)
        }
        self.senders = senders.report(at: time)
        guard let store else { return }
        do {
            let statistics = try store.statistics()
            (self.statistics, `extension`) = (Statistics(statistics), statistics.lastRun.map(Run.init))
            self.store = .available
        } catch {
            let code = (error as? StoreError)?.code.name
            self.store = .failed(Failure(code ?? "failed", (error as? StoreError)?.reason ?? "\(error)"))
        }
    }

    /// Makes the report of a device on which neither keys nor store can be found, for example because the running target has no
    /// entitlement for the app group.
    ///
    /// - Parameters:
    ///   - code: the kind of failure, such as `notEntitled`.
    ///   - reason: what failed, without secrets.
    public init(topic: String, unavailable code: String, reason: String, at time: UnixTime = .now) {
        self.topic = topic
        self.time = time.seconds
        keyStorage = Failure(code, reason)
        store = .failed(Failure(code, reason))
    }

    /// Reads a report.
    ///
    /// - Throws: `DecodingError` if the JSON isn't a report.
    public init(json: Data) throws { self = try JSONDecoder().decode(DeviceReport.self, from: json) }

    /// The report as JSON, UTF-8.
    ///
    /// - Throws: `EncodingError`, which no report causes.
    public func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}

extension DeviceReport {
    package struct Key: Codable, Hashable, Sendable {
        package var kid: String
        /// nil for a damaged key.
        package var suite: UInt8?
        package var hasPSK: Bool
        package var state: String
    }

    /// Why something can't be read.
    package struct Failure: Codable, Hashable, Sendable {
        package var error: String
        package var reason: String

        init(_ error: String, _ reason: String) {
            self.error = error
            self.reason = reason
        }
    }

    /// All members are nil but those of one case, see the format above.
    package struct Senders: Codable, Hashable, Sendable {
        package var kids: [String]?
        package var refused: [String: String]?
        package var sequence: Int64?
        package var unsigned: Bool?
        package var error: String?
        package var reason: String?
    }

    package enum Store: Hashable, Sendable {
        case available
        case failed(Failure)
    }

    package struct Counter: Codable, Hashable, Sendable {
        package var count: Int
        package var recentCount: Int
        package var lastTime: Int64
        package var lastKid: String?
    }

    package struct Run: Codable, Hashable, Sendable {
        package var version: String
        package var count: Int
        package var lastTime: Int64

        init(_ run: DeliveryStatistics.Run) {
            (version, count, lastTime) = (run.version, run.count, run.lastTime.seconds)
        }
    }

    package struct StageCounter: Codable, Hashable, Sendable {
        package var stage: String
        package var ending: String
        package var counter: Counter
    }

    package struct Statistics: Codable, Hashable, Sendable {
        package var opened: Counter?
        package var suppressed: Counter?
        package var failures: [String: Counter]
        package var stageFailures: [StageCounter]
        package var lastSelfTest: Int64?
        package var lastAdviceTaken: Int64?
        package var rebuildCount: Int
    }

    private static func keys(in storage: any DeviceKeyStorage, at time: UnixTime) throws(DeviceKeyError) -> [Key] {
        let timelines = try DeviceKeyTimelines(storage)
        var keys: [Key] = []
        for kid in try storage.keyIDs() {
            do throws(DeviceKeyError) {
                let record = try storage.load(kid).record
                let state = timelines.pairs.state(of: kid, at: time) ?? timelines.adopted.state(of: kid, at: time)
                keys.append(
                    Key(
                        kid: kid.description, suite: record.algorithm.suite?.rawValue, hasPSK: record.hasPSK,
                        state: state?.description ?? KeyState.expired.description))
            } catch  where error.code == .damaged {
                keys.append(Key(kid: kid.description, suite: nil, hasPSK: false, state: "damaged"))
            } catch  where error.code == .notFound {}
        }
        return keys
    }
}

extension DeviceReport.Store: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = (try? container.decode(DeviceReport.Failure.self)).map(Self.failed) ?? .available
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .available: try container.encode("available")
        case .failed(let failure): try container.encode(failure)
        }
    }
}

extension DeviceReport.Statistics {
    fileprivate init(_ statistics: DeliveryStatistics) {
        opened = statistics.opened.map(DeviceReport.Counter.init)
        suppressed = statistics.suppressed.map(DeviceReport.Counter.init)
        failures = Dictionary(
            uniqueKeysWithValues: statistics.failures.map { ($0.key.rawValue, DeviceReport.Counter($0.value)) })
        stageFailures = statistics.stageFailures.map { failure, counter in
            .init(stage: failure.stage, ending: failure.ending.description, counter: .init(counter))
        }.sorted { ($0.stage, $0.ending) < ($1.stage, $1.ending) }
        lastSelfTest = statistics.lastSelfTest?.seconds
        lastAdviceTaken = statistics.lastAdviceTaken?.seconds
        rebuildCount = statistics.rebuildCount
    }
}

extension DeviceReport.Counter {
    fileprivate init(_ counter: DeliveryStatistics.Counter) {
        self.init(
            count: counter.count, recentCount: counter.recentCount, lastTime: counter.lastTime.seconds,
            lastKid: counter.lastKid?.description)
    }
}

extension DeviceReport.Senders {
    /// - Parameter trusted: nil if unsigned pushes are opened.
    init(_ trusted: TrustedSenders?, at time: UnixTime) {
        guard let trusted else {
            unsigned = true
            return
        }
        kids = []
        refused = [:]
        sequence = trusted.sequence
        for kid in trusted.keyIDs {
            do throws(FailureClass) {
                _ = try trusted.verificationKey(kid, at: time)
                kids?.append(kid.description)
            } catch {
                refused?[kid.description] = error.rawValue
            }
        }
    }

    init(_ failure: FailureClass) {
        error = failure.rawValue
        reason =
            failure == .keyLocked
            ? "the sender keys can't be read: the device wasn't unlocked since its start"
            : "no usable set of sender keys is stored"
    }
}
