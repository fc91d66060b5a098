/// An invariant that a run of ``Interleavings`` breaks.
public struct BrokenInvariant: Error, CustomStringConvertible {
    public let description: String

    public init(description: String) { self.description = description }

    public static func require(_ holds: Bool, _ description: @autoclosure () throws -> String) throws {
        if !holds { throw BrokenInvariant(description: try description()) }
    }
}
