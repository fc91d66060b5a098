import Foundation

/// Long tests run in full if PUSHCRYPT_LONG_TESTS is set, otherwise in a short form.
enum LongTests {
    static let areWanted = ProcessInfo.processInfo.environment["PUSHCRYPT_LONG_TESTS"] != nil
}
