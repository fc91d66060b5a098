import PushCryptCore

/// Why a message that was sealed isn't a notification (PROTOCOL section 5). It contains no content.
enum MessageFlaw {
    /// What is wrong with a message without a valid header.
    static func malformed(_ inner: InnerPayload) -> String {
        guard let header = inner.text.root[MessageHeader.name] else { return "it has no member pushcrypt" }
        guard let id = header["id"]?.string, MessageHeader.isID(id) else {
            return "pushcrypt.id isn't base64url of 16 bytes"
        }
        guard let issuedAt = header["iat"]?.protocolInteger, let expiresAt = header["exp"]?.protocolInteger else {
            return "pushcrypt.iat and pushcrypt.exp must be integers, seconds since 1970"
        }
        guard issuedAt < expiresAt, expiresAt - issuedAt <= MessageHeader.windowInSeconds else {
            return
                "pushcrypt.exp is \(expiresAt - issuedAt) seconds after pushcrypt.iat; 1 second to 30 days are allowed"
        }
        return inner.header(proof: []) == nil
            ? "pushcrypt.attachments, offload or test has another form than the protocol's"
            : "pushcrypt.retract, quiet or badge, or the use of an attachment, has another form than the protocol's"
    }
}
