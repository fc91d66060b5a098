// Uses what makes an app link cryptography, the store and the adapters. Only the Mac's workflow builds it, and nothing runs it.
import SwiftUI

#if os(tvOS)
import PushCryptExtension
#else
import PushCryptApple
#endif

@main struct LinkedApp: App {
    var body: some Scene { WindowGroup { Text(LinkedApp.used()) } }

    private static func used() -> String {
        do {
            #if os(tvOS)
            let opener = try Opener(
                topic: "com.example.app", keyring: FileKeyring(folder: "keys"), senders: .unsigned)
            return "\(opener.open([], at: .now))"
            #else
            let group = try appGroup()
            let opener = try Opener(
                topic: group.topic, keyring: group.keyring, senders: .pinned(group.senderPins()))
            _ = try systemReceipts(group)
            return "\(opener.open([], at: .now)) \(SystemNotifications())"
            #endif
        } catch {
            return "\(error)"
        }
    }
}
