import Foundation
import PushCryptApple
import PushCryptExtension

/// The report that a user sends with a request for help. The centre is `SystemNotifications()`.
func reportOfThisDevice(_ center: any UserNotificationCenter) async throws -> Data {
    var report = DeviceReport(appGroup: "group.com.example.app") { group in .pinned(try group.senderPins()) }
    report.allowsAlerts = await center.settings().showsAlerts
    return try report.json()
}
