import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives

/// An app or an extension that accepts signed sets of sender keys with the pins of FOLDER/pins.json.
///
/// ```
/// senders FOLDER COUNT TIMES SECONDS      accepts FOLDER/1.json to FOLDER/COUNT.json, TIMES times, at a Unix time, and prints
///                                         the number of each set that it accepted; older sets are skipped
/// senders FOLDER forever "" SECONDS       signs and accepts set after set until it is killed, and prints their numbers
/// ```
enum SenderSetCommand {
    @Sendable static func run(_ arguments: [String]) throws {
        let (folder, time) = (arguments[0], UnixTime(Int64(arguments[3])!))
        let bundle = try SenderSetPins(json: read("\(folder)/pins.json"))
        let pins = try SenderPins(folder: "\(folder)/keys", publishers: bundle, topic: "com.example.app")
        guard arguments[1] != "forever" else { return try acceptForever(pins, bundle, at: time) }
        for _ in 1...Int(arguments[2])! {
            for number in 1...Int(arguments[1])! {
                let document = read("\(folder)/\(number).json")
                if try isAccepted(document, pins, at: time) { say("\(number)") }
            }
        }
    }

    private static func isAccepted(_ document: [UInt8], _ pins: SenderPins, at time: UnixTime) throws -> Bool {
        do throws(DeviceKeyError) {
            return try pins.accept(document, at: time)
        } catch  where error.code == .rolledBack {
            return false
        }
    }

    private static func acceptForever(_ pins: SenderPins, _ bundle: SenderSetPins, at time: UnixTime) throws {
        let backend = DefaultBackend.shared
        let key = try backend.signingKey([UInt8](repeating: 1, count: 32).bytes)
        let publisher = try KeyRecord(.publisher(publicKey: key.publicKey, privateKey: key), backend: backend)
        let sender = try KeyRecord.generate(.sender, backend: backend).publicRecord(keepingPSK: false)
        let keyset = try Keyset([Keyset.Entry(sender, KeyLifecycle(activatesAt: UnixTime(0)))])
        var sequence = try pins.version()?.sequence ?? 0
        while true {
            sequence += 1
            let publication = try SenderSetPublication(
                set: bundle.set, topics: [Topic("com.example.app")], epoch: bundle.epoch, sequence: sequence,
                issuedAt: time, validUntil: time + 86_400)
            let document = try SignedSenderSet.sign(keyset, publication, by: [publisher])
            if try pins.accept(document, at: time) { say("\(sequence)") }
        }
    }

    private static func read(_ path: String) -> [UInt8] {
        [UInt8](FileManager.default.contents(atPath: path) ?? Data())
    }
}
