import Foundation
import PushCryptTestSupport
import Testing

/// A message has the time of the clock, so under a slow clock it would have expired when it arrives.
@Suite("sealing and opening with a slow clock", .ownThreads)
struct SlowClockTests {
    private static let slow = "2020-01-01T00:00:00Z"
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.createAtNewYear("Keys/fleet")
        try place.createAtNewYear("Keys/backend", "sender")
        try place.createAtNewYear("Keys/phone", "recipient")
        let record = try place.run("keys", "export", "Keys/phone", "--registration", "--at", Workplace.newYear)
        try place.write(record.stdout, to: "record.json")
    }

    @Test(
        "seal exits 78 if the clock is before the last change of a keyset, and seals with --confirm-clock",
        arguments: [
            ["--to", "Keys/fleet", "--device", "d1"], ["--to", "Keys/phone"],
            ["--to", "record.json", "--sign-with", "Keys/backend"],
        ])
    func seal(_ keys: [String]) throws {
        for line in [Workplace.inner, Data(#"{"payload":{"aps":{"alert":"x"}},"device":"d1"}"#.utf8)] {
            let isBatch = line != Workplace.inner
            let options =
                isBatch ? keys.filter { !["--device", "d1"].contains($0) } + ["--batch", "--errors", "e"] : keys
            let command = ["seal", "--topic", Workplace.topic, "--at", Self.slow] + options
            let refused = try place.run(command, stdin: line)
            expectRefusal(refused, 78, saying: "the clock is at 2020-01-01T00:00:00Z, which is before the last change")
            #expect(try place.run(command + ["--confirm-clock"], stdin: line).exit == 0)
        }
    }

    @Test("the record of a device is sealed to with any clock, because the device's clock may be ahead")
    func record() throws {
        let output = try place.run(
            "seal", "--to", "record.json", "--topic", Workplace.topic, "--at", Self.slow, stdin: Workplace.inner)
        #expect(output.isSuccess && output.stderr.isEmpty, "\(output)")
    }

    @Test("open says that the clock is before the last change of the keyset; with a right clock it says nothing")
    func open() throws {
        let push = try place.sealed(to: "Keys/fleet", at: Workplace.newYear, device: "d1")
        let command = ["open", "--keys", "Keys/fleet", "--device", "d1", "--topic", Workplace.topic]
        let slow = try place.run(command + ["--at", Self.slow], stdin: push)
        #expect(slow.exit == 65)
        #expect(slow.stderr.contains("Keys/fleet: the clock is at 2020-01-01T00:00:00Z, which is before the last"))
        let right = try place.run(command + ["--at", Workplace.newYear], stdin: push)
        #expect(right.isSuccess && right.stderr.isEmpty, "\(right)")
    }
}
