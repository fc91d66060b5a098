import Foundation
import Logging
import Metrics
import PushCryptSender
import Tracing

/// Makes one attempt of a delivery: seals it, sends it, and decides what APNs' answer means.
struct DeliveryWorker: Sendable {
    let environment: APNsEnvironment
    let sealer: PushSealer
    let transport: any PushTransport
    let token: ProviderToken
    let gate: Gate
    let backoff: Backoff
    let milliseconds: @Sendable () -> Int64
    let logger: Logger

    func attempt(_ delivery: ClaimedDelivery) async -> DeliveryOutcome {
        await withSpan("deliver") { span in
            let outcome = await outcome(of: delivery)
            let (name, reason) = outcome.result.label
            Counter(
                label: "push_attempts_total",
                dimensions: [("environment", environment.rawValue), ("result", name), ("reason", reason)]
            ).increment()
            span.attributes["push.result"] = name
            logger.debug(
                "attempt", metadata: ["apns-id": "\(delivery.apnsID)", "result": "\(name)", "reason": "\(reason)"])
            return outcome
        }
    }

    private func outcome(of delivery: ClaimedDelivery) async -> DeliveryOutcome {
        var receiptName: String?
        let request: PushRequest
        do {
            (request, receiptName) = try self.request(for: delivery)
        } catch let error as SenderError where error.code != .backendFailure && error.code != .noKeySeals {
            return ended(delivery, .failed(reason: error.code.description))
        } catch let error as KeyError where error.code != .backendFailure && error.code != .noKeySeals {
            return ended(delivery, .failed(reason: "\(error.code)"))
        } catch {
            return retry(delivery, reason: "sealing")
        }
        let start = ContinuousClock.now
        do {
            let providerToken = try await token.current()
            let response = try await transport.send(request, providerToken: providerToken)
            Timer(
                label: "push_apns_duration_seconds", dimensions: [("status", "\(response.status)")],
                preferredDisplayUnit: .seconds
            ).recordNanoseconds((ContinuousClock.now - start).nanoseconds)
            return await judge(response, delivery, receiptName, providerToken)
        } catch {
            // The push may have been accepted. It is sent again with the same ids.
            logger.warning(
                "no answer from APNs",
                metadata: [
                    "apns-id": "\(delivery.apnsID)", "environment": "\(environment.rawValue)", "error": "\(error)",
                ])
            _ = gate.close(at: milliseconds())
            return retry(delivery, reason: "connection")
        }
    }

    private func request(for delivery: ClaimedDelivery) throws -> (PushRequest, receiptName: String?) {
        let time = milliseconds()
        var request = PushRequest(
            token: delivery.token, body: Array(#"{"aps":{"content-available":1}}"#.utf8), id: delivery.apnsID,
            topic: sealer.topic, pushType: "background", priority: 5, expiration: delivery.expiresAt / 1_000)
        guard delivery.kind == .notification else { return (request, nil) }
        let push = try sealer.seal(delivery, at: time)
        request.body = Array(push.json)
        request.pushType = "alert"
        request.priority = delivery.priority
        request.expiration = push.expiresAt.seconds
        // A push that is sent twice replaces itself on the screen, also if the device's key has changed in between.
        request.collapseID = delivery.collapseID ?? delivery.apnsID
        return (request, push.receiptName?.description)
    }

    private func judge(
        _ response: PushResponse, _ delivery: ClaimedDelivery, _ receiptName: String?, _ providerToken: String
    ) async -> DeliveryOutcome {
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
            return ended(delivery, .sent(receiptName: receiptName))
        case .retry(let seconds): return retry(delivery, reason: reason, requested: seconds)
        case .pause(let seconds):
            let opensAt = gate.close(at: milliseconds(), requested: seconds)
            return ended(delivery, .retry(at: opensAt, reason: reason))
        case .renewToken:
            await token.replace(providerToken)
            return retry(delivery, reason: reason)
        case .tokenEnded(let time): return ended(delivery, .tokenEnded(at: time, reason: reason))
        case .fail: return ended(delivery, .failed(reason: reason))
        }
    }

    private func retry(_ delivery: ClaimedDelivery, reason: String, requested: Int64? = nil) -> DeliveryOutcome {
        let wait = backoff.wait(afterFailures: delivery.attempts, requested: requested)
        return ended(delivery, .retry(at: milliseconds() + wait, reason: reason))
    }

    private func ended(_ delivery: ClaimedDelivery, _ result: DeliveryOutcome.Result) -> DeliveryOutcome {
        DeliveryOutcome(id: delivery.id, kid: delivery.kid, result: result)
    }
}

extension DeliveryOutcome.Result {
    /// The result and its reason, for a label.
    fileprivate var label: (name: String, reason: String) {
        switch self {
        case .sent: ("sent", "")
        case .retry(_, let reason): ("retry", reason)
        case .failed(let reason): ("failed", reason)
        case .tokenEnded(_, let reason): ("tokenEnded", reason)
        }
    }
}
