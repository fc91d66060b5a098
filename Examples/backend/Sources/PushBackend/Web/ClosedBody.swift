import Foundation
import HTTPTypes

/// The body of a request: a JSON object with these members and no others. So a misspelt member is an error of the caller, and not
/// a message with the default.
protocol ClosedBody: Decodable, Sendable {
    static var members: [String] { get }
}

extension StrictJSON {
    /// - Throws: `APIError` with 400, which names a member that isn't one of the body's.
    func requireMembers(of body: (some ClosedBody).Type) throws(APIError) {
        guard let unknown = root.members.map(\.name).first(where: { !body.members.contains($0) }) else { return }
        guard unknown.isName else {
            throw APIError(
                .badRequest, "unknownMember", "the members of the body are \(body.members.joined(separator: ", "))")
        }
        let nearest = body.members.min { unknown.distance(to: $0) < unknown.distance(to: $1) }
        let advice = nearest.flatMap { unknown.distance(to: $0) <= 2 ? "; did you mean \($0)?" : nil }
        throw APIError(
            .badRequest, "unknownMember",
            "the body has no member \(unknown)"
                + (advice ?? "; its members are \(body.members.joined(separator: ", "))"))
    }
}

extension String {
    /// How many characters have to be added, removed or replaced, apart from their case.
    fileprivate func distance(to other: String) -> Int {
        let (own, other) = (Array(lowercased()), Array(other.lowercased()))
        var row = Array(0...other.count)
        for (line, character) in own.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for (column, counterpart) in other.enumerated() {
                let replaced = diagonal + (character == counterpart ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = Swift.min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[other.count]
    }
}

extension APIError {
    /// What a body lacks. It names members of the interface, and quotes no value.
    init(_ error: DecodingError) {
        let (path, cause): ([any CodingKey], String) =
            switch error {
            case .keyNotFound(let key, let context): (context.codingPath + [key], "is missing")
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                (context.codingPath, "has another type or form than documented")
            @unknown default: ([], "")
            }
        let name = path.map { $0.intValue.map { "\($0)" } ?? $0.stringValue }.filter(\.isName).joined(separator: ".")
        self.init(
            .badRequest, "malformed", name.isEmpty ? "the body isn't a JSON object" : "the member \(name) \(cause)")
    }

    init(_ flaw: StrictJSON.Flaw) {
        self.init(.badRequest, "malformed", "the body isn't JSON: \(flaw.reason), at byte \(flaw.byte)")
    }
}
