//  For a sender that seals and uploads at one time and pushes at another: what it keeps in between.

extension AttachmentReference {
    /// Reads what ``json`` is.
    ///
    /// - Throws: `BlobError` with `invalidReference`.
    public init(json: [UInt8]) throws(BlobError) {
        guard let read = (try? JSONText(json)).flatMap({ AttachmentReference($0.root) }) else {
            throw BlobError(.invalidReference, "not an attachment's reference: a member is missing or wrong")
        }
        self = read
    }

    /// The object as it stands in a message, UTF-8 JSON. A secret, as it holds the key.
    public var json: [UInt8] {
        var json: [UInt8] = []
        append(to: &json)
        return json
    }
}

extension OffloadReference {
    /// Reads what ``json`` is.
    ///
    /// - Throws: `BlobError` with `invalidReference`.
    public init(json: [UInt8]) throws(BlobError) {
        guard let read = (try? JSONText(json)).flatMap({ OffloadReference($0.root) }) else {
            throw BlobError(.invalidReference, "not an offloaded payload's reference: a member is missing or wrong")
        }
        self = read
    }

    /// The object as it stands in a message, UTF-8 JSON. A secret, as it holds the key.
    public var json: [UInt8] {
        var json: [UInt8] = []
        append(to: &json)
        return json
    }
}
