import PushCryptCore

/// What a batch says of a line that came out.
///
/// ```
/// "pushcrypt": {"line": <number, from 1>, "id": "<message id>", "expiresAt": <unix seconds>}
/// ```
struct LineSummary {
    let number: Int
    /// 22 characters of base64url.
    let id: String
    let expiresAt: UnixTime

    /// Appended and not interpolated: it is made for every line.
    var json: [UInt8] {
        var json = [UInt8]()
        json.reserveCapacity(96)
        json += #"{"line":"#.utf8
        json += String(number).utf8
        json += #","id":""#.utf8
        json += id.utf8
        json += #"","expiresAt":"#.utf8
        json += String(expiresAt.seconds).utf8
        json.append(UInt8(ascii: "}"))
        return json
    }

    /// With its name.
    var member: [UInt8] { Array(#""pushcrypt":"#.utf8) + json }
}
