public import ArgumentParser
public import PushCryptCore

struct CarrierOptions: ParsableArguments {
    static let names = Carrier.allCases.map(\.rawValue).joined(separator: "|")

    @Option(help: .init("A way of the app's pushes, as in its configuration; may be repeated. (default: apns)", names))
    var carrier: [Carrier] = []

    var set: Set<Carrier> { carrier.isEmpty ? [.apns] : Set(carrier) }
}

extension Carrier: ExpressibleByArgument {}
