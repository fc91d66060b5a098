import Foundation
import PushCryptCore
import PushCryptSender
import PushCryptSimulator
import Testing

extension TeamRun {
    /// A relay or gateway between the sealer and APNs changes the payload. A backend engineer has what was sent to APNs, the
    /// stored record and the log of the request.
    private static func relay(
        _ cause: String, _ finding: String, _ answer: [[String]], _ options: Sealer.Options = .init(),
        _ change: @escaping @Sendable (Data) throws -> Data
    ) -> TeamRun {
        TeamRun(cause: cause, finding: finding, answer: answer) { isMistaken in
            let app = try await InstalledApp()
            let sealed = try app.seal(options: options)
            let payload = isMistaken ? try change(sealed) : sealed
            let headers = PushHeaders(topic: InstalledApp.topic)
            let reception = await app.deliver(payload, headers, isMistaken: isMistaken)
            let record = try app.write(app.record(), to: "record.json")
            let log = try app.writeHeaders(headers, reception)
            return try app.diagnose(payload, "--topic", InstalledApp.topic, "--registration", record, "--headers", log)
        }
    }

    private static func replacing(_ payload: Data, _ old: String, _ new: String) throws -> Data {
        let text = String(decoding: payload, as: UTF8.self)
        let changed = text.replacingOccurrences(of: old, with: new)
        try #require(changed != text)
        return Data(changed.utf8)
    }

    static let relays = [
        relay(
            "a service that only knows texts, such as the data of FCM, made the member pushcrypt a text of JSON",
            "envelope-is-text",
            [["pushcrypt"], ["text", "string"], ["object"]]
        ) { payload in
            try Relay.rebuilt(payload) { root in
                root["pushcrypt"] = String(decoding: try Relay.data(root["pushcrypt"] as Any), as: UTF8.self)
            }
        },
        relay(
            "a library such as Gson read integers as floating point, and wrote 1.0 for 1",
            "numbers-changed",
            [["1.0", "number", "integer"], ["\"v\"", "version", "pushcrypt.v", "mutable-content"]]
        ) { payload in
            try replacing(replacing(payload, "\"v\":1,", "\"v\":1.0,"), "content\":1}", "content\":1.0}")
        },
        relay(
            "a gateway with typed templates wrote the version as a text",
            "numbers-changed",
            [["version", "\"v\"", "pushcrypt.v"], ["text", "string", "number", "integer"]]
        ) { payload in try replacing(payload, "\"v\":1,", "\"v\":\"1\",") },
        relay(
            "a middleware renamed members to camel case: mutableContent isn't mutable-content",
            "mutable-content-missing",
            [
                ["mutable-content"],
                [
                    "mutablecontent", "renam", "name", "must have", "lacks", "missing", "without",
                    "no \"mutable-content\"",
                ],
            ]
        ) { payload in try replacing(payload, "mutable-content", "mutableContent") },
        relay(
            "the relay encodes the ciphertext as standard base64 and posts it as a form, which turns + into spaces",
            "sealed-white-space",
            [["space", "form", "+"], ["base64"]]
        ) { payload in
            try Relay.sealed(payload) { sealed in
                let plus = sealed.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
                return plus.replacingOccurrences(of: "+", with: " ")
            }
        },
        relay(
            "a base64 encoder of mail breaks the ciphertext into lines of 76 characters",
            "sealed-white-space",
            [["line", "whitespace", "white space", "newline"], ["sealed", "base64"]]
        ) { payload in
            try Relay.sealed(payload) { sealed in
                let all = Array(sealed)
                return stride(from: 0, to: all.count, by: 76).map { String(all[$0..<min($0 + 76, all.count)]) }
                    .joined(separator: "\r\n")
            }
        },
        relay(
            "a column VARCHAR(255) cut the ciphertext",
            "sealed-truncated",
            [["cut", "short", "trunc", "incomplete"], ["sealed", "ciphertext", "payload"]]
        ) { payload in try Relay.sealed(payload) { String($0.prefix(255)) } },
        relay(
            "a log line of 512 bytes, from which a queue is refilled, cut the payload",
            "payload-truncated",
            [["cut", "end", "trunc", "incomplete"], ["json"]]
        ) { payload in payload.prefix(512) },
        relay(
            "a service library puts all own members into a member data, so pushcrypt is no longer beside aps",
            "envelope-moved",
            [
                ["\"data\"", "data.pushcrypt", "`data`", "data", "inside", "nested"], ["pushcrypt"],
                ["aps", "top", "root", "beside", "next to"],
            ]
        ) { payload in
            try Relay.rebuilt(payload) { root in
                root["data"] = ["pushcrypt": root["pushcrypt"] as Any]
                root["pushcrypt"] = nil
            }
        },
        relay(
            "a client that serializes a text again sends the payload as one JSON text",
            "payload-encoded-twice",
            [["string", "text", "twice"], ["json"]]
        ) { payload in try Relay.data(String(decoding: payload, as: UTF8.self)) },
        relay(
            "a template engine escaped the JSON for HTML",
            "payload-not-json",
            [["html", "&quot;", "escap"]]
        ) { payload in try replacing(payload, "\"", "&quot;") },
        relay(
            "a script on Windows saved the payload with a byte order mark",
            "payload-byte-order-mark",
            [["byte order mark", "bom", "byte-order"]]
        ) { payload in [0xEF, 0xBB, 0xBF] + payload },
        relay(
            "a gateway appends its own aps with the badge, so the payload has two members aps",
            "payload-duplicate-member",
            [["twice", "duplicate", "two", "repeat"], ["aps", "member"]]
        ) { payload in payload.dropLast() + Data(#","aps":{"badge":3}}"#.utf8) },
        relay(
            "a gateway that should hide texts removed the alert, so the system runs no extension",
            "alert-missing",
            [["alert"], ["extension", "placeholder"]]
        ) { payload in try Relay.changing(payload, "aps") { $0["alert"] = nil } },
        relay(
            "a routing service keeps ids in lower case, and wrote the key id back in lower case",
            "key-id-case-changed",
            [["case", "letter"], ["kid", "key id", "id"]]
        ) { payload in
            try Relay.changing(payload, "pushcrypt") { envelope in
                envelope["kid"] = (envelope["kid"] as? String)?.lowercased()
            }
        },
        relay(
            "an analytics gateway adds its members to a payload that the sealer filled, so APNs refuses it as too large",
            "payload-too-large",
            [["4096", "4,096", "large"], ["limit", "byte", "pad"]],
            .init(padding: .multiple(of: 2_700))
        ) { payload in
            try Relay.rebuilt(payload) { $0["analytics"] = ["campaign": String(repeating: "utm_", count: 150)] }
        },
    ]
}
