import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

extension DiagnosePayloadTests {
    /// A relay that changes what the sealer made, and the fault that it causes.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fault: String
        let apply: @Sendable (Data) throws -> Data

        init(_ description: String, _ fault: String, _ apply: @escaping @Sendable (Data) throws -> Data) {
            (testDescription, self.fault, self.apply) = (description, fault, apply)
        }
    }

    static let changes: [Change] = [
        Change("empty", "payload-empty") { _ in Data() },
        Change("the answer of APNs", "payload-is-answer") { _ in Data(#"{"reason":"BadDeviceToken"}"#.utf8) },
        Change("the answer of APNs with its time", "payload-is-answer") { _ in
            Data(#"{"reason":"Unregistered","timestamp":1800000000000}"#.utf8)
        },
        Change("mutable-content 0", "mutable-content-missing") { payload in
            try Relay.changing(payload, "aps") { $0["mutable-content"] = 0 }
        },
        Change("cut after 255 bytes", "payload-truncated") { $0.prefix(255) },
        Change("printed by Python", "payload-not-json") { payload in
            Data(String(decoding: payload, as: UTF8.self).replacing("\"", with: "'").utf8)
        },
        Change("UTF-16", "payload-utf16") { payload in
            try #require(String(decoding: payload, as: UTF8.self).data(using: .utf16LittleEndian))
        },
        Change("UTF-16 with a byte order mark", "payload-utf16") { payload in
            try #require(String(decoding: payload, as: UTF8.self).data(using: .utf16))
        },
        Change("a byte order mark", "payload-byte-order-mark") { Data([0xef, 0xbb, 0xbf]) + $0 },
        Change("Latin-1", "payload-not-utf8") { payload in
            let text = String(decoding: payload, as: UTF8.self).replacing("New message", with: "Nouvelle à lire")
            return try #require(text.data(using: .isoLatin1))
        },
        Change("JSON in a JSON string", "payload-encoded-twice") { payload in
            try Relay.data(String(decoding: payload, as: UTF8.self))
        },
        Change("JSON in a JSON string in a JSON string", "payload-encoded-twice") { payload in
            let once = try Relay.data(String(decoding: payload, as: UTF8.self))
            return try Relay.data(String(decoding: once, as: UTF8.self))
        },
        Change("base64 of the payload", "payload-base64") { Data($0.base64EncodedString().utf8) },
        Change("a line of the queue instead of its payload", "payload-wrapped") { payload in
            try Relay.data(["device": "7f", "payload": try Relay.object(payload), "token": "00"])
        },
        Change("everything under data", "payload-wrapped") { try Relay.data(["data": try Relay.object($0)]) },
        Change("pushcrypt under data", "envelope-moved") { payload in
            try Relay.rebuilt(payload) { $0["data"] = ["pushcrypt": $0.removeValue(forKey: "pushcrypt")] }
        },
        Change("pushcrypt under custom.a", "envelope-moved") { payload in
            try Relay.rebuilt(payload) {
                $0["custom"] = ["i": "1", "a": ["pushcrypt": $0.removeValue(forKey: "pushcrypt")]]
            }
        },
        Change("pushcrypt in aps", "envelope-moved") { payload in
            let envelope = try Relay.object(payload)["pushcrypt"]
            return try Relay.changing(Relay.rebuilt(payload) { $0["pushcrypt"] = nil }, "aps") {
                $0["pushcrypt"] = envelope
            }
        },
        Change("pushcrypt as a string under data", "envelope-moved") { payload in
            try Relay.rebuilt(payload) { root in
                let text = String(decoding: try Relay.data(root.removeValue(forKey: "pushcrypt") as Any), as: UTF8.self)
                root["data"] = ["pushcrypt": text]
            }
        },
        Change("the members of pushcrypt at the top", "envelope-renamed") { payload in
            try Relay.rebuilt(payload) { root in
                let envelope = root.removeValue(forKey: "pushcrypt") as? [String: Any] ?? [:]
                root.merge(envelope) { $1 }
            }
        },
        Change("pushcrypt as a string", "envelope-is-text") { payload in
            try Relay.rebuilt(payload) { root in
                root["pushcrypt"] = String(decoding: try Relay.data(try #require(root["pushcrypt"])), as: UTF8.self)
            }
        },
        Change("pushcrypt removed", "not-sealed") { try Relay.rebuilt($0) { $0["pushcrypt"] = nil } },
        Change("numbers as strings", "numbers-changed") { payload in
            let text = String(decoding: payload, as: UTF8.self)
            return Data(text.replacing("\"v\":1", with: "\"v\":\"1\"").utf8)
        },
        Change("mutable-content as true", "numbers-changed") { payload in
            try Relay.changing(payload, "aps") { $0["mutable-content"] = true }
        },
        Change("mutable-content as a string", "numbers-changed") { payload in
            try Relay.changing(payload, "aps") { $0["mutable-content"] = "1" }
        },
        Change("a decimal version", "numbers-changed") { payload in
            Data(String(decoding: payload, as: UTF8.self).replacing("\"v\":1", with: "\"v\":1.0").utf8)
        },
        Change("kid removed", "envelope-member-missing") { try Relay.changing($0, "pushcrypt") { $0["kid"] = nil } },
        Change("v removed", "envelope-member-missing") { try Relay.changing($0, "pushcrypt") { $0["v"] = nil } },
        Change("sealed removed", "envelope-member-missing") {
            try Relay.changing($0, "pushcrypt") { $0["sealed"] = nil }
        },
        Change("kid cut", "key-id-malformed") { payload in
            try Relay.changing(payload, "pushcrypt") { $0["kid"] = String((($0["kid"] as? String) ?? "").prefix(8)) }
        },
        Change("a newer version", "version-unsupported") { try Relay.changing($0, "pushcrypt") { $0["v"] = 2 } },
        Change("standard base64", "sealed-standard-base64") { payload in
            try Relay.sealed(payload) { sealed in
                let standard = sealed.replacing("-", with: "+").replacing("_", with: "/")
                return standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)
            }
        },
        Change("padding", "sealed-padded") { payload in
            try Relay.sealed(payload) { $0 + String(repeating: "=", count: $0.count % 4 == 0 ? 1 : 4 - $0.count % 4) }
        },
        Change("line breaks", "sealed-white-space") { payload in
            try Relay.sealed(payload) { sealed in
                stride(from: 0, to: sealed.count, by: 76).map { String(sealed.dropFirst($0).prefix(76)) }
                    .joined(separator: "\r\n")
            }
        },
        Change("codes for an address", "sealed-percent-encoded") { payload in
            try Relay.sealed(payload) { $0.replacing("-", with: "%2B").replacing("_", with: "%2F") + "%3D" }
        },
        Change("other codes for an address", "sealed-percent-encoded") { payload in
            try Relay.sealed(payload) { $0.replacing("-", with: "%252D").replacing("_", with: "%5F") }
        },
        Change("an empty sealed", "sealed-empty") { try Relay.sealed($0) { _ in "" } },
        Change("sealed as null", "sealed-not-a-string") {
            try Relay.changing($0, "pushcrypt") { $0["sealed"] = NSNull() }
        },
        Change("sealed as a number", "sealed-not-a-string") {
            try Relay.changing($0, "pushcrypt") { $0["sealed"] = 5 }
        },
        Change("sealed as false", "sealed-not-a-string") {
            try Relay.changing($0, "pushcrypt") { $0["sealed"] = false }
        },
        Change("sealed as an array of bytes", "sealed-not-a-string") {
            try Relay.changing($0, "pushcrypt") { $0["sealed"] = [1, 2, 3] }
        },
        Change("sealed as a Buffer of Node", "sealed-not-a-string") {
            try Relay.changing($0, "pushcrypt") { $0["sealed"] = ["type": "Buffer", "data": [1, 2, 3]] }
        },
        Change("sealed in hexadecimal", "sealed-hexadecimal") { payload in
            try Relay.sealed(payload) { sealed in
                let bytes = Base64URL.decode(Array(sealed.utf8)[...]) ?? []
                return bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            }
        },
        Change("sealed in lower case", "sealed-case-changed") { try Relay.sealed($0) { $0.lowercased() } },
        Change("sealed in upper case", "sealed-case-changed") { try Relay.sealed($0) { $0.uppercased() } },
        Change("typographic dashes in sealed", "sealed-other-characters") {
            try Relay.sealed($0) { $0.replacing("-", with: "–") }
        },
        Change("pushcrypt as a plain string", "envelope-not-an-object") {
            try Relay.rebuilt($0) { $0["pushcrypt"] = "SECRET" }
        },
        Change("a line of seal --batch", "payload-wrapped") { payload in
            let summary: [String: Any] = ["line": 1, "id": "x", "expiresAt": 1_900_000_000]
            return try Relay.data(["payload": try Relay.object(payload), "to": "x", "pushcrypt": summary])
        },
        Change("an array", "payload-not-an-object") { _ in Data("[1]".utf8) },
        Change("a line of a log", "payload-not-json") { Data("10:31:02 sending ".utf8) + $0 },
        Change("two lines", "payload-not-json") { $0 + Data("\n".utf8) + $0 },
        Change("a dictionary as Swift prints it", "payload-not-json") { _ in
            Data("[AnyHashable(\"aps\"): {\n    alert = x;\n}]".utf8)
        },
        Change("sealed shortened by a log", "sealed-truncated") { payload in
            try Relay.sealed(payload) { $0.prefix(100) + "..." }
        },
        Change("sealed reduced to some characters", "sealed-truncated") {
            try Relay.sealed($0) { String($0.prefix(16)) }
        },
        Change("aps removed", "aps-missing") { try Relay.rebuilt($0) { $0["aps"] = nil } },
        Change("aps as a string", "aps-not-an-object") { payload in
            try Relay.rebuilt(payload) { $0["aps"] = String(decoding: try Relay.data($0["aps"] ?? ""), as: UTF8.self) }
        },
        Change("mutable-content removed", "mutable-content-missing") { payload in
            try Relay.changing(payload, "aps") { $0["mutable-content"] = nil }
        },
        Change("mutable-content 0", "mutable-content-missing") { payload in
            try Relay.changing(payload, "aps") { $0["mutable-content"] = 0 }
        },
        Change("mutable_content next to aps", "mutable-content-missing") { payload in
            let moved = try Relay.changing(payload, "aps") { $0["mutable-content"] = nil }
            return try Relay.rebuilt(moved) { $0["mutable_content"] = true }
        },
        Change("alert removed", "alert-missing") { try Relay.changing($0, "aps") { $0["alert"] = nil } },
        Change("an empty alert", "alert-missing") { payload in
            try Relay.changing(payload, "aps") { $0["alert"] = ["title": "", "body": ""] }
        },
        Change("a background push", "alert-missing") { payload in
            try Relay.changing(payload, "aps") { $0 = ["content-available": 1, "mutable-content": 1] }
        },
        Change("members that a relay adds", "payload-too-large") { payload in
            try Relay.rebuilt(payload) { $0["trace"] = String(repeating: "x", count: 4_000) }
        },
        Change("a member twice", "payload-duplicate-member") { payload in
            Data(
                String(decoding: payload, as: UTF8.self).replacing("\"pushcrypt\":", with: "\"aps\":{},\"pushcrypt\":")
                    .utf8)
        },
    ]
}
