/// `application/x-www-form-urlencoded` (URL Standard, sections 5.1 and 5.2).
///
/// ```
/// fields = field *("&" field)
/// field  = name "=" value
/// byte   = ALPHA | DIGIT | "*" | "-" | "." | "_" unchanged, space as "+", any other as "%" and two hexadecimal digits
/// ```
package enum FormFields {
    /// - Parameter json: an object of strings, numbers and booleans.
    package static func encode(_ json: [UInt8]) -> [UInt8] {
        guard let object = (try? JSONText(json))?.root else { return [] }
        var fields: [UInt8] = []
        for member in object.members {
            if !fields.isEmpty { fields.append(UInt8(ascii: "&")) }
            append(member.name.utf8, to: &fields)
            fields.append(UInt8(ascii: "="))
            append(member.value.utf8 ?? member.value.rawBytes, to: &fields)
        }
        return fields
    }

    private static let unchanged = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789*-._".utf8)
    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func append(_ bytes: some Sequence<UInt8>, to fields: inout [UInt8]) {
        for byte in bytes {
            if unchanged.contains(byte) {
                fields.append(byte)
            } else if byte == UInt8(ascii: " ") {
                fields.append(UInt8(ascii: "+"))
            } else {
                fields += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    /// Returns the fields by name. It is stricter than the URL Standard, which accepts any text, so that two readers can't read
    /// one text differently.
    ///
    /// - Returns: nil for an empty field, one without "=" or with "=" in its value, a name twice, a "%" without two hexadecimal
    ///   digits, and bytes that aren't UTF-8.
    package static func decode(_ form: [UInt8]) -> [String: String]? {
        var fields: [String: String] = [:]
        for field in form.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            let parts = field.split(separator: UInt8(ascii: "="), omittingEmptySubsequences: false)
            guard parts.count == 2, let name = text(parts[0]), let value = text(parts[1]), !name.isEmpty,
                fields.updateValue(value, forKey: name) == nil
            else { return nil }
        }
        return fields
    }

    private static func text(_ escaped: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = escaped
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexadecimalValue),
                    let low = rest.popFirst().flatMap(hexadecimalValue)
                else { return nil }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        // Invalid UTF-8 becomes U+FFFD, with other bytes.
        let text = String(decoding: bytes, as: UTF8.self)
        return text.utf8.elementsEqual(bytes) ? text : nil
    }

    private static func hexadecimalValue(_ digit: UInt8) -> UInt8? {
        JSONEscape.hexadecimalValue(of: digit).map { UInt8($0) }
    }
}
