import PushCryptCore

/// Reads one payload, which may be indented, or a payload on each line.
///
/// ```
/// input = json / *( line LF )
/// line  = payload / '{"payload": <payload>, <others>}' / empty
/// ```
/// The second form is what `seal --batch` writes.
final class PayloadReader {
    private let lines: LineReader
    private var waiting: [[UInt8]]

    init() throws {
        lines = try LineReader("-", limitInBytes: Self.limitInBytes)
        waiting = []
        // A payload on several lines has a first line that isn't JSON.
        var whole: [UInt8] = []
        while whole.count <= Self.limitInBytes, let line = try lines.next() {
            waiting.append(line)
            whole += (whole.isEmpty ? [] : [.newline]) + line
            if waiting.count == 1, (try? JSONText(line)) != nil { return }
        }
        if waiting.count > 1, (try? JSONText(whole)) != nil { waiting = [whole] }
    }

    /// The next payload; nil after the last one.
    func next() throws -> [UInt8]? {
        while true {
            let line = try waiting.isEmpty ? lines.next() : waiting.removeFirst()
            guard let line else { return nil }
            if !line.isEmpty { return Self.payload(in: line) }
        }
    }

    private static func payload(in line: [UInt8]) -> [UInt8] {
        guard let root = (try? JSONText(line))?.root, root["aps"] == nil, let payload = root["payload"] else {
            return line
        }
        return Array(payload.rawBytes)
    }

    /// Sixteen times the limit of APNs.
    private static let limitInBytes = 65_536
}
