import Foundation
import Logging
import Metrics
import PushCryptSender

/// Seals deliveries, sends them, and decides what the answers mean.
struct DeliveryWorker: Sendable {
    let environment: APNsEnvironment
    let sealer: PushSealer
    /// Sends a request with a provider token, as ``APNsClient/send(_:providerToken:)``.
    let transport: @Sendable (PushRequest, String) async throws -> PushResponse
    let token: ProviderToken
    let gate: Gate
    let backoff: Backoff
    let milliseconds: @Sendable () -> Int64
    let logger: Logger

    /// Makes one attempt. The caller stores how it ended.
    func attempt(_ delivery: ClaimedDelivery) async -> DeliveryOutcome {
        let result = await result(of: delivery)
        let (name, reason) = result.label
        Counter(
            label: "push_attempts_total",
            dimensions: [("environment", environment.rawValue), ("result", name), ("reason", reason)]
        ).increment()
        logger.debug("attempt", metadata: ["apns-id": "\(delivery.apnsID)", "result": "\(name)"])
        return DeliveryOutcome(delivery: delivery, result: result)
    }

    private func result(of delivery: ClaimedDelivery) async -> DeliveryOutcome.Result {
        do {
            let (request, accepted) = try request(for: delivery)
            return await send(request, for: delivery, accepted)
        } catch let error as SenderError where !error.isTemporary {
            return .failed(reason: error.code.description)
        } catch let error as KeyError where error.code != .backendFailure && error.code != .noKeySeals {
            return .failed(reason: "\(error.code)")
        } catch {
            // The operator must add a signing key. Until then nothing can be sealed, and nothing is lost.
            if gate.isOpen(at: milliseconds()) {
                logger.error("nothing can be sealed", metadata: ["error": "\(error)"])
            }
            return pause(reason: "sealing")
        }
    }

    /// - Returns: also the result, if APNs accepts it.
    private func request(
        for delivery: ClaimedDelivery
    ) throws -> (request: PushRequest, accepted: DeliveryOutcome.Result) {
        guard delivery.kind == .notification else {
            let headers = [
                "apns-id": delivery.apnsID, "apns-topic": sealer.topic, "apns-push-type": "background",
                "apns-priority": "5", "apns-expiration": "\(delivery.expiresAt / 1_000)",
            ]
            let body = Array(#"{"aps":{"content-available":1}}"#.utf8)
            return (PushRequest(token: delivery.token, body: body, headers: headers), .sent(receiptName: nil))
        }
        let push = try sealer.seal(delivery)
        var headers = Dictionary(uniqueKeysWithValues: push.headers)
        headers["apns-id"] = delivery.apnsID
        headers["apns-priority"] = "\(delivery.priority)"
        // A push that is sent twice replaces itself on the screen, also if the device's key has changed in between.
        headers["apns-collapse-id"] = delivery.collapseID ?? delivery.apnsID
        return (
            PushRequest(token: delivery.token, body: push.bytes, headers: headers),
            .sent(receiptName: push.receiptName?.description, skid: push.skid?.description)
        )
    }

    private func send(
        _ request: PushRequest, for delivery: ClaimedDelivery, _ accepted: DeliveryOutcome.Result
    ) async -> DeliveryOutcome.Result {
        let providerToken: String
        do { providerToken = try await token.current() } catch {
            logger.warning("there is no provider token yet", metadata: ["error": "\(error)"])
            return pause(reason: "providerToken")
        }
        let start = ContinuousClock.now
        do {
            let response = try await transport(request, providerToken)
            Timer(
                label: "push_apns_duration_seconds", dimensions: [("status", "\(response.status)")],
                preferredDisplayUnit: .seconds
            ).record(duration: ContinuousClock.now - start)
            return await judge(response, delivery, accepted, providerToken)
        } catch let error as InvalidRequest {
            logger.error(
                "a push can't be sent: the request itself is wrong",
                metadata: ["apns-id": "\(delivery.apnsID)", "reason": "\(error.reason)"])
            return .failed(reason: "invalidRequest")
        } catch {
            // The push may have been accepted. It is sent again with the same ids.
            logger.warning(
                "no answer from APNs",
                metadata: [
                    "apns-id": "\(delivery.apnsID)", "environment": "\(environment.rawValue)", "error": "\(error)",
                ])
            _ = gate.close(at: milliseconds())
            return .unanswered(retryAt: retryTime(delivery), reason: "connection")
        }
    }

    private func judge(
        _ response: PushResponse, _ delivery: ClaimedDelivery, _ accepted: DeliveryOutcome.Result,
        _ providerToken: String
    ) async -> DeliveryOutcome.Result {
        let reason = response.reason ?? "\(response.status)"
        let verdict = Verdict(response)
        if verdict != .sent {
            logger.info(
                "APNs refused a push",
                metadata: [
                    "apns-id": "\(delivery.apnsID)", "environment": "\(environment.rawValue)",
                    "status": "\(response.status)", "reason": "\(reason)",
                ])
        }
        switch verdict {
        case .sent:
            gate.succeeded()
            return accepted
        case .retry(let seconds):
            return .retry(at: retryTime(delivery, requested: seconds), reason: reason)
        case .pause(let seconds): return pause(reason: reason, requested: seconds)
        case .correctToken(let seconds):
            // Once for all requests that were sent together.
            if gate.isOpen(at: milliseconds()) {
                logger.error(
                    """
                    APNs refuses the provider token, and pushes wait: check --provider-key, --provider-key-id and --team-id, and \
                    at Apple's developer site that the key is valid for this app and server; then restart the service
                    """, metadata: ["environment": "\(environment.rawValue)", "reason": "\(reason)"])
            }
            gate.tokenRefused(reason)
            return pause(reason: reason, requested: seconds)
        case .renewToken:
            // APNs allows no other token yet, so every push would be refused.
            guard await token.replace(providerToken) else { return pause(reason: reason) }
            return .retry(at: retryTime(delivery), reason: reason)
        case .tokenEnded(let time): return .tokenEnded(at: time, reason: reason)
        case .fail: return .failed(reason: reason)
        }
    }

    /// When one delivery is attempted again.
    private func retryTime(_ delivery: ClaimedDelivery, requested: Int64? = nil) -> Int64 {
        milliseconds() + backoff.wait(afterFailures: delivery.attempts, requested: requested)
    }

    /// Holds back everything for this server.
    private func pause(reason: String, requested: Int64? = nil) -> DeliveryOutcome.Result {
        .retry(at: gate.close(at: milliseconds(), requested: requested), reason: reason)
    }
}

extension DeliveryOutcome.Result {
    /// The result and its reason, for a label.
    fileprivate var label: (name: String, reason: String) {
        switch self {
        case .sent: ("sent", "")
        case .retry(_, let reason): ("retry", reason)
        case .unanswered(_, let reason): ("unanswered", reason)
        case .failed(let reason): ("failed", reason)
        case .tokenEnded(_, let reason): ("tokenEnded", reason)
        }
    }
}
