import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOFoundationCompat

extension Request {
    /// The time from the head of a request to the end of its body.
    private static let bodyDeadline = Duration.seconds(10)

    /// Reads the body within limits.
    ///
    /// - Throws: `APIError` with 400, 408, 413, 415.
    func json(upTo limit: Int) async throws -> Data {
        guard headers[.contentType]?.split(separator: ";").first?.lowercased() == "application/json" else {
            throw APIError(.unsupportedMediaType, "unsupportedMediaType", "the body has to be application/json")
        }
        let body = body
        return try await within(Self.bodyDeadline) {
            do { return Data(buffer: try await body.collect(upTo: limit)) } catch is NIOTooManyBytesError {
                throw APIError(.contentTooLarge, "tooLarge", "the body has more than \(limit) bytes")
            } catch {
                throw APIError(.badRequest, "malformed", "the body breaks off")
            }
        }
    }
}

/// Ends a task after a time.
///
/// - Throws: `APIError` with 408; the error of the body.
func within<Value: Sendable>(
    _ deadline: Duration, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask(operation: body)
        group.addTask {
            try await Task.sleep(for: deadline)
            throw APIError(.requestTimeout, "timeout", "the body took too long")
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}

/// A body that is a JSON object with these members and no others. So a misspelt member is an error of the caller, and not a message
/// with the default.
protocol ClosedBody: Decodable {
    static var members: Set<String> { get }
}

extension ClosedBody {
    /// - Throws: `APIError` with 400, which quotes no value.
    init(json: Data) throws(APIError) {
        let names = try JSONObject(json).members.keys
        guard Self.members.isSuperset(of: names) else {
            let members = Self.members.sorted().joined(separator: ", ")
            throw APIError(.badRequest, "unknownMember", "the members of the body are \(members)")
        }
        do { self = try JSONDecoder().decode(Self.self, from: json) } catch let error as DecodingError {
            throw APIError(.badRequest, "malformed", error.summary)
        } catch { throw APIError(.badRequest, "malformed", "the body isn't a JSON object") }
    }
}

/// The members of a JSON object.
struct JSONObject {
    let members: [String: Any]

    /// - Throws: `APIError` with 400.
    init(_ json: Data) throws(APIError) {
        guard let members = try? JSONSerialization.jsonObject(with: json) as? [String: Any] else {
            throw APIError(.badRequest, "malformed", "the body isn't a JSON object")
        }
        self.members = members
    }

    /// A member as JSON, the same text for the same values; nil without it.
    subscript(name: String) -> Data? {
        members[name].flatMap {
            try? JSONSerialization.data(
                withJSONObject: $0, options: [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes])
        }
    }
}

extension DecodingError {
    /// Which member of the interface is wrong, without a value.
    fileprivate var summary: String {
        switch self {
        case .keyNotFound(let key, _): "the member \(key.stringValue) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            "the member \(context.codingPath.first?.stringValue ?? "") has another type or form than documented"
        @unknown default: "the body has another form than documented"
        }
    }
}
