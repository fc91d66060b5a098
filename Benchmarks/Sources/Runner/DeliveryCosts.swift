import BenchmarkSupport
import CPushCryptOpenSSL
import PushCryptCore
import PushCryptExtension
import PushCryptFiles
import PushCryptPrimitives
import RunnerProtocol

/// The costs of parts of a delivery, with the files of ``DeliveryInput``.
///
/// ```
/// signature     verifies one Ed25519 signature of 256 bytes
/// verify        verifies and reads a signed set of one sender key, from memory
/// pins          does so from the file, as for each push
/// accept        verifies a newer set and replaces the file
/// key           reads the recipient's key from its file, as for each push
/// statistics    reads the counters of a store
/// errors        empties OpenSSL's error queue, which is empty
/// ```
struct DeliveryCosts: Sendable {
    private static let documentCount = 512

    let folder: String

    @Sendable
    func operation(_ job: String) throws -> Work? {
        switch job {
        case "signature": return try signature()
        case "verify":
            let (document, publishers) = (try FileSystem.readFile(path("senders.json")), try pinned().publishers)
            return { _ = try SignedSenderSet.verify(document, publishers: publishers) }
        case "pins":
            let pins = try SenderPins(folder: path("keys"), publishers: pinned(), topic: TestMessage.topic)
            return { _ = try pins.trustedSenders() }
        case "accept": return try accept()
        case "key":
            let keyring = FileKeyring(folder: path("keys"))
            let kid = try keyring.keyIDs()[0]
            return { _ = try keyring.load(kid) }
        case "statistics":
            let store = SharedStore(folder: path("store"), role: .extension)
            return { _ = try store.statistics() }
        case "errors": return { _ = pushcrypt_clear_errors() }
        default: return nil
        }
    }

    private func path(_ name: String) -> String { "\(folder)/\(name)" }
    private func pinned() throws -> SenderSetPins { try SenderSetPins(json: FileSystem.readFile(path("pins.json"))) }

    private func signature() throws -> Work {
        let key = try DefaultBackend.shared.generateSigningKey()
        let message = [UInt8](repeating: 2, count: 256)
        let signature = try key.signature(for: message.bytes)
        return { _ = try key.publicKey.isValid(signature.bytes, for: message.bytes) }
    }

    /// Each call takes the next of some signed sets, in a new folder.
    private func accept() throws -> Work {
        let (publisher, bundle) = try SenderSets.publisher()
        let documents = try SenderSets.documents(
            of: TestSender().record, bundle, signedBy: publisher, count: Self.documentCount)
        let folder = path("accepted-\(FileSystem.randomName())")
        let pins = try SenderPins(folder: folder, publishers: bundle, topic: TestMessage.topic)
        var next = documents.makeIterator()
        return {
            guard let document = next.next(), try pins.accept(document) else { throw UsageError() }
        }
    }
}
