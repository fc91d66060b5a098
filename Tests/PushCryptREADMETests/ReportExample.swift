import Foundation
import PushCryptApple
import PushCryptExtension

/// The report that a user sends with a request for help.
func reportOfThisDevice() throws -> Data {
    let report = DeviceReport(appGroup: "group.com.example.app") { group in .pinned(try group.senderPins()) }
    return try report.json()
}
