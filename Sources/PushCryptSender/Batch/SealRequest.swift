public import PushCryptCore

/// One push of a batch.
public struct SealRequest<Context: Sendable>: Sendable {
    /// As for ``Sealer/seal(_:to:placeholder:attachments:offload:isSelfTest:options:)``, as are the next ones.
    public var payload: any Encodable & Sendable
    public var recipient: Recipient
    public var placeholder: Placeholder
    public var attachments: [AttachmentReference]
    public var offload: OffloadReference?
    /// nil: the sealer's own.
    public var options: Sealer.Options?
    /// Whatever tells you what the result belongs to; it comes back with it.
    public var context: Context

    public init(
        _ payload: any Encodable & Sendable, to recipient: Recipient, placeholder: Placeholder,
        attachments: [AttachmentReference] = [], offload: OffloadReference? = nil, options: Sealer.Options? = nil,
        context: Context
    ) {
        self.payload = payload
        self.recipient = recipient
        self.placeholder = placeholder
        self.attachments = attachments
        self.offload = offload
        self.options = options
        self.context = context
    }
}

/// What became of a ``SealRequest``.
public struct SealOutcome<Context: Sendable>: Sendable {
    /// The request's own.
    public let context: Context
    /// The payload to send, or why this one push wasn't sealed.
    public let result: Result<SealedPush, SealError>

    init(_ request: SealRequest<Context>, _ sealer: Sealer) {
        context = request.context
        result = Result { () throws(SealError) in
            do {
                return try sealer.seal(
                    request.payload, to: request.recipient, placeholder: request.placeholder,
                    attachments: request.attachments, offload: request.offload, options: request.options)
            } catch let error as SealError {
                throw error
            } catch {
                // The encoder's own words may quote the payload.
                throw SealError(.invalidPayload, "the payload can't be encoded as JSON")
            }
        }
    }
}
