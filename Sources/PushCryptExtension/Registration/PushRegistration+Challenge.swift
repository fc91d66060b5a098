import PushCryptCore
import PushCryptPrimitives

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension PushRegistration.Upload {
    /// Answers the challenge with which the backend replies to the upload: proves that this device has the record's private key
    /// (PROTOCOL section 13). Call it in the registration's `upload` function.
    ///
    /// - Parameters:
    ///   - challenge: the body of the backend's reply, UTF-8 JSON.
    ///   - host: the host of the address of your backend, in lower case and without port, as in the app's configuration.
    /// - Returns: the body of the request that completes the registration, UTF-8 JSON.
    /// - Throws: `FailureClass` for a challenge that doesn't open, by the classes of pushes; `KeyError` with `invalidHost`;
    ///   `DeviceKeyError` with `unsuitable` if the registration was made without an opener.
    public func answer(_ challenge: Data, host: String) throws -> Data {
        guard let opener else {
            throw DeviceKeyError(.unsuitable, "the registration was made without an opener, which challenges need")
        }
        let record = SecretBytes(copying: [UInt8](record).bytes)
        return Data(try opener.answer(challenge: [UInt8](challenge), record: record, host: host, at: time))
    }
}
