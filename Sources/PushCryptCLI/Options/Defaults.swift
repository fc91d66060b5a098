import ArgumentParser
import PushCryptFiles

/// What a command uses if no argument names it.
enum Defaults {
    /// The keystore: PUSHCRYPT_KEYS, else `Keys`.
    static var keystore: String { variable("PUSHCRYPT_KEYS") ?? "Keys" }

    /// The app's bundle identifier: PUSHCRYPT_TOPIC.
    static var topic: String? { variable("PUSHCRYPT_TOPIC") }

    /// - Throws: `ValidationError` without a topic.
    static func requireTopic(_ given: String?) throws {
        guard given != nil || topic != nil else {
            throw ValidationError(
                "Missing expected argument '--topic <TOPIC>', or the variable PUSHCRYPT_TOPIC: the app's bundle identifier, "
                    + "such as com.example.app.")
        }
    }

    private static func variable(_ name: String) -> String? {
        ProcessEnvironment.variable(name).flatMap { $0.isEmpty ? nil : $0 }
    }
}
