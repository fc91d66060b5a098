import Foundation
import PushCryptCore
import PushCryptPrimitives
import PushCryptRecipients
import PushCryptTestSupport
import Testing

@Suite("looking up in JSON lines")
struct LookupTests {
    @Test("finds records of every sort, and nothing else")
    func everySort() throws {
        let devices = try Device.ofEverySort()
        let reader = try Place(devices.map(\.line)).reader()
        for device in devices {
            let found = try #require(try reader.recipient(kid: device.kid, device: device.device))
            let own = try Recipient(jwk: Array(device.line.utf8))
            #expect(found.kid == own.kid && found.suite == own.suite)
        }
        #expect(try reader.recipient(kid: Device.make().kid) == nil)
    }
}
