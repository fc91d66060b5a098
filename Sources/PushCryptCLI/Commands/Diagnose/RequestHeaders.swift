import PushCryptCore
import PushCryptFiles

/// The headers of a request to APNs, and APNs' answer.
struct RequestHeaders {
    private let members: [String: String]

    /// - Throws: `Failure` if the file isn't a JSON object of strings and numbers.
    init(file path: String) throws {
        let root: JSONValue
        do { root = try JSONText(FileSystem.readFile(path)).root } catch let error as JSONError {
            throw Failure(.dataError, "\(path): \(error)")
        }
        guard root.kind == .object else {
            throw Failure(.dataError, "\(path) is not a JSON object with the headers of the request")
        }
        var members: [String: String] = [:]
        for member in root.members {
            switch member.value.kind {
            case .string: members[member.name.lowercased()] = member.value.string
            case .number: members[member.name.lowercased()] = String(decoding: member.value.rawBytes, as: UTF8.self)
            default: break
            }
        }
        self.members = members
    }

    /// Headers are optional in APNs' documentation, except where a fault says otherwise.
    subscript(name: String) -> String? { members[name].flatMap { $0.isEmpty ? nil : $0 } }

    var topic: String? { self["apns-topic"] }
    var pushType: String? { self["apns-push-type"] }
    var priority: String? { self["apns-priority"] }
    var expiration: Int64? { self["apns-expiration"].flatMap { Int64($0) } }
    var collapseID: String? { self["apns-collapse-id"] }
    var status: Int? { (self[":status"] ?? self["status"]).flatMap { Int($0) } }
    var reason: String? { self["reason"] }
}
