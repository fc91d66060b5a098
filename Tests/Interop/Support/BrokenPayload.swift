import PushCryptCore
import PushCryptExtension
import PushCryptTestSupport

/// A changed payload and its failure class in the protocol; nil if it is still valid.
struct BrokenPayload: Sendable, CustomStringConvertible {
    let description: String
    let bytes: [UInt8]
    let failure: FailureClass?

    /// Raw JSON of each member; nil leaves it out.
    struct Fields: Sendable {
        var v: String? = "1"
        var kid: String?
        var sealed: String?
        var skid: String?
        var alert: String? = #"{"title":"New message"}"#
        var mutableContent: String? = "1"
        /// Text before the last `}` of the payload, of `pushcrypt` and of `aps`.
        var extra = ""
        var extraInPushcrypt = ""
        var extraInAps = ""

        /// The fields of a payload of the reference.
        init(_ channel: Channel) {
            let vectors = ReferenceVectors.shared.opened
            let name = channel.isSigned ? channel.description : "\(channel), unsigned"
            guard let payload = vectors.first(where: { $0.name == name })?.payload,
                let envelope = try? JSONText(Array(payload.utf8)).root["pushcrypt"]
            else { preconditionFailure("no payload is named \(name)") }
            func raw(_ member: String) -> String? {
                envelope[member].map { String(decoding: $0.rawBytes, as: UTF8.self) }
            }
            (kid, sealed, skid) = (raw("kid"), raw("sealed"), raw("skid"))
        }

        var json: String {
            let envelope = Self.object([("v", v), ("kid", kid), ("sealed", sealed), ("skid", skid)], extraInPushcrypt)
            let aps = Self.object([("alert", alert), ("mutable-content", mutableContent)], extraInAps)
            return Self.object([("aps", aps), ("pushcrypt", envelope)], extra)
        }

        private static func object(_ members: [(String, String?)], _ extra: String) -> String {
            let texts = members.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
            return "{" + texts.joined(separator: ",") + extra + "}"
        }
    }

    init(_ description: String, _ bytes: [UInt8], _ failure: FailureClass?) {
        (self.description, self.bytes, self.failure) = (description, bytes, failure)
    }

    private static let wrongTypes = ["null", "true", "5", "[]", "{}", #"["a"]"#, #"{"a":"b"}"#]

    static func all(_ channel: Channel) -> [BrokenPayload] {
        members(channel) + keyIDs(channel) + texts(channel) + roots(channel)
    }

    /// Each member missing, of another type, and with other values.
    private static func members(_ channel: Channel) -> [BrokenPayload] {
        var table: [BrokenPayload] = []
        func add(
            _ member: WritableKeyPath<Fields, String?>, _ name: String, _ values: [String?], _ failure: FailureClass?
        ) {
            for value in values {
                var fields = Fields(channel)
                fields[keyPath: member] = value
                table.append(BrokenPayload("\(name) \(value ?? "missing")", Array(fields.json.utf8), failure))
            }
        }
        let numbers = ["1.0", "1e0", "-1", "-0", "01", "+1", "9007199254740992", "100000000000000000000"]
        add(\.v, "v", [nil, "null", "true", "\"1\"", "\"\"", "[1]", "{}"] + numbers, .malformed)
        add(\.v, "v", ["0", "2", "10", "9007199254740991"], .unsupportedVersion)
        add(\.sealed, "sealed", [nil, "\"\"", "\"A\"", "\"AB\"", "\"AA==\"", "\"A A\"", "\"AA+A\""], .malformed)
        add(\.sealed, "sealed", wrongTypes + ["\"AA\\n\"", "\"AAé\"", "\"AAAAA\""], .malformed)
        add(\.sealed, "sealed", ["\"AA\"", "\"AAAA\"", "\"\(String(repeating: "A", count: 400))\""], .undecryptable)
        add(\.alert, "alert", [nil, "\"\"", #"{"title":""}"#, #"{"title":1}"#] + wrongTypes, .malformed)
        add(\.alert, "alert", ["\"x\"", #"{"loc-key":"x"}"#, #"{"title-loc-key":"x"}"#, #"{"subtitle":"x"}"#], nil)
        add(\.alert, "alert", [#"{"subtitle-loc-key":"x"}"#, #"{"launch-image":"x"}"#], .malformed)
        let notOne = [nil, "0", "2", "\"1\""] + wrongTypes + numbers
        add(\.mutableContent, "mutable-content", notOne, .malformed)
        return table
    }

    private static func keyIDs(_ channel: Channel) -> [BrokenPayload] {
        let kid = Fields(channel).kid ?? ""
        // The last of 11 characters holds two bits that belong to no byte.
        let trailingBit = String(kid.dropLast(2)) + "B\""
        let wrong: [String?] = [
            "\"\"", "\"AAAAAAAAAA\"", "\"AAAAAAAAAAAA\"", "\"AAAAAAAAAAB\"", "\"AAAAAAAAAA=\"", "\"AAAAAAAAA+A\"",
            "\" AAAAAAAAAA\"", "\"AAAAAAAAAA\\u0000\"", "\"AAAAAAAAA\\u00e9\"", trailingBit,
        ]
        let escaped = "\"\\u00\(hex(kid))\(kid.dropFirst(2))"
        let cases: [(String?, FailureClass?)] =
            (wrong + wrongTypes).map { ($0, .malformed) } + [("\"AAAAAAAAAAA\"", .unknownKey)]
        let kids = (cases + [(nil, .malformed), (escaped, nil)]).map { value, failure in
            var fields = Fields(channel)
            fields.kid = value
            return BrokenPayload("kid \(value ?? "missing")", Array(fields.json.utf8), failure)
        }
        let stripped: FailureClass? = channel.isSigned ? .undecryptable : nil
        let skids = (cases + [(nil, stripped)]).map { value, failure in
            var fields = Fields(channel)
            fields.skid = value
            return BrokenPayload("skid \(value ?? "missing")", Array(fields.json.utf8), failure)
        }
        return kids + skids
    }

    /// The first character of a JSON string in two hex digits.
    private static func hex(_ string: String) -> String {
        String(string.utf8.dropFirst().first ?? 0, radix: 16)
    }
}
