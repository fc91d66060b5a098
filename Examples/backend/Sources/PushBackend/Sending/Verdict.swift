/// What an answer of APNs means for a delivery: "Handling notification responses from APNs".
enum Verdict: Hashable, Sendable {
    case sent
    /// Try this delivery again.
    case retry(afterInSeconds: Int64?)
    /// Try again, and send nothing to this server meanwhile.
    case pause(forSeconds: Int64?)
    /// APNs refuses the provider token, and the operator must correct the key or its ids. Until then every push would be refused.
    case correctToken(afterInSeconds: Int64)
    /// Make another provider token, and try again.
    case renewToken
    /// The token isn't valid: since a time in milliseconds since 1970, or nil for a token that APNs doesn't know.
    case tokenEnded(at: Int64?)
    /// The request will never be accepted.
    case fail

    init(_ response: PushResponse) {
        switch (response.status, response.reason) {
        case (200, _): self = .sent
        case (403, "ExpiredProviderToken"): self = .renewToken
        case (403, _): self = .correctToken(afterInSeconds: response.retryAfter ?? 30)
        case (410, _): self = .tokenEnded(at: response.timestamp ?? 0)
        case (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"): self = .tokenEnded(at: nil)
        // Too many pushes to one device: only this device waits.
        case (429, "TooManyRequests"): self = .retry(afterInSeconds: response.retryAfter)
        case (429, _), (503, _): self = .pause(forSeconds: response.retryAfter)
        case (400, "IdleTimeout"), (408, _), (500..., _): self = .retry(afterInSeconds: response.retryAfter)
        default: self = .fail
        }
    }
}
