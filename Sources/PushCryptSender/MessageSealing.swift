import PushCryptCore

/// What a call to a sealer gives beside the payload.
struct MessageParts: Sendable {
    /// The placeholder's JSON; nil if the placeholder has no text.
    let alert: [UInt8]?
    var extras: MessageExtras
    let options: Sealer.Options

    /// Checks the options. Call it before the payload is parsed, because the names of exposed members may be untrusted, as in
    /// the lines of a batch.
    ///
    /// - Throws: `SenderError` with `invalidOption`.
    func check() throws(SenderError) {
        if let flaw = extras.flaw { throw SenderError(.invalidOption, flaw) }
        try options.check()
    }
}

/// Seals one message (PROTOCOL sections 2 to 5):
/// ```
/// header  = id, iat, exp, extras
/// message = inner payload with header || padding
/// sealed  = Envelope.seal(message)
/// payload = frame with sealed
/// ```
struct MessageSealing {
    let topic: Topic
    /// With the key of the day, if the device has one.
    let recipient: Recipient
    /// Of the registration record.
    let device: Recipient
    let signer: Signer.Choice?
    let parts: MessageParts
    let time: UnixTime

    /// - Throws: `SenderError` with `noDayKey`, and as for a record for a day key that can't be used.
    init(topic: Topic, recipient: Recipient, signer: Signer.Choice?, parts: MessageParts, time: UnixTime) throws {
        (self.topic, device, self.signer, self.parts, self.time) = (topic, recipient, signer, parts, time)
        let ofDay: Recipient?
        do { ofDay = try recipient.ofDay(at: time) } catch { throw SenderError(registration: error) }
        guard ofDay != nil || recipient.deviceSet == nil || !parts.options.requiresDayKey else {
            throw SenderError(
                .noDayKey,
                "the device set of key \(recipient.kid) has no key for \(time): the app must run and upload its next keys"
            )
        }
        self.recipient = ofDay ?? recipient
    }

    private var usesLastResortKey: Bool { device.deviceSet != nil && recipient.kid == device.kid }

    private var options: Sealer.Options { parts.options }

    /// - Throws: `SenderError`; what the options' plan for payloads that don't fit throws.
    func push(_ payload: EncodedPayload) throws -> SealedPush {
        do {
            if let minimum = options.minimumSuite { try recipient.requireSuite(atLeast: minimum) }
            guard !options.requiresDevice || !recipient.isBareSharedKey else {
                throw SenderError(
                    .deviceMissing,
                    "key \(recipient.kid) is a shared key, and everyone who has it could open the push: seal to a device's key"
                )
            }
            let minimum = options.oversize.minimumBodyLength
            var push = try push(payload.inner, header(parts.extras), parts.extras, minimum)
            push.warnings = payload.warnings
            return push
        } catch let error as SenderError {
            throw error
        } catch let error as StoreFailure {
            throw error.underlying
        } catch {
            throw SenderError(error)
        }
    }

    /// - Parameter minimum: the number of characters of the body that stay; nil if it isn't shortened.
    private func push(
        _ inner: InnerPayload, _ header: MessageHeader, _ extras: MessageExtras, _ minimum: Int?
    ) throws -> SealedPush {
        let frame = try frame(around: inner)
        let budget = budget(frame)
        let message = try inner.message(with: header)
        let excess = message.count - budget.messageCapacity
        guard excess > 0 else { return try sealed(message, header, frame, budget) }
        if let minimum, let shorter = try inner.shorteningBody(by: excess, toAtLeast: minimum) {
            var push = try sealed(shorter.message(with: header), header, frame, budget)
            push.isBodyShortened = true
            return push
        }
        if let store = options.oversize.store, extras.offload == nil {
            return try offloaded(inner, header, extras, store)
        }
        let needed = budget.payloadByteCount(messageByteCount: message.count)
        let unescaped = budget.payloadByteCount(messageByteCount: message.count - inner.text.escapingByteCount)
        let fits = unescaped <= budget.limitInBytes
        throw SenderError(
            .tooLarge,
            "the sealed payload takes \(needed) bytes and the limit is \(budget.limitInBytes)"
                + (fits ? "; with UTF-8 in place of escapes such as \\u00e9 and \\/ it takes \(unescaped) bytes" : ""),
            bytesNeeded: needed, bytesAvailable: budget.limitInBytes, bytesWithoutEscapes: fits ? unescaped : nil)
    }

    /// Seals the payload as a blob, and a push with the payload's alert and the blob's address.
    private func offloaded(
        _ inner: InnerPayload, _ header: MessageHeader, _ extras: MessageExtras,
        _ store: (SealedBlob) throws -> String
    ) throws -> SealedPush {
        guard !extras.isQuiet else {
            throw SenderError(
                .invalidOption, "a quiet message can't have an offloaded payload, and this one doesn't fit")
        }
        let blob = try Sealer.blob(of: inner.text.bytes, recipient.backend)
        let url: String
        do { url = try store(blob) } catch { throw StoreFailure(underlying: error) }
        var extras = extras
        do {
            extras.offload = try OffloadReference(url: url, blob: blob.reference)
        } catch {
            throw SenderError(.invalidOption, "the address of the offloaded payload: \(error)")
        }
        let offloading = MessageHeader(
            id: header.id, issuedAt: header.issuedAt, expiresAt: header.expiresAt, extras: extras)
        // The blob contains the whole body, so the push needs one character of it.
        var push = try push(inner.withoutCustomMembers(), offloading, extras, 1)
        push.isOffloaded = true
        return push
    }

    private func sealed(
        _ message: consuming [UInt8], _ header: MessageHeader, _ frame: OuterFrame, _ budget: PayloadBudget
    ) throws -> SealedPush {
        let count = options.padding.paddedCount(message.count, capacity: budget.messageCapacity)
        message.append(contentsOf: repeatElement(paddingByte, count: count - message.count))
        let sealed = try Envelope.seal(message, to: recipient, signer: signer?.key, topic: topic)
        return SealedPush(
            bytes: frame.payload(sealed: sealed), id: Base64URL.encode(header.id), expiresAt: header.expiresAt,
            skid: signer?.key.kid, usesLastResortKey: usesLastResortKey, carrier: options.carrier,
            sealedAt: header.issuedAt, topic: topic, isQuiet: options.isQuiet, collapseID: options.collapseID)
    }

    /// The message's id and times.
    private func header(_ extras: MessageExtras) throws -> MessageHeader {
        let longest = device.longestLifetime.components.seconds
        let lifetime = options.expiresAfter?.components.seconds ?? longest
        guard lifetime <= longest else {
            throw SenderError(
                .expiresTooLate,
                "the device of key \(device.kid) erases its keys after a flight of \(longest) seconds, and the push expires after "
                    + "\(lifetime): let it expire earlier")
        }
        let latest = UnixTime.protocolRange.upperBound - lifetime
        guard (UnixTime.protocolRange.lowerBound...latest).contains(time.seconds) else {
            throw SenderError(.invalidOption, "the protocol can't represent the time \(time.seconds)")
        }
        guard !extras.hasInstructions || !recipient.proof(isSigned: signer != nil).isEmpty else {
            throw SenderError(
                .notAuthenticated,
                "only a signed push, or one to a recipient with a psk or a shared key, can retract others, be quiet, add to "
                    + "the badge or have an avatar: everyone has key \(recipient.kid)")
        }
        let header = try MessageHeader.fresh(
            for: recipient, campaign: options.campaign, issuedAt: time,
            expiresAt: time + lifetime, extras: extras)
        if let flaw = header.flaw { throw SenderError(.invalidOption, flaw) }
        return header
    }

    /// The outer payload without the characters of `sealed`.
    private func frame(around inner: InnerPayload) throws(SenderError) -> OuterFrame {
        guard let alert = parts.alert else {
            throw SenderError(.invalidPlaceholder, "the placeholder has no text; iOS wouldn't run the extension")
        }
        let exposed = try ExposedMembers.rawMembers(
            of: inner.aps, named: options.exposed, isQuiet: options.isQuiet)
        try CarrierFields(options.carrier).check(alert: alert, exposed: options.exposed, inner.aps)
        return OuterFrame(
            placeholder: alert, exposed: exposed, kid: recipient.kid, skid: signer?.key.kid, carrier: options.carrier)
    }

    private func budget(_ frame: OuterFrame) -> PayloadBudget {
        PayloadBudget(
            limitInBytes: options.byteLimit, fixedByteCount: frame.byteCount,
            overheadByteCount: Envelope.overheadByteCount(recipient.suite, isSigned: signer != nil))
    }
}

/// An error of the caller's function that stores a blob. Sealing throws it as it is.
private struct StoreFailure: Error {
    let underlying: any Error
}

extension SealObservation {
    init(
        _ result: Result<SealedPush, any Error>, to recipient: Recipient, _ signer: Signer.Choice?, at time: UnixTime,
        after duration: Duration
    ) {
        let push = try? result.get()
        refusal = if case .failure(let error) = result { SenderError(sealing: error).code } else { nil }
        self.duration = duration
        suite = recipient.suite
        byteCount = push?.byteCount
        isBodyShortened = push?.isBodyShortened ?? false
        isOffloaded = push?.isOffloaded ?? false
        usesLastResortKey = push?.usesLastResortKey ?? false
        warnings = push?.warnings ?? []
        signedBy = signer?.key.kid
        signingKeyAge = signer?.activatedAt.map { .seconds(time.seconds - $0.seconds) }
        keysetSequence = signer?.sequence
    }
}
