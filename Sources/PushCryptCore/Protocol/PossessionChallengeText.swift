import PushCryptPrimitives

/// A challenge as a backend sends it (PROTOCOL section 13).
///
/// ```
/// {"v": 1, "registration": RID, "kid": KID, "sealed": BASE64URL [, "skid": KID]}
/// ```
package struct PossessionChallengeText: Sendable {
    package let registrationID: RegistrationID
    package let kid: KeyID
    package let skid: KeyID?
    package let sealed: [UInt8]

    package init(registrationID: RegistrationID, kid: KeyID, skid: KeyID?, sealed: [UInt8]) {
        self.registrationID = registrationID
        self.kid = kid
        self.skid = skid
        self.sealed = sealed
    }

    /// - Throws: `FailureClass`: `malformed`, `unsupportedVersion`.
    package init(json: [UInt8]) throws(FailureClass) {
        guard json.count <= Possession.maximumByteCount, let root = (try? JSONText(json))?.root,
            let version = root["v"]?.protocolInteger
        else { throw .malformed }
        guard version == OuterPayload.version else { throw .unsupportedVersion }
        guard let registrationID = root["registration"]?.string.flatMap(RegistrationID.init),
            let kid = root["kid"]?.utf8.flatMap(KeyID.init(utf8:)),
            let sealed = root["sealed"]?.utf8.flatMap(Base64URL.decode), !sealed.isEmpty
        else { throw .malformed }
        let skid = root["skid"].map { $0.utf8.flatMap(KeyID.init(utf8:)) }
        if case .some(.none) = skid { throw .malformed }
        self.init(registrationID: registrationID, kid: kid, skid: skid ?? nil, sealed: sealed)
    }

    package var json: [UInt8] {
        var json = Array(#"{"v":1,"registration":"\#(registrationID)","kid":"\#(kid)","sealed":""#.utf8)
        Base64URL.append(sealed.bytes, to: &json)
        json.append(UInt8(ascii: "\""))
        if let skid { json += #","skid":"\#(skid)""#.utf8 }
        json.append(UInt8(ascii: "}"))
        return json
    }
}

/// A device's answer to a challenge (PROTOCOL section 13).
///
/// ```
/// {"registration": RID, "answer": BASE64URL(32 bytes)}
/// ```
package struct PossessionAnswerText: Sendable {
    package let registrationID: RegistrationID
    /// 32 bytes.
    package let code: [UInt8]

    package init(registrationID: RegistrationID, code: [UInt8]) {
        self.registrationID = registrationID
        self.code = code
    }

    /// - Returns: nil for another form.
    package init?(json: [UInt8]) {
        guard json.count <= Possession.maximumByteCount, let root = (try? JSONText(json))?.root,
            let registrationID = root["registration"]?.string.flatMap(RegistrationID.init),
            let code = root["answer"]?.utf8.flatMap(Base64URL.decode), code.count == Possession.codeByteCount
        else { return nil }
        self.init(registrationID: registrationID, code: code)
    }

    package var json: [UInt8] {
        Array(#"{"registration":"\#(registrationID)","answer":"\#(Base64URL.encode(code))"}"#.utf8)
    }
}
