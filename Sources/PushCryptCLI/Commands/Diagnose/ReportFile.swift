import PushCryptCore
import PushCryptExtension
import PushCryptFiles

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads a device's report, and refuses what no device writes: findings from it would be false.
enum ReportFile {
    /// - Throws: `Failure` that names the member that is wrong; `FileError` if the file can't be read.
    static func read(_ path: String) throws -> DeviceReport {
        let bytes = try FileSystem.readFile(path)
        func refusal(_ reason: String) -> Failure { Failure(.dataError, "\(path) isn't a device's report: \(reason)") }
        let root: JSONValue
        do throws(JSONError) { root = try JSONText(bytes).root } catch { throw refusal("\(error)") }
        guard root.kind == .object else { throw refusal("it isn't a JSON object") }
        if let version = root["version"]?.protocolInteger, version != 1 {
            throw refusal("its version is \(version); this tool reads version 1")
        }
        let report: DeviceReport
        do { report = try DeviceReport(json: Data(bytes)) } catch let error as DecodingError {
            throw refusal(error.member)
        }
        if let reason = ImpossibleReport(report: report, root: root).reason { throw refusal(reason) }
        return report
    }
}

extension DecodingError {
    /// The member that can't be read, and why.
    fileprivate var member: String {
        func path(_ keys: [any CodingKey]) -> String {
            let text = keys.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
            return text.isEmpty ? "it" : String(text.trimmingPrefix("."))
        }
        return switch self {
        case .keyNotFound(let key, let context): "\(path(context.codingPath + [key])) is missing"
        case .valueNotFound(_, let context): "\(path(context.codingPath)) is null"
        case .typeMismatch(_, let context): "\(path(context.codingPath)) has another type than in a report"
        case .dataCorrupted(let context): "\(path(context.codingPath)) isn't valid"
        @unknown default: "a member isn't valid"
        }
    }
}

/// What a report can't contain, if a device wrote it.
private struct ImpossibleReport {
    let report: DeviceReport
    let root: JSONValue

    private static let keyStates: [String] =
        [KeyState.pending, .primary, .retiring, .expired, .revoked, .destroyed].map(\.description) + ["damaged"]

    /// The first impossible member; nil if there is none.
    var reason: String? {
        // An app without a bundle identifier reports an empty topic.
        if !report.topic.isEmpty, (try? Topic(report.topic)) == nil { return "topic isn't a bundle identifier" }
        if let reason = Self.time("time", report.time) ?? lastRun ?? statistics { return reason }
        if report.keys != nil, report.keyStorage != nil {
            return "it has both keys and keyStorage, which says that keys can't be read"
        }
        for (index, key) in (report.keys ?? []).enumerated() {
            if KeyID(key.kid) == nil { return "keys[\(index)].kid isn't the id of a key" }
            if let suite = key.suite, Suite(rawValue: suite) == nil { return "keys[\(index)].suite isn't 1, 2, 3 or 4" }
            if !Self.keyStates.contains(key.state) { return "keys[\(index)].state isn't the state of a key" }
        }
        if case .available? = report.store, root["store"]?.isString("available") == false {
            return "store is neither \"available\" nor an error"
        }
        guard let senders = report.senders else { return nil }
        guard [senders.kids != nil, senders.unsigned == true, senders.error != nil].count(where: \.self) == 1 else {
            return "senders has none of kids, unsigned and error, or several"
        }
        let failures = [FailureClass.unknownKey, .keyExpired, .keyRevoked].map(\.rawValue)
        let isValid =
            (senders.kids ?? []).allSatisfy { KeyID($0) != nil }
            && (senders.refused ?? [:]).allSatisfy { KeyID($0.key) != nil && failures.contains($0.value) }
        return isValid ? nil : "senders.kids or senders.refused has another form than in a report"
    }

    private static func time(_ name: String, _ seconds: Int64) -> String? {
        (0...4_102_444_800).contains(seconds) ? nil : "\(name) isn't in seconds between 1970 and 2100"
    }

    private var lastRun: String? {
        guard let run = report.extension else { return nil }
        return run.count < 1 ? "extension.count is below 1" : Self.time("extension.lastTime", run.lastTime)
    }

    private var statistics: String? {
        guard let statistics = report.statistics else { return nil }
        var counters = [("opened", statistics.opened), ("suppressed", statistics.suppressed)]
        counters += statistics.failures.sorted { $0.key < $1.key }.map { ("failures.\($0.key)", $0.value) }
        counters += statistics.stageFailures.enumerated().map { ("stageFailures[\($0)].counter", $1.counter) }
        if statistics.rebuildCount < 0 { return "statistics.rebuildCount is negative" }
        return counters.lazy.compactMap { name, value in value.flatMap { counter("statistics.\(name)", $0) } }.first
    }

    private func counter(_ name: String, _ counter: DeviceReport.Counter) -> String? {
        guard counter.recentCount >= 0, counter.recentCount <= counter.count else {
            return "\(name).recentCount isn't 0 to its count"
        }
        if let kid = counter.lastKid, KeyID(kid) == nil { return "\(name).lastKid isn't the id of a key" }
        return Self.time("\(name).lastTime", counter.lastTime)
    }
}

extension UnixTime {
    /// Seconds of a time of this century are fewer than this, and milliseconds are more.
    static let latestSeconds: Int64 = 100_000_000_000
}
