/// `lp16(x) = u16 big-endian length || UTF-8 bytes of x`
///
/// Every caller passes a bounded string (a kid, a topic, a device id), far below 65,536 bytes.
func appendLengthPrefixed(_ text: String, to bytes: inout [UInt8]) {
    let utf8 = text.utf8
    precondition(utf8.count <= Int(UInt16.max))
    bytes.append(UInt8(utf8.count >> 8))
    bytes.append(UInt8(utf8.count & 0xff))
    bytes.append(contentsOf: utf8)
}
