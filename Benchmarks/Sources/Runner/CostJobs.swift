import BenchmarkSupport
import PushCryptCore
import RunnerProtocol

/// Costs other than those of messages: recipient1 recipient2 recipient4 (from a JWK to a `Recipient`), device4 (from
/// the master to a `Recipient`), keyset1 keyset2 keyset4 (a published set of eight keys, from JSON).
enum CostJobs {
    static func operation(_ kind: Substring, _ suite: Suite) throws -> Work? {
        switch kind {
        case "recipient": try recipient(suite)
        case "keyset": try keyset(suite)
        case "device" where suite == .shared: try device()
        default: nil
        }
    }

    private static func recipient(_ suite: Suite) throws -> Work {
        let jwk = try TestKeys(suite: suite).publicJWK()
        return { _ = try Recipient(jwk: jwk) }
    }

    private static func keyset(_ suite: Suite) throws -> Work {
        let json = try TestKeys.publishedKeyset(suite, count: 8)
        return { _ = try Keyset(json: json) }
    }

    private static func device() throws -> Work {
        let master = try TestKeys(suite: .shared).keyset
        let device = try DeviceID("6f1c9a52-0b7e-4a51-9d7c-2f4f6f0e7c11")
        return { _ = try master.device(device).recipient(at: TestMessage.time) }
    }
}
