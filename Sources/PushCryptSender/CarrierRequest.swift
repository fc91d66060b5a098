import PushCryptCore

extension SealedPush {
    /// The envelope, the value of `pushcrypt`: an object as UTF-8 JSON. A client adds it to the custom members of its request.
    public var envelope: [UInt8] { withEnvelope { _, envelope in Array(envelope.rawBytes) } }

    /// The request to the carrier's service, an object as UTF-8 JSON. Add the address of the device, such as `token` in
    /// `message`, and the credentials.
    ///
    /// | carrier | members |
    /// | --- | --- |
    /// | `apns`, `rebuilt` | `headers`, and `body`: the exact text of the request |
    /// | `fcm` | `message` of the FCM v1 API, with `apns.headers` and `apns.payload` |
    /// | `text` | `message` of the FCM v1 API, with `data.pushcrypt`, `apns.headers` and `apns.payload` |
    /// | `expo` | those of a message of Expo's push API |
    /// | `oneSignal` | those of a message of OneSignal's API |
    ///
    /// The lifetime in it is that of the message.
    public var request: [UInt8] {
        let aps = (try? JSONText(bytes))?.root["aps"]
        let data = JSONMembers([("pushcrypt", withEnvelope { value, _ in Array(value.rawBytes) })])
        switch carrier {
        case .apns, .rebuilt:
            let body = JSONMembers.string(String(decoding: bytes, as: UTF8.self))
            return JSONMembers([("headers", headersJSON(headers)), ("body", body)]).json
        case .fcm: return message([], payload: bytes)
        case .text:
            return message([("data", data.json)], payload: JSONMembers([("aps", Array(aps?.rawBytes ?? []))]).json)
        case .expo, .oneSignal:
            let members = CarrierFields(carrier).members(for: aps) + [("data", data.json)]
            return JSONMembers(members + delivery).json
        }
    }

    /// A message of Firebase, which adds the topic itself.
    private func message(_ members: [(String, [UInt8])], payload: [UInt8]) -> [UInt8] {
        let headers = headersJSON(headers.filter { $0.0 != "apns-topic" })
        let apns = JSONMembers([("headers", headers), ("payload", payload)])
        return JSONMembers([("message", JSONMembers(members + [("apns", apns.json)]).json)]).json
    }

    private func headersJSON(_ headers: [(String, String)]) -> [UInt8] {
        JSONMembers(headers.map { ($0, JSONMembers.string($1)) }).json
    }

    /// The members for lifetime, priority and collapse id.
    private var delivery: [(String, [UInt8])] {
        guard carrier == .oneSignal else {
            return [
                ("priority", JSONMembers.string(isQuiet ? "normal" : "high")),
                ("expiration", Array("\(expiresAt.seconds)".utf8)),
            ]
        }
        // OneSignal counts seconds from the request, at most 28 days.
        let lifetime = min(expiresAt.seconds - sealedAt.seconds, 28 * 86_400)
        return [("priority", Array((isQuiet ? "5" : "10").utf8)), ("ttl", Array("\(lifetime)".utf8))]
            + (collapseID.map { [("collapse_id", JSONMembers.string($0))] } ?? [])
    }

    /// Calls `body` with the value at the carrier's place, and the envelope that it is or contains.
    private func withEnvelope(_ body: (JSONValue, JSONValue) -> [UInt8]) -> [UInt8] {
        let places = EnvelopePlaces([carrier])
        guard let root = (try? JSONText(bytes))?.root, let value = try? places.value(in: root),
            let envelope = try? places.envelope(in: root)
        else { return [] }
        return body(value, envelope)
    }
}

/// The fields of services that write `aps` themselves.
struct CarrierFields {
    private let carrier: Carrier

    init(_ carrier: Carrier) { self.carrier = carrier }

    /// The fields for exposed members of `aps`.
    private var names: [String: String] {
        switch carrier {
        case .expo:
            [
                "sound": "sound", "badge": "badge", "category": "categoryId", "interruption-level": "interruptionLevel",
                "content-available": "_contentAvailable",
            ]
        case .oneSignal:
            [
                "sound": "ios_sound", "badge": "ios_badgeCount", "category": "ios_category", "thread-id": "thread_id",
                "interruption-level": "ios_interruption_level", "relevance-score": "ios_relevance_score",
                "target-content-id": "target_content_identifier", "content-available": "content_available",
            ]
        case .apns, .rebuilt, .fcm, .text: [:]
        }
    }

    /// Refuses what the service has no field for.
    ///
    /// - Parameters:
    ///   - alert: the placeholder's JSON.
    ///   - exposed: the names of exposed members.
    ///   - aps: of the inner payload.
    /// - Throws: `SenderError` with `invalidPlaceholder`, `notExposable`.
    func check(alert: [UInt8], exposed: [String], _ aps: JSONValue?) throws(SenderError) {
        guard carrier.writesAPS, let alert = (try? JSONText(alert))?.root else { return }
        let service = "the service of the carrier \(carrier.rawValue)"
        guard alert.members.allSatisfy({ ["title", "subtitle", "body"].contains($0.name) }) else {
            throw SenderError(.invalidPlaceholder, "\(service) takes only the literal texts title, subtitle and body")
        }
        guard carrier != .oneSignal || alert["body"] != nil else {
            throw SenderError(.invalidPlaceholder, "\(service) needs a body")
        }
        for (index, name) in exposed.enumerated() {
            guard names[name] != nil else {
                throw SenderError(.notExposable, "expose[\(index)]: \(service) has no field for it")
            }
            guard name != "sound" || aps?[name]?.kind == .string else {
                throw SenderError(.notExposable, "\(service) takes the name of a sound, and no dictionary")
            }
        }
    }

    /// The members of the request that stand for `aps` of the outer payload.
    func members(for aps: JSONValue?) -> [(String, [UInt8])] {
        var members: [(String, [UInt8])] = []
        for (part, field) in [("title", "headings"), ("subtitle", "subtitle"), ("body", "contents")] {
            guard let text = aps?["alert"]?[part].map({ Array($0.rawBytes) }) else { continue }
            members.append(carrier == .expo ? (part, text) : (field, JSONMembers([("en", text)]).json))
        }
        members.append((carrier == .expo ? "mutableContent" : "mutable_content", Array("true".utf8)))
        for member in aps?.members.map({ $0 }) ?? [] {
            guard let field = names[member.name] else { continue }
            members.append((field, value(of: member)))
        }
        guard carrier == .oneSignal else { return members }
        if aps?["badge"] != nil { members.append(("ios_badgeType", JSONMembers.string("SetTo"))) }
        // Otherwise OneSignal adds the default sound.
        if aps?["sound"] == nil { members.append(("ios_sound", JSONMembers.string("nil"))) }
        return members
    }

    private func value(of member: JSONMember) -> [UInt8] {
        let raw = Array(member.value.rawBytes)
        switch member.name {
        case "content-available": return Array("true".utf8)
        case "interruption-level" where carrier == .oneSignal:
            return raw.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
        default: return raw
        }
    }
}

/// The members of an object, in their order.
private struct JSONMembers {
    private let members: [(String, [UInt8])]

    init(_ members: [(String, [UInt8])]) { self.members = members }

    var json: [UInt8] {
        var json = [UInt8(ascii: "{")]
        for (name, value) in members {
            if json.count > 1 { json.append(UInt8(ascii: ",")) }
            JSONWriter.appendString(name, to: &json)
            json.append(UInt8(ascii: ":"))
            json += value
        }
        return json + [UInt8(ascii: "}")]
    }

    static func string(_ text: String) -> [UInt8] {
        var json: [UInt8] = []
        JSONWriter.appendString(text, to: &json)
        return json
    }
}
