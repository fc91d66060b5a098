import PushCryptCore
import Testing

@testable import PushCryptKeystore

/// Tests with one device. Keys begin to seal on days 40, 80 and 120, the last one until day 160. A push arrives every day
/// at midnight.
@Suite("RehearsalPass")
struct RehearsalPassTests {
    private func tally(_ device: RehearsedDevice, lead: Int64) -> RehearsalTally {
        var pass = RehearsalPass(RehearsedRotation(rotateEveryInSeconds: 40 * day, publishLeadInSeconds: lead))
        pass.add(device)
        return pass.tally
    }

    /// Fetches at midnight of days 36, 72, 108 and 144. The push of the same second arrives before the fetch.
    private static let slow = RehearsedDevice(
        fetches: EvenMoments(phase: 0, interval: 36 * day), pushes: EvenMoments(phase: 0, interval: day))

    @Test(
        "pushes are lost until the next fetch after the activation, and counted separately after 30 days without a fetch"
    )
    func slow() {
        let pushes = tally(Self.slow, lead: 3 * day).pushes
        #expect(pushes.sent == 120)
        // Days 40 to 66, 80 to 102, 120 to 138.
        #expect(pushes.keyNotFetched == 27 + 23 + 19)
        // Days 67 to 72, 103 to 108, 139 to 144.
        #expect(pushes.deviceUnseen == 18)
        #expect(pushes.opened == 120 - 69 - 18)
    }

    @Test(
        "a key is fetched if its lead reaches back to the second of the fetch",
        arguments: [(4, 4 * day, 42), (8, 8 * day, 19), (12, 12 * day, 0)])
    func lead(_ days: Int64, _ lead: Int64, _ lost: Int) {
        let enough = tally(Self.slow, lead: lead)
        #expect(enough.pushes.keyNotFetched == lost)
        #expect(enough.pushLeads.longestInSeconds == 12 * day)
        #expect(tally(Self.slow, lead: lead - 1).pushes.keyNotFetched > lost)
    }

    /// A device that fetches daily at 1 o'clock and is offline from `start` to day 100.
    private func absent(from start: Int64) -> RehearsedDevice {
        RehearsedDevice(
            fetches: EvenMoments(phase: hour, interval: day), pushes: EvenMoments(phase: 0, interval: day),
            offline: [start..<100 * day])
    }

    @Test("APNs stores a push for exactly 30 days")
    func storage() {
        #expect(tally(absent(from: 70 * day), lead: 30 * day).pushes.lostToAPNs == 0)
        let longer = tally(absent(from: 70 * day - 1), lead: 30 * day)
        #expect(longer.pushes.lostToAPNs == 0 && longer.pushes.keyNotFetched == 0)
        #expect(tally(absent(from: 69 * day), lead: 30 * day).pushes.lostToAPNs == 1)
    }

    @Test("when a device returns, it receives the stored pushes before its first fetch")
    func returning() {
        // The last fetch is on day 69 at 1 o'clock, and the key of day 80 is published later. The pushes of days 80 to 99
        // are stored, and that of day 100 arrives when the device returns.
        let tally = tally(absent(from: 70 * day), lead: 7 * day)
        // 30 days and 23 hours without a fetch.
        #expect(tally.pushes.keyNotFetched == 0 && tally.pushes.deviceUnseen == 21)
        let nearer = self.tally(absent(from: 75 * day), lead: day)
        #expect(nearer.pushes.keyNotFetched == 21 && nearer.pushes.deviceUnseen == 0)
        #expect(nearer.pushLeads.longestInSeconds == 6 * day - hour)
    }

    @Test("a fetch that was due during an absence is skipped")
    func missed() {
        var device = Self.slow
        device.offline = [71 * day..<73 * day]
        #expect(device.lastFetch(before: 80 * day) == 36 * day)
        #expect(device.firstFetch(from: 40 * day) == 108 * day)
        device.offline = [71 * day..<72 * day]
        #expect(device.firstFetch(from: 40 * day) == 72 * day)
    }
}
