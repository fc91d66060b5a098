import PushCryptApple
import PushCryptPrimitives

/// The public key of the test's sender, in place of the text in the sample's file.
let senderKey = Locked("")

func appGroup() throws -> AppGroup { try AppGroup("group.com.example.app") }

func sharedConfiguration(_ group: AppGroup) throws -> ExtensionConfiguration {
    try ExtensionConfiguration(
        group, senders: .key(senderKey.withLock { $0 }),
        fallback: .bundled(.localized(title: "NEW_MESSAGE", body: nil)))
}
