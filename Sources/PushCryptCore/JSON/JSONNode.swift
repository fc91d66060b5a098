/// One value or member name on the tape: 16 bytes, in the order of the text.
///
/// The tape holds a container before its content, so that the children of node `i` lie in `i + 1 ..< next`.
/// A member is two children: a string node for its name, then its value.
struct JSONNode: Sendable {
    /// Offsets of the first byte and of the byte after the last.
    var start: UInt32
    var end: UInt32

    /// Tape index of what follows this node and everything in it.
    /// While the scanner is inside a container: tape index of the container around that one.
    var next: UInt32

    var kind: JSONValue.Kind

    /// A string with at least one backslash: its content isn't its raw bytes.
    var hasEscapes: Bool

    var range: Range<Int> { Int(start)..<Int(end) }

    /// What lies between the quotes of a string.
    var contentRange: Range<Int> { Int(start) + 1..<Int(end) - 1 }
}
