import Foundation

/// Whether the tests run at full length. Some tests run a short form unless `PUSHCRYPT_LONG_TESTS` is set.
enum LongTests {
    static let areEnabled = ProcessInfo.processInfo.environment["PUSHCRYPT_LONG_TESTS"] != nil

    static func value<Value>(_ long: Value, short: Value) -> Value { areEnabled ? long : short }
}
