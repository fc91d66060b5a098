import Foundation
import PushCryptCore
import Testing

@Suite("The default clock")
struct SystemClockTests {
    @Test("UnixTime.now is between two readings of Foundation's clock")
    func agreesWithFoundation() {
        let before = Int64(Date().timeIntervalSince1970)
        let now = UnixTime.now.seconds
        let after = Int64(Date().timeIntervalSince1970)
        #expect((before...max(before, after)).contains(now))
    }
}
