import PushCryptCore
import PushCryptFiles

/// The headers of a request to APNs, and APNs' answer.
struct RequestHeaders {
    private let members: [String: String]
    /// Whether there is a part of the request. If not, there is only the answer, which says nothing about the request.
    let hasRequest: Bool

    /// Reads a JSON object, or lines `name: value` as tools show them, such as `curl -v`.
    ///
    /// - Throws: `Failure` if the file is neither.
    init(file path: String) throws {
        let bytes = try FileSystem.readFile(path)
        guard let root = (try? JSONText(bytes))?.root, root.kind == .object else {
            let (lines, hasRequestLine) = Self.lines(String(decoding: bytes, as: UTF8.self))
            self.init(lines, hasRequest: hasRequestLine || lines.keys.contains(where: Self.isOfRequest))
            guard !hasRequest, members.isEmpty else { return }
            throw Failure(
                .dataError,
                "\(path) has no headers: write a JSON object such as {\"apns-topic\": \"com.example.app\", "
                    + "\"apns-push-type\": \"alert\", \":status\": 400, \"reason\": \"BadDeviceToken\"}, or lines "
                    + "name: value"
            )
        }
        try self.init(root, in: path)
        guard members.keys.contains(where: Self.isHeader) else {
            let isReport = root["keys"] != nil || root["statistics"] != nil
            throw Failure(
                .dataError,
                "\(path) isn't a request's headers: it has no member such as \"apns-topic\" or \":status\""
                    + (isReport ? "; it looks like a device's report, which --report reads" : ""))
        }
    }

    /// - Parameter source: the name of the input with the object.
    init(_ object: JSONValue, in source: String) throws {
        do throws(WrongKind) {
            let members = try Self.members(of: object)
            self.init(members, hasRequest: members.keys.contains(where: Self.isOfRequest))
        } catch {
            throw Failure(.dataError, "\(source): \(error.name) isn't a string, a number or an array of one string")
        }
    }

    private init(_ members: [String: String], hasRequest: Bool) {
        (self.members, self.hasRequest) = (members, hasRequest)
    }

    /// A header of a request to APNs or of its answer, in small letters.
    private static func isHeader(_ name: String) -> Bool {
        name.hasPrefix("apns-") || name.hasPrefix(":")
            || ["status", "reason", "authorization", "content-type", "content-length", "host"].contains(name)
    }

    /// A header that only the request has. APNs answers with `apns-id` and `apns-unique-id`.
    private static func isOfRequest(_ name: String) -> Bool {
        isHeader(name)
            && !["apns-id", "apns-unique-id", ":status", "status", "reason", "content-type", "content-length"].contains(
                name)
    }

    /// A header with a value of a wrong kind.
    struct WrongKind: Error { let name: String }

    /// The members of an object, and of its member `headers`. Some libraries write each header as an array of one string.
    static func members(of root: JSONValue) throws(WrongKind) -> [String: String] {
        var members: [String: String] = [:]
        for member in root.members {
            let name = member.name.lowercased()
            let elements = Array(member.value.elements)
            let value = elements.count == 1 ? elements[0] : member.value
            switch value.kind {
            case .string: members[name] = value.string
            case .number: members[name] = String(decoding: value.rawBytes, as: UTF8.self)
            case .null: break
            case .object where name == "headers": members.merge(try Self.members(of: value)) { $1 }
            default: if isHeader(name) { throw WrongKind(name: name) }
            }
        }
        return members
    }

    /// The headers for APNs in lines, the status in `HTTP/2 400`, and the reason in APNs' answer. Other lines are ignored.
    ///
    /// - Returns: also whether there is a line of a request, such as `POST /3/device/TOKEN HTTP/2` or its `host`.
    private static func lines(_ text: String) -> (members: [String: String], hasRequestLine: Bool) {
        var (members, hasRequestLine) = ([String: String](), false)
        for line in text.split(whereSeparator: \.isNewline) {
            // curl -v writes > before what it sends and < before what it receives.
            let line = line.drop { $0 == ">" || $0 == "<" || $0 == " " || $0 == "\t" }
            let start = line.lowercased()
            hasRequestLine = hasRequestLine || start.hasPrefix("post /") || start.hasPrefix("host:")
            if line.hasPrefix("{"), let end = line.lastIndex(of: "}") {
                // curl's next line may follow the answer, which has no line break at its end.
                let root = (try? JSONText(Array(line[...end].utf8)))?.root
                let found = root.flatMap { try? Self.members(of: $0) } ?? [:]
                members.merge(found.filter { isHeader($0.key) }) { $1 }
            } else if line.hasPrefix("HTTP/") {
                let parts = line.split(separator: " ")
                if parts.count > 1 { members[":status"] = String(parts[1]) }
            } else if let colon = line.dropFirst().firstIndex(of: ":") {
                let name = line[..<colon].lowercased()
                guard name.hasPrefix("apns-") || ["reason", "status", ":status"].contains(name) else { continue }
                let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
                members[name] = String(value).withoutOuterWhiteSpace
            }
        }
        return (members, hasRequestLine)
    }

    /// The value if it can't be content: it is short, and only has the characters of names, numbers and topics. White space
    /// before or after it is named, because it is invisible when it is printed.
    ///
    /// - Parameter limitInBytes: the longest value that is shown. Topics have up to 155 bytes.
    static func printable(_ value: String, limitInBytes: Int = 155) -> String {
        let name = value.withoutOuterWhiteSpace
        let isName = !name.isEmpty && name.utf8.allSatisfy { $0.isAlphanumeric || $0.isOne(of: ".-_") }
        guard isName, name.utf8.count <= limitInBytes else { return "a value of \(value.utf8.count) bytes" }
        let places = [value.hasPrefix(name) ? nil : "beginning", value.hasSuffix(name) ? nil : "end"].compactMap(\.self)
        return name + (places.isEmpty ? "" : ", with white space at the " + places.joined(separator: " and the "))
    }

    /// Headers are optional in APNs' documentation, except where a fault says otherwise.
    subscript(name: String) -> String? { members[name].flatMap { $0.isEmpty ? nil : $0 } }

    var topic: String? { self["apns-topic"] }
    var pushType: String? { self["apns-push-type"] }
    var expiration: Int64? { self["apns-expiration"].flatMap { Int64($0) } }
    var status: Int? { (self[":status"] ?? self["status"]).flatMap { Int($0) } }
    var reason: String? { self["reason"] }
}

extension String {
    /// Without spaces, line breaks and invisible characters at its beginning and end.
    var withoutOuterWhiteSpace: String {
        let scalars = unicodeScalars.drop { !$0.isVisible }
        guard let last = scalars.lastIndex(where: \.isVisible) else { return "" }
        return String(scalars[...last])
    }
}
