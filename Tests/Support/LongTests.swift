import Foundation

/// Tests that enumerate more cases than a normal run needs. `PUSHCRYPT_LONG_TESTS` makes them run every case.
public enum LongTests {
    /// Whether every case runs.
    public static let areEnabled = ProcessInfo.processInfo.environment["PUSHCRYPT_LONG_TESTS"] != nil

    /// `long` in a long run, otherwise `short`.
    public static func value<Value>(_ long: Value, short: Value) -> Value { areEnabled ? long : short }
}

extension Collection {
    /// Every `step`-th element and the last one; all elements in a long run.
    ///
    /// - Parameter step: for base64url 3, so that the sample contains characters at each place of a group of four.
    public func sampled(every step: Int) -> [Element] {
        let last = count - 1
        return enumerated().filter { LongTests.areEnabled || $0.offset.isMultiple(of: step) || $0.offset == last }
            .map(\.element)
    }
}
