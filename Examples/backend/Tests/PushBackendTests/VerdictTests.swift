import Testing

@testable import PushBackend

@Suite("what an answer of APNs means") struct VerdictTests {
    private static let pausing: Set<String> = ["TooManyProviderTokenUpdates", "ServiceUnavailable", "Shutdown"]
    private static let retried: Set<String> = ["TooManyRequests", "InternalServerError", "IdleTimeout"]

    /// "Handling notification responses from APNs": a status and its reasons.
    private static let page = [
        400: "BadCollapseId BadDeviceToken BadExpirationDate BadMessageId BadPriority BadTopic DeviceTokenNotForTopic "
            + "DuplicateHeaders IdleTimeout InvalidPushType MissingDeviceToken MissingTopic PayloadEmpty TopicDisallowed",
        403: "BadCertificate BadCertificateEnvironment ExpiredProviderToken Forbidden InvalidProviderToken "
            + "MissingProviderToken UnrelatedKeyIdInToken BadEnvironmentKeyIdInToken",
        404: "BadPath", 405: "MethodNotAllowed", 410: "ExpiredToken Unregistered", 413: "PayloadTooLarge",
        429: "TooManyProviderTokenUpdates TooManyRequests", 500: "InternalServerError",
        503: "ServiceUnavailable Shutdown",
    ].flatMap { status, reasons in reasons.split(separator: " ").map { (status, String($0)) } }

    @Test("every reason of Apple's page has its meaning", arguments: page)
    func everyReason(status: Int, reason: String) {
        let response = PushResponse(status: status, reason: reason, timestamp: 7, retryAfter: 3)
        let expected: Verdict =
            if reason == "ExpiredProviderToken" {
                .renewToken
            } else if status == 403 {
                .correctToken(afterInSeconds: 3)
            } else if status == 410 {
                .tokenEnded(at: 7)
            } else if ["BadDeviceToken", "DeviceTokenNotForTopic"].contains(reason) {
                .tokenEnded(at: nil)
            } else if Self.pausing.contains(reason) {
                .pause(forSeconds: 3)
            } else if Self.retried.contains(reason) {
                .retry(afterInSeconds: 3)
            } else {
                .fail
            }
        #expect(Verdict(response) == expected)
    }

    @Test("an accepted push is sent, and a 410 without a time removes no token") func others() {
        #expect(Verdict(PushResponse(status: 200)) == .sent)
        #expect(Verdict(PushResponse(status: 410, reason: "Unregistered")) == .tokenEnded(at: 0))
    }
}

@Suite("waiting after failures") struct BackoffTests {
    @Test(
        "the wait doubles up to the longest one", arguments: zip(1...6, [100, 200, 400, 800, 1_000, 1_000] as [Int64]))
    func doubling(failures: Int, expected: Int64) {
        let backoff = Backoff(first: 100, longest: 1_000, random: { 1 })
        #expect(backoff.wait(afterFailures: failures) == expected)
    }

    @Test("jitter takes at most half of the wait, and Retry-After is the shortest one") func limits() {
        #expect(Backoff(first: 100, longest: 1_000, random: { 0 }).wait(afterFailures: 2) == 100)
        #expect(Backoff(first: 100, longest: 1_000, random: { 1 }).wait(afterFailures: 1, requested: 5) == 5_000)
    }

    @Test("answers to requests that were sent together close the gate once") func gate() {
        let gate = Gate(Backoff(first: 100, longest: 1_000, random: { 1 }))
        #expect(gate.close(at: 0) == 100)
        #expect(gate.close(at: 10) == 100)
        #expect(!gate.isOpen(at: 99))
        #expect(gate.isOpen(at: 100))
        #expect(gate.close(at: 100) == 300)
        gate.succeeded()
        #expect(gate.close(at: 400) == 500)
    }
}
