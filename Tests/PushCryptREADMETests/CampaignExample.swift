import PushCryptSender

/// One push to very many: on all cores, in order, and in as much memory as for ten.
struct CampaignPusher {
    let sealer: Sealer
    /// Hands a body to the connection to APNs; waits where that is busy.
    let send: @Sendable (SealedPush, _ token: String) async throws -> Void

    /// - Parameter registrations: tokens with their keys, as they come out of a database.
    /// - Returns: tokens that nothing could be sealed for, with the reason.
    func push<Registrations: AsyncSequence & Sendable>(
        _ notification: PushNotification, named campaign: String, to registrations: Registrations
    ) async throws -> [(token: String, error: SenderError)]
    where Registrations.Element == (token: String, recipient: Recipient) {
        // Sealed again after a crash, it is still the same push to the device.
        let options = Sealer.Options(expiresAfterInSeconds: 86_400, campaign: campaign)
        let requests = registrations.map { token, recipient in
            SealRequest(notification, to: recipient, placeholder: .standard, options: options, context: token)
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
