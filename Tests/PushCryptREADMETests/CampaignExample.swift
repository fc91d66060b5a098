import PushCryptSender

/// Sends one push to many devices, on all cores, in order, in constant memory.
struct CampaignPusher {
    let sealer: Sealer
    /// Sends a body over the connection to APNs; waits while that is busy.
    let send: @Sendable (SealedPush, _ token: String) async throws -> Void

    /// - Parameter registrations: device tokens with their keys, for example from a database.
    /// - Returns: the tokens for which sealing failed, with the reason.
    func push<Registrations: AsyncSequence & Sendable>(
        _ notification: PushNotification, named campaign: String, to registrations: Registrations
    ) async throws -> [(token: String, error: SenderError)]
    where Registrations.Element == (token: String, recipient: Recipient) {
        // The campaign's name makes the message ids: a device shows the push once, even if it is sealed again after a crash.
        let encoded = try sealer.encode(notification)
        let requests = registrations.map { token, recipient in
            // Changes the sealer's options. Its padding and its other settings stay.
            SealRequest(encoded, to: recipient, context: token) { options in
                options.campaign = campaign
                options.expiresAfter = .seconds(86_400)
            }
        }
        var refused: [(token: String, error: SenderError)] = []
        for try await outcome in BatchSealer(sealer).seal(requests) {
            switch outcome.result {
            case .success(let push): try await send(push, outcome.context)
            case .failure(let error): refused.append((outcome.context, error))
            }
        }
        return refused
    }
}
