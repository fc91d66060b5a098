import Foundation

/// What takes too long for every run is done in part, and in whole where PUSHCRYPT_LONG_TESTS is set.
enum LongTests {
    static let areWanted = ProcessInfo.processInfo.environment["PUSHCRYPT_LONG_TESTS"] != nil
}
