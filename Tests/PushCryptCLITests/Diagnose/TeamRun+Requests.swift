import Foundation
import PushCryptCore
import PushCryptSender
import PushCryptSimulator
import Testing

extension TeamRun {
    /// The request to APNs is wrong. A backend engineer has the payload, the stored record and the log of the request.
    private static func request(
        _ cause: String, _ finding: String, _ answer: [[String]],
        _ change: @escaping @Sendable (inout PushHeaders) -> Void
    ) -> TeamRun {
        TeamRun(cause: cause, finding: finding, answer: answer) { isMistaken in
            let app = try await InstalledApp()
            let payload = try app.seal()
            var headers = PushHeaders(topic: InstalledApp.topic)
            if isMistaken { change(&headers) }
            let reception = await app.deliver(payload, headers, isMistaken: isMistaken)
            let log = try app.writeHeaders(headers, reception)
            let record = try app.write(app.record(), to: "record.json")
            return try app.diagnose(payload, "--registration", record, "--headers", log)
        }
    }

    /// A backend that sends another payload if it can't seal. An engineer has the payload and the stored record.
    private static func unsealable(
        _ cause: String, _ finding: String, _ answer: [[String]], _ store: @escaping @Sendable (Data) throws -> Data
    ) -> TeamRun {
        TeamRun(cause: cause, finding: finding, answer: answer) { isMistaken in
            let app = try await InstalledApp()
            let stored = isMistaken ? try store(app.record()) : try app.record()
            let plain = Data(#"{"aps":{"alert":{"title":"New message"},"mutable-content":1}}"#.utf8)
            let payload = (try? app.seal(to: stored)) ?? plain
            await app.deliver(payload, isMistaken: isMistaken)
            return try app.diagnose(payload, "--registration", app.write(stored, to: "record.json"))
        }
    }

    static let requests = [
        request(
            "the backend's library chose the push type background, for which the system runs no extension",
            "push-type-wrong",
            [["apns-push-type"], ["alert"]]
        ) { $0.pushType = "background" },
        request(
            "the backend uses the extension's bundle identifier as the topic of the request",
            "apns-device-token-not-for-topic",
            [["apns-topic", "topic"], ["bundle id"]]
        ) { $0.topic = InstalledApp.extensionID },
        request(
            "the backend's collapse id is a digest in hexadecimal with a prefix, longer than 64 bytes",
            "collapse-id-too-long",
            [["collapse"], ["77 bytes"]]
        ) { $0.collapseID = "conversation-" + String(repeating: "0f", count: 32) },
        TeamRun(
            cause: "the user deleted the app, and the backend ignores that APNs answers 410",
            finding: "apns-unregistered",
            answer: [["deleted", "uninstalled", "removed", "410"], ["token", "record"]]
        ) { isMistaken in
            let app = try await InstalledApp()
            let payload = try app.seal()
            if isMistaken { app.device.deleteApp() }
            let headers = PushHeaders(topic: InstalledApp.topic)
            let reception = await app.deliver(payload, headers, isMistaken: isMistaken)
            return try app.diagnose(payload, "--headers", app.writeHeaders(headers, reception))
        },
        TeamRun(
            cause:
                "the backend sends apns-expiration as a duration, so APNs doesn't keep the push for a phone that is off",
            finding: "expiration-passed",
            answer: [["apns-expiration"], ["duration"]]
        ) { isMistaken in
            let app = try await InstalledApp()
            let payload = try app.seal()
            app.device.goOffline()
            let expiration = isMistaken ? UnixTime(86_400) : app.clock.time + 86_400
            let headers = PushHeaders(topic: InstalledApp.topic, expiration: expiration)
            let stored = await app.device.receive([UInt8](payload), headers)
            app.clock.advance(by: .seconds(600))
            let shown = await app.device.goOnline()
            #expect((shown?.isRestored ?? false) != isMistaken)
            return try app.diagnose(payload, "--headers", app.writeHeaders(headers, stored))
        },
        unsealable(
            "the backend stored the record as a JSON text in a JSON column, can't seal with it, and sends a plain push",
            "registration-unreadable",
            [["record", "registration"], ["text", "string", "twice"]]
        ) { record in try Relay.data(String(decoding: record, as: UTF8.self)) },
        unsealable(
            "the backend's table for keys has no column for y, so it can't seal, and sends a plain push",
            "registration-unreadable",
            [["record", "registration"], ["\"y\"", " y", "`y`", "member", "lacks", "incomplete"]]
        ) { record in try Relay.rebuilt(record) { $0["y"] = nil } },
        unsealable(
            "the backend stored the record with the base64 of its database, can't seal with it, and sends a plain push",
            "registration-unreadable",
            [["record", "registration"], ["base64"]]
        ) { record in
            try Relay.rebuilt(record) { jwk in
                for name in ["x", "y", "psk"] {
                    guard let text = jwk[name] as? String else { continue }
                    let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(
                        of: "_", with: "/")
                    jwk[name] = standard + "="
                }
            }
        },
    ]
}
