import PushCryptCore
import PushCryptFiles

/// Reads one payload, which may be indented, or a payload on each line.
///
/// ```
/// input = json / *( line LF )
/// line  = payload / '{"payload": <payload>, ["headers": <object>,] ["topic": <text>,] <others>}' / empty
/// ```
/// A line that isn't JSON is a payload, which APNs refuses. The second form is what `seal --batch` writes, and a request to APNs
/// with its headers, or with only their `apns-topic`.
final class PayloadReader {
    struct Input {
        /// The number of the line, from 1; empty lines count.
        let line: Int
        let payload: [UInt8]
        /// The members beside the payload that name its receiver.
        var origin: [(name: String, value: String)] = []
        /// The headers of the request to APNs, with names in lower case. Those of an alert for the app are used for the others.
        var headers: [String: String] = [:]
    }

    /// The members of a line with a payload that have an effect here. A queue may have others.
    private static let lineMembers = ["payload", "headers", "topic"]

    /// The members of a line that are repeated in the output.
    static let originMembers = ["id", "token", "device", "to", "tag"]

    private let lines: InputLines
    private let name: String
    private var waiting: [[UInt8]]
    private var lineNumber = 0

    init(_ input: PayloadInput) throws {
        name = input.name
        lines = try InputLines(input.path, limitInBytes: Self.limitInBytes)
        waiting = []
        // A payload on several lines has a first line that isn't JSON.
        var whole: [UInt8] = []
        while whole.count <= Self.limitInBytes, let line = try lines.next() {
            waiting.append(Array(line.bytes))
            whole += (whole.isEmpty ? [] : [.newline]) + line.raw
            if waiting.count == 1, Self.isJSON(waiting[0]) { return }
        }
        guard whole.count <= Self.limitInBytes else { return }
        try KeyFile.refuseContainer(whole, in: name)
        guard waiting.count > 1 else { return }
        guard !hasMore(whole) else {
            throw Failure(
                .dataError,
                "\(name) has several payloads, and one is on several lines: put each on a line of its own, such as with jq -c ."
            )
        }
        // A payload with a syntax error is one payload too, so that the reported place counts from its beginning.
        guard Self.isJSON(whole) || whole.first == UInt8(ascii: "{") && !waiting.contains(where: Self.isJSON) else {
            return
        }
        lineNumber = waiting.prefix { $0.isEmpty }.count
        waiting = [whole]
    }

    /// The next payload; nil after the last one.
    func next() throws -> Input? {
        while true {
            let line = try waiting.isEmpty ? lines.next().map { Array($0.bytes) } : waiting.removeFirst()
            guard let line else { return nil }
            lineNumber += 1
            guard !line.isEmpty else { continue }
            let root = try? JSONText(line).root
            // A line may have the recipient's key beside its payload.
            try KeyFile.refuse(root?["payload"].map { Array($0.rawBytes) } ?? line, in: "\(name), line \(lineNumber),")
            return try input(in: line, root, lineNumber)
        }
    }

    /// Whether a payload on several lines is followed by more. No line of a file of lines is only a brace.
    private func hasMore(_ whole: [UInt8]) -> Bool {
        guard waiting.first(where: { !$0.isEmpty }) == [UInt8(ascii: "{")] else { return false }
        do {
            _ = try JSONText(whole)
            return false
        } catch {
            return error.code == .trailingBytes
        }
    }

    private static func isJSON(_ line: [UInt8]) -> Bool { (try? JSONText(line)) != nil }

    private func input(in line: [UInt8], _ root: JSONValue?, _ number: Int) throws -> Input {
        guard let root, root["aps"] == nil, let payload = root["payload"] else {
            return Input(line: number, payload: line)
        }
        for name in root.members.map(\.name) where !Self.lineMembers.contains(name) {
            guard let meant = Spelling.nearest(to: name, in: Self.lineMembers), root[meant] == nil else { continue }
            throw Failure(.dataError, "\(self.name), line \(number): \(name) isn't a member: do you mean \(meant)?")
        }
        let origin = Self.originMembers.compactMap { name in root[name]?.string.map { (name, $0) } }
        return Input(
            line: number, payload: Array(payload.rawBytes), origin: origin,
            headers: try headers(of: root, number))
    }

    /// Refuses what would have no effect, so that no push is received as another one than was sent.
    private func headers(of line: JSONValue, _ number: Int) throws -> [String: String] {
        func refused(_ reason: String) -> Failure { Failure(.dataError, "\(name), line \(number): \(reason)") }
        var headers: [String: String] = [:]
        if let object = line["headers"] {
            guard object.kind == .object else { throw refused("headers isn't an object of names and values") }
            do throws(RequestHeaders.WrongKind) { headers = try RequestHeaders.members(of: object) } catch {
                throw refused("\(error.name) isn't a string, a number or an array of one string")
            }
        }
        if let unknown = headers.keys.sorted().first(where: { $0.hasPrefix("apns") && !Self.headerNames.contains($0) })
        {
            throw refused("\(unknown) isn't a header of a request to APNs")
        }
        headers["apns-topic"] = headers["apns-topic"] ?? line["topic"]?.string
        return headers
    }

    private static let headerNames = [
        "apns-topic", "apns-push-type", "apns-collapse-id", "apns-expiration", "apns-priority", "apns-id",
    ]

    /// Sixteen times the limit of APNs.
    private static let limitInBytes = 65_536
}
