package import PushCryptCore

/// The message and the payload that the jobs seal.
package enum TestMessage {
    package static let topic = "com.example.app"
    package static let time = UnixTime(1_800_000_000)
    /// The length of the padded payload, and of the floor's message for the payload jobs.
    package static let paddedPayloadByteCount = 512

    /// A chat message of 412 bytes, which is padded to 512.
    package static let payload = Array(
        """
        {"aps":{"alert":{"title":"Ada Lovelace","subtitle":"Analytical Engine","body":"The Engine might compose \
        elaborate and scientific pieces of music of any degree of complexity or extent."},"badge":3,\
        "sound":"message.caf","thread-id":"conversation-71c2","category":"MESSAGE","interruption-level":"active"},\
        "conversation":"71c2b9f0-8d2e-4f0c-9a54-1f3b7f9f3a10","message":918273645,"sender":{"id":"ada","avatar":null}}
        """.utf8)
}
