import Hummingbird

/// The identifiers that come from outside. Each is checked where it enters, before it is stored or compared: SQLite, HTTP and C end
/// texts at characters that JSON and bearer tokens can contain, such as NUL.
extension String {
    /// A user: 1 to 256 characters, none of them a control character.
    var isUser: Bool {
        (1...256).contains(unicodeScalars.count)
            && !unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// A name that this service made of an installation or a message.
    var isName: Bool { wholeMatch(of: /[A-Za-z0-9._-]{1,64}/) != nil }

    var isIdempotencyKey: Bool { wholeMatch(of: /[A-Za-z0-9._:-]{1,255}/) != nil }

    /// A collapse id, which is a header of the request to APNs: 0x21 to 0x7E.
    var isCollapseID: Bool { wholeMatch(of: /[!-~]{1,64}/) != nil }

    /// A payload's `push_id`, which devices repeat in receipts: 0x21 to 0x7E.
    var isPushID: Bool { wholeMatch(of: /[!-~]{1,256}/) != nil }

    /// A device token: hexadecimal digits of 1 to 100 bytes.
    var isDeviceToken: Bool { wholeMatch(of: /([0-9A-Fa-f]{2}){1,100}/) != nil }
}

extension APIContext {
    /// A name in the path that this service made; nil for a text that can't be one.
    func name(_ parameter: String) throws -> String? {
        let name = try parameters.require(parameter)
        return name.isName ? name : nil
    }
}
