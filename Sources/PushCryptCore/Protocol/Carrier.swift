/// The way of a push to the device. It determines where the envelope stands in the payload that arrives (PROTOCOL section 2),
/// and how many bytes the sender leaves for what is added on the way.
///
/// An app names the carriers of its pushes. The payload never chooses.
public enum Carrier: String, CaseIterable, Hashable, Sendable {
    /// `pushcrypt` beside `aps`, and the bytes that sealing wrote: APNs itself, Amazon SNS, Azure, raw Pinpoint, Airship.
    case apns
    /// As ``apns``, through a client that writes the JSON again, with white space or escapes: 64 bytes are left.
    case rebuilt
    /// As ``apns``, in `apns.payload` of Firebase, which adds members: 192 bytes are left.
    case fcm
    /// `pushcrypt` beside `aps`, a string with the JSON of the envelope: `data` of Firebase, and each service whose custom
    /// values are strings. 192 bytes are left.
    case text
    /// `body.pushcrypt`: Expo. 192 bytes are left.
    case expo
    /// `custom.a.pushcrypt`: OneSignal. 128 bytes are left.
    case oneSignal

    /// The names of the envelope and of the objects around it, from the root.
    package var path: [String] {
        switch self {
        case .apns, .rebuilt, .fcm, .text: ["pushcrypt"]
        case .expo: ["body", "pushcrypt"]
        case .oneSignal: ["custom", "a", "pushcrypt"]
        }
    }

    /// Whether the envelope is a string with JSON.
    package var isText: Bool { self == .text }

    /// The bytes that client and service add at most.
    package var reservedByteCount: Int {
        switch self {
        case .apns: 0
        case .rebuilt: 64
        case .oneSignal: 128
        case .fcm, .text, .expo: 192
        }
    }

    /// Whether the service writes `aps` itself, from fields of its own.
    package var writesAPS: Bool { self == .expo || self == .oneSignal }
}

/// The places of the envelopes of some carriers.
package struct EnvelopePlaces: Sendable {
    private struct Place {
        let path: [String]
        var isText = false
        var isObject = false
    }

    package static let standard = EnvelopePlaces([.apns])
    /// For diagnostics, of which no result is shown to a user of the app.
    package static let all = EnvelopePlaces(Set(Carrier.allCases))

    private var places: [Place] = []

    /// The places, such as `custom.a.pushcrypt`.
    package var names: [String] { places.map { $0.path.joined(separator: ".") } }

    package init(_ carriers: Set<Carrier>) {
        for carrier in carriers {
            let index = places.firstIndex { $0.path == carrier.path } ?? places.count
            if index == places.count { places.append(Place(path: carrier.path)) }
            if carrier.isText { places[index].isText = true } else { places[index].isObject = true }
        }
    }

    /// Returns the value at the only place that has one.
    ///
    /// - Throws: `FailureClass`: `notSealed` if no place has a value, `malformed` if two have.
    package func value(in root: JSONValue) throws(FailureClass) -> JSONValue { try found(in: root).value }

    /// Returns the envelope at the only place that has one: an object, or the object in a string.
    ///
    /// - Throws: `FailureClass`: `notSealed`, `malformed`.
    package func envelope(in root: JSONValue) throws(FailureClass) -> JSONValue {
        let (value, place) = try found(in: root)
        guard place.isText, let text = value.utf8 else {
            guard place.isObject, value.kind != .string else { throw .malformed }
            return value
        }
        guard let inner = try? JSONText(Array(text)).root, inner.kind == .object else { throw .malformed }
        return inner
    }

    /// Whether more than one place has a value.
    package func hasTwo(in root: JSONValue) -> Bool {
        do throws(FailureClass) { _ = try found(in: root) } catch { return error == .malformed }
        return false
    }

    private func found(in root: JSONValue) throws(FailureClass) -> (value: JSONValue, place: Place) {
        var found: (value: JSONValue, place: Place)?
        for place in places {
            var value: JSONValue? = root
            for name in place.path { value = value?[name] }
            guard let value else { continue }
            guard found == nil else { throw .malformed }
            found = (value, place)
        }
        guard let found else { throw .notSealed }
        return found
    }
}
