import Foundation
import PushCryptExtension

/// `store-hammer FOLDER NAME`: uses the store in every way until it is killed.
///
/// Says `claimed ID` after each claim that was granted, and `seen ID` when the store has said that it was seen.
enum StoreHammer {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 2 else { throw ExtensionProcess.Misuse() }
        let store = SharedStore(folder: arguments[0], role: .extension, configuration: .patient)
        let sender = ReceiptSender(store: store, address: "https://nobody.invalid", transport: NoNetwork())
        for number in 0... {
            let id = "\(arguments[1])-\(number)"
            let time = UnixTime(1_800_000_000 + Int64(number))
            let message = MessageStamp(id: id, issuedAt: time, expiresAt: time + 86_400)
            let claim = try store.claimInFile(message, at: time.seconds).get()
            say("claimed \(id)")
            if number % 3 != 0 {
                try store.markSeenInFile(claim)
                say("seen \(id)")
            }
            let report = DeliveryReport(
                failure: number % 5 == 0 ? .undecryptable : nil, isRestored: number % 5 != 0, time: time, kid: nil,
                messageID: id, pushID: nil, isSelfTest: false, stageFailures: [])
            store.report(report)
            sender.report(report)
        }
    }

    private struct NoNetwork: HTTPTransport {
        func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws {
            throw TransferError(.network, "no network")
        }

        func post(_ body: [UInt8], contentType: String, to address: String) async throws {
            throw TransferError(.network, "no network")
        }
    }
}

/// A line that has left the process when this returns.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
