import PushCryptPrimitives

@testable import PushCryptCore

/// The bytes of the context info, for tests that compare them or seal with them.
func contextInfo(suite: Suite, profile: Profile, kid: KeyID, skid: KeyID?, topic: Topic) -> [UInt8] {
    withContextInfo(suite: suite, profile: profile, kid: kid, skid: skid, topic: topic) { info in Array(info) }
}
