import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import Testing

@Suite("Fleet")
struct FleetTests {
    @Test("a fleet is read from JSON with all members or only the required ones")
    func json() throws {
        let whole = try read(
            #"{"devices": 5000, "refreshP50": "PT6H", "refreshP99": "20d", "offline": 0.05, "pushesPerDay": 1.5, "seed": 9}"#
        )
        #expect(whole.devices == 5_000 && whole.seed == 9)
        #expect(whole.refreshP50InSeconds == 21_600 && whole.refreshP99InSeconds == 1_728_000)
        #expect(whole.offline == 0.05 && whole.pushesPerDay == 1.5)
        let short = try read(#"{"refreshP50": "1h", "refreshP99": "P1D"}"#)
        #expect(short.devices == 1_000_000 && short.seed == 1)
        #expect(short.offline == 0.02 && short.pushesPerDay == 3)
    }

    @Test(
        "an invalid fleet is refused with its flaw",
        arguments: [
            ("", "strict JSON"), ("[]", "not an object"), ("{}", "p50 and p99 are missing"),
            (#"{"refreshP50": "6h"}"#, "p50 and p99 are missing"),
            (#"{"refreshP50": "6h", "refreshP99": "6h"}"#, "longer than the p50"),
            (#"{"refreshP50": "6h", "refreshP99": "1h"}"#, "longer than the p50"),
            (#"{"refreshP50": "0s", "refreshP99": "1h"}"#, "at least one second"),
            (#"{"refreshP50": "1h", "refreshP99": "36526d"}"#, "100 years"),
            (#"{"refreshP50": "1h", "refreshP99": 20}"#, "refreshP99 has a value of the wrong type"),
            (#"{"refreshP50": "soon", "refreshP99": "1d"}"#, "refreshP50 has a value of the wrong type"),
            (#"{"refreshP50": "1h", "refreshP99": "1d", "offline": 2}"#, "0 to 90%"),
            (#"{"refreshP50": "1h", "refreshP99": "1d", "offline": -0.1}"#, "0 to 90%"),
            (#"{"refreshP50": "1h", "refreshP99": "1d", "offline": "2%"}"#, "offline has a value of the wrong type"),
            (#"{"refreshP50": "1h", "refreshP99": "1d", "devices": 0}"#, "1 to 100,000,000"),
            (#"{"refreshP50": "1h", "refreshP99": "1d", "devices": 1.5}"#, "devices has a value of the wrong type"),
            (#"{"refreshP50": "1h", "refreshP99": "1d", "devices": 100000001}"#, "1 to 100,000,000"),
            (#"{"refreshP50": "1h", "refreshP99": "1d", "pushesPerDay": 0}"#, "pushes per day"),
            (#"{"refreshP50": "1h", "refreshP99": "1d", "pushesPerDay": 2000}"#, "pushes per day"),
            (#"{"refreshP50": "1h", "refreshP99": "1d", "seed": -1}"#, "seed has a value of the wrong type"),
            (#"{"refreshP5O": "1h", "refreshP99": "1d"}"#, "refreshP5O is not a member"),
            (#"{"refreshP50": "1h", "refreshP50": "1d"}"#, "a name occurs twice"),
        ])
    func refusals(_ json: String, _ reason: String) throws {
        let error = #expect(throws: KeystoreError.self) { try read(json) }
        #expect(error?.code == .invalidFleet)
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }

    @Test("override replaces only the parameters that are given")
    func override() throws {
        var parameters = try Fleet.Parameters(
            json: Array(#"{"refreshP50": "1h", "refreshP99": "1d", "devices": 5}"#.utf8))
        var later = Fleet.Parameters()
        later.devices = 6
        later.offline = 0
        parameters.override(with: later)
        let fleet = try Fleet(parameters)
        #expect(fleet.devices == 6 && fleet.offline == 0 && fleet.refreshP50InSeconds == 3_600)
    }

    private func read(_ json: String) throws -> Fleet {
        try Fleet(Fleet.Parameters(json: Array(json.utf8)))
    }
}
