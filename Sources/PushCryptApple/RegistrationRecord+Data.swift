public import Foundation
public import PushCryptExtension
import PushCryptPrimitives

extension RegistrationRecord {
    /// The record as the body of its upload, UTF-8 JSON. It is a secret, and a copy that nobody can wipe: keep it no longer
    /// than the request.
    public var requestBody: Data { Data([UInt8](jwk.bytes)) }
}
