import PushCryptPrimitives
import Testing

@testable import PushCryptHPKE

/// The code of the `HPKEError` that `body` throws, nil if it succeeds. Rethrows other errors.
func hpkeErrorCode<Result: ~Copyable>(_ body: () throws -> Result) throws -> HPKEError.Code? {
    do {
        _ = try body()
        return nil
    } catch let error as HPKEError {
        return error.code
    }
}

extension SequenceNumber {
    init(_ number: UInt64) {
        let digits = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
        self.init(bytes: [0, 0, 0, 0] + digits)
    }
}

extension Mode {
    static let all: [Mode] = [.base, .psk, .auth, .authPSK]

    var hasPSK: Bool { self == .psk || self == .authPSK }
    var hasSenderKey: Bool { self == .auth || self == .authPSK }
}
