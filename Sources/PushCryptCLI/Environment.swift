import PushCryptPrimitives

/// What the process inherits: environment variables and the user's account.
enum Environment {
    /// The value of a variable; nil if it isn't set. Never use it for a secret, which must not be in a `String`.
    static func value(_ variable: String) -> String? {
        unsafe getenv(variable).map { unsafe String(cString: $0) }
    }

    static func isSet(_ variable: String) -> Bool { unsafe getenv(variable) != nil }

    /// The account's name, followed by the caller's name when sudo started the process.
    static var userName: String {
        let uid = getuid()
        let name = unsafe getpwuid(uid).map { unsafe String(cString: $0.pointee.pw_name) } ?? "uid \(uid)"
        return value("SUDO_USER").map { caller in "\(name) (sudo by \(caller))" } ?? name
    }
}
