public import PushCryptCore

extension SenderSetVersion {
    /// Reads which set of sender keys a device has accepted: `PushRegistration.Upload.senderSetVersion`.
    ///
    /// ```
    /// {"epoch": N, "seq": N, "digest": BASE64URL(32 bytes)}
    /// ```
    /// If the digest isn't that of your set with this `seq`, or you never published this `seq`, the device has a set that isn't
    /// yours.
    ///
    /// - Parameter json: UTF-8 JSON of at most 4,096 bytes.
    /// - Throws: `SenderError` with `malformed`.
    public init(json: some Collection<UInt8>) throws(SenderError) {
        guard json.count <= Registration.maximumByteCount, let version = SenderSetVersion(reading: Array(json)) else {
            throw SenderError(.malformed, "the version of the sender set isn't JSON with epoch, seq and digest")
        }
        self = version
    }
}
