import PushCryptCore
import PushCryptPrimitives

/// The sealed message in a placeholder (PROTOCOL section 8). The extension couldn't open it, and the app can do so later.
///
/// ```
/// "pushcrypt": {"v": 1, "kid": KID, "sealed": SEALED, ["skid": KID,] "status": "failed", "reason": CLASS}
/// ```
package enum KeptMessage {
    /// The members that are kept of the outer payload, with a comma after each; empty if it can't be read.
    static func members(of outer: [UInt8], at places: EnvelopePlaces, _ failure: FailureClass) -> [UInt8] {
        guard failure.defined?.consequence.placeholder == .keepsMessage,
            let payload = try? OuterPayload(JSONText(outer), at: places)
        else { return [] }
        let skid = payload.skid.map { #","skid":"\#($0)""# } ?? ""
        let sealed = String(decoding: Base64URL.encode(payload.sealed.bytes), as: UTF8.self)
        return Array(#""v":1,"kid":"\#(payload.kid)","sealed":"\#(sealed)"\#(skid),"#.utf8)
    }

    /// The outer payload of the message in a notification's `userInfo`, as `Carrier.apns` brings it; nil if there is none. It is
    /// that of a placeholder, or of a push for which the system didn't run the extension. Nothing else of `userInfo` is used.
    package static func outerPayload(userInfo: [UInt8], at places: EnvelopePlaces = .all) -> [UInt8]? {
        guard let root = (try? JSONText(userInfo))?.root, let envelope = try? places.envelope(in: root) else {
            return nil
        }
        let outer = #"{"aps":{"alert":"-","mutable-content":1},"pushcrypt":"#
        let payload = Array(outer.utf8) + envelope.rawBytes + [UInt8(ascii: "}")]
        return (try? OuterPayload(JSONText(payload))) == nil ? nil : payload
    }
}
