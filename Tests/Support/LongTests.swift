import Foundation

/// Tests that take long run a short form, and the full one if PUSHCRYPT_LONG_TESTS is set (`Tests/deep/run`).
public enum LongTests {
    public static let areWanted = ProcessInfo.processInfo.environment["PUSHCRYPT_LONG_TESTS"] != nil
}
