import PushCryptCore
import PushCryptTestSupport

/// The seconds of a day.
let day: Int64 = 86_400

extension UnixTime {
    /// That many days after 1970-01-01.
    static func days(_ days: Int64) -> UnixTime { UnixTime(days * day) }
}

extension KeyID {
    static let a = KeyID("AAAAAAAAAAA")!
    static let b = KeyID("BBBBBBBBBBA")!
}

extension LifecycleError {
    /// Runs `body` and returns the code of its refusal; nil if it is not refused.
    static func code(_ body: () throws -> some Any) -> Code? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? LifecycleError)?.code
        }
    }
}
