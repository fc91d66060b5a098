#if canImport(Security)
import PushCryptExtension
import Security

extension DeviceKeyError {
    /// What a status of the keychain means here.
    ///
    /// Before the first unlock items of this class answer that no interaction is allowed; no keychain at all is taken for
    /// the same: both go away by themselves.
    init(_ status: OSStatus, _ what: String) {
        let code: Code =
            switch status {
            case errSecItemNotFound: .notFound
            case errSecInteractionNotAllowed, errSecNotAvailable: .locked
            case errSecDecode: .damaged
            case errSecMissingEntitlement: .notEntitled
            default: .failed
            }
        self.init(code, "the keychain can't \(what): status \(status)")
    }
}
#endif
