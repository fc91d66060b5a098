import PushCryptPrimitives

@testable import PushCryptCore

/// The context's bytes, where a test looks at them or seals by hand.
func contextInfo(suite: Suite, profile: Profile, kid: KeyID, skid: KeyID?, topic: Topic) -> [UInt8] {
    withContextInfo(suite: suite, profile: profile, kid: kid, skid: skid, topic: topic) { info in Array(info) }
}
