import PushCryptKeysets
import Testing

@testable import PushCryptKeystore

@Suite("Fleet")
struct FleetTests {
    @Test(
        "an impossible fleet is refused with its flaw",
        arguments: [
            (0, hour, day, 0.02, "1 to 100,000,000"), (100_000_001, hour, day, 0.02, "1 to 100,000,000"),
            (5, 0, day, 0.02, "at least one second"), (5, day, day, 0.02, "longer than the p50"),
            (5, hour, 36_526 * day, 0.02, "100 years"), (5, hour, day, 0.91, "0 to 90%"),
            (5, hour, day, -0.1, "0 to 90%"), (5, hour, day, .nan, "0 to 90%"),
        ] as [(Int, Int64, Int64, Double, String)])
    func refusals(_ devices: Int, _ p50: Int64, _ p99: Int64, _ offline: Double, _ reason: String) throws {
        let error = #expect(throws: KeystoreError.self) {
            try Fleet.small(devices: devices, p50: p50, p99: p99, offline: offline)
        }
        #expect(error?.code == .invalidFleet)
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }
}
