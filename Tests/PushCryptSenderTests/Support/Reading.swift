import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptSender
import Testing

/// A sealed push as its recipient reads it. The outside is read by Foundation, which shares nothing with the sealer.
struct Reading {
    let outer: [String: Any]
    /// The message with its padding.
    let message: [UInt8]
    let inner: InnerPayload

    init(_ push: SealedPush, _ channel: Channel) throws {
        outer = try #require(JSONSerialization.jsonObject(with: push.json) as? [String: Any])
        let envelope = try #require(outer["pushcrypt"] as? [String: Any])
        let entry = try Keyset(json: TestKeys.privateJWK(channel.key), backend: channel.backend).entries[0]
        #expect(envelope["kid"] as? String == entry.record.kid.description)
        #expect(envelope["v"] as? Int == 1)
        #expect(envelope.count == (channel.isSigned ? 4 : 3))
        let text = try #require(envelope["sealed"] as? String)
        let sealed = try #require(Base64URL.decode(Array(text.utf8)[...]))
        var signer: (KeyID, TrustedSenders)?
        if channel.isSigned {
            let keyset = try Keyset(json: TestKeys.publicJWK("sender"), backend: channel.backend)
            #expect(envelope["skid"] as? String == keyset.keyIDs[0].description)
            signer = (keyset.keyIDs[0], try TrustedSenders(keyset))
        }
        message = try Envelope.open(
            sealed, with: RecipientKey(entry),
            signedBy: try signer.map { ($0, try $1.verificationKey($0, at: Channel.now).key) },
            topic: Topic("com.example.app"))
        inner = try InnerPayload(message: message)
    }

    /// The member `sealed`.
    var sealedText: String { (outer["pushcrypt"] as? [String: Any])?["sealed"] as? String ?? "" }
    var payload: String { String(decoding: inner.withoutHeader, as: UTF8.self) }
    var aps: [String: Any] { outer["aps"] as? [String: Any] ?? [:] }
    var alert: [String: Any] { aps["alert"] as? [String: Any] ?? [:] }
}

/// Expects a `SenderError` with that code and returns it.
@discardableResult
func expectSenderError(
    _ code: SenderError.Code, _ comment: Comment? = nil, location: SourceLocation = #_sourceLocation,
    _ body: () throws -> some Any
) -> SenderError? {
    let error = #expect(throws: SenderError.self, comment, sourceLocation: location) { _ = try body() }
    if let error {
        #expect(error.code == code, comment ?? "\(error)", sourceLocation: location)
        #expect((error.bytesNeeded != nil) == (code == .tooLarge), sourceLocation: location)
        #expect((error.bytesAvailable != nil) == (code == .tooLarge), sourceLocation: location)
    }
    return error
}

/// Expects a `KeyError` with that code.
func expectKeyError(_ code: KeyError.Code, location: SourceLocation = #_sourceLocation, _ body: () throws -> some Any) {
    let error = #expect(throws: KeyError.self, sourceLocation: location) { _ = try body() }
    #expect(error?.code == code, "\(error.map(\.reason) ?? "")", sourceLocation: location)
}

/// Expects a `KeystoreError` with that code and returns it.
@discardableResult
func expectKeystoreError(
    _ code: KeystoreError.Code, location: SourceLocation = #_sourceLocation, _ body: () throws -> some Any
) -> KeystoreError? {
    let error = #expect(throws: KeystoreError.self, sourceLocation: location) { _ = try body() }
    #expect(error?.code == code, "\(error.map(\.reason) ?? "")", sourceLocation: location)
    return error
}
