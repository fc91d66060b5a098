import Foundation
import NIOHPACK

/// A request to `/stand-in/`, with which a test in another process or language controls the stand-in.
///
/// ```
/// POST /stand-in/devices       {"token": HEX, "topic": TOPIC}                                  adds a device
/// POST /stand-in/devices/end   {"token": HEX}                                                  answers 410 from now on
/// POST /stand-in/faults        {"fault": NAME, "times": N, "reason": R, "retryAfter": S}       adds faults
/// POST /stand-in/go-away       {}                                                              GOAWAY on every connection
/// GET  /stand-in/counts                                                                        what was counted
/// ```
/// `fault` is `answer`, `reset`, `resetAfterAccepting`, `cutAnswer`, `close`, `closeAfterAccepting`, `goAway` or `silence`.
struct ControlRequest {
    private struct Order: Decodable {
        var token: String?
        var topic: String?
        var fault: String?
        var times: Int?
        var reason: String?
        var retryAfter: Int?
    }

    private let method: String
    private let path: String
    private let body: [UInt8]

    /// - Returns: nil for a request of another path.
    init?(_ request: APNsStandIn.Request) {
        method = request.headers.first(name: ":method") ?? ""
        path = request.headers.first(name: ":path") ?? ""
        body = request.body
        guard path.hasPrefix("/stand-in/") else { return nil }
    }

    func run(on standIn: APNsStandIn) -> (status: Int, json: String?) {
        if method == "GET", path == "/stand-in/counts" { return (200, counts(standIn.counts)) }
        guard method == "POST", let order = try? JSONDecoder().decode(Order.self, from: Data(body)) else {
            return (400, #"{"error":"the body isn't an order"}"#)
        }
        switch path {
        case "/stand-in/devices":
            guard let token = order.token, let topic = order.topic else { break }
            standIn.add(token: token, topic: topic)
            return (200, nil)
        case "/stand-in/devices/end":
            guard let token = order.token else { break }
            standIn.end(token: token)
            return (200, nil)
        case "/stand-in/faults":
            guard let fault = fault(order) else { break }
            standIn.order(fault, times: min(max(order.times ?? 1, 1), 1_000_000))
            return (200, nil)
        case "/stand-in/go-away":
            standIn.goAway()
            return (200, nil)
        default: return (404, #"{"error":"there is no such path"}"#)
        }
        return (400, #"{"error":"a member is missing or unknown"}"#)
    }

    private func fault(_ order: Order) -> Fault? {
        switch order.fault {
        case "answer":
            guard var refusal = order.reason.flatMap(Refusal.named) else { return nil }
            refusal.retryAfterInSeconds = order.retryAfter
            return .answer(refusal)
        case "reset": return .reset(afterAccepting: false)
        case "resetAfterAccepting": return .reset(afterAccepting: true)
        case "cutAnswer": return .cutAnswer
        case "close": return .close(afterAccepting: false)
        case "closeAfterAccepting": return .close(afterAccepting: true)
        case "goAway": return .goAway
        case "silence": return .silence
        default: return nil
        }
    }

    private func counts(_ counts: APNsStandIn.Counts) -> String {
        let refused = counts.refused.sorted { $0.key < $1.key }.map { #""\#($0.key)":\#($0.value)"# }
        return #"{"accepted":\#(counts.accepted),"faults":\#(counts.faults),"connections":\#(counts.connections),"#
            + #""refused":{\#(refused.joined(separator: ","))}}"#
    }
}
