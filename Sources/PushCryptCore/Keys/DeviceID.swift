/// Names one registration of one device: 1 to 64 characters of `[A-Za-z0-9_-]`, random, never used again. A device
/// id that comes back hands the next owner of the phone the last one's key.
public struct DeviceID: Hashable, Sendable, CustomStringConvertible {
    private let text: String

    /// - Throws: `KeyError` with `invalidDeviceID`.
    public init(_ text: String) throws(KeyError) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else {
            throw KeyError(.invalidDeviceID, "a device id is 1 to 64 characters of A-Z a-z 0-9 _ -")
        }
        self.text = text
    }

    public var description: String { text }

    private static func isAllowed(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
