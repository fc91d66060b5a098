import Glibc
import PushCryptCore
import PushCryptPrimitives

/// Compares the times of two classes of inputs by Welch's t-test, as dudect does. See Tests/deep/timing/run.
///
///     PushCryptTiming [COUNT]      measurements of each comparison, 1,000,000 by default
@main struct Timing {
    /// Above it the two classes differ measurably.
    private static let limit = 10.0

    private enum Expected {
        case constant, different, any
    }

    static func main() throws {
        let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000_000
        let secret = [UInt8](repeating: 7, count: 32)
        let (first, last) = (changed(secret, 0), changed(secret, 31))
        var isAsExpected = true

        /// Prints the row of a comparison and checks it against what is expected.
        func row(_ name: String, _ test: TTest, _ expected: Expected = .constant) {
            let isDifferent = abs(test.t) >= limit
            let isExpected = expected == .any || isDifferent == (expected == .different)
            if !isExpected { isAsExpected = false }
            let means = "\(rounded(test.means.0)) and \(rounded(test.means.1)) ns"
            print(
                "\(name): t \(rounded(test.t)), means \(means), \(isDifferent ? "different" : "constant")"
                    + (isExpected ? "" : " FLAW"))
        }

        row(
            "constantTimeEqual, first or last byte differs",
            TTest(count, callsPerMeasurement: 64) { constantTimeEqual(secret.bytes, ($0 ? first : last).bytes) })
        row(
            "constantTimeEqual, equal or last byte differs",
            TTest(count, callsPerMeasurement: 64) { constantTimeEqual(secret.bytes, ($0 ? secret : last).bytes) })
        row(
            "a comparison that ends at the first difference, as a control",
            TTest(count, callsPerMeasurement: 64) { earlyEqual(secret, $0 ? first : last) }, .different)

        for kind in [KeyKind.shared, .recipient] {
            let place = try Place(kind)
            let opening = kind == .shared ? count : count / 20
            let message = place.sealed.count - 1
            let (firstTag, lastTag) = (changed(place.sealed, message - 15), changed(place.sealed, message))
            row(
                "open \(kind.rawValue), first or last byte of the tag changed",
                TTest(opening) { place.isRefused($0 ? firstTag : lastTag, place.sender) })
            let early = changed(place.sealed, place.suiteOverhead)
            row(
                "open \(kind.rawValue), first byte of the ciphertext or last byte of the tag changed",
                TTest(opening) { place.isRefused($0 ? early : lastTag, place.sender) })
            row(
                "open \(kind.rawValue), wrong tag or wrong signature",
                TTest(count / 50) { place.isRefused($0 ? lastTag : place.sealed, $0 ? place.sender : place.other) },
                .any)
        }
        exit(isAsExpected ? 0 : 1)
    }

    private static func changed(_ bytes: [UInt8], _ index: Int) -> [UInt8] {
        var bytes = bytes
        bytes[index] ^= 1
        return bytes
    }

    private static func earlyEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }

    private static func rounded(_ number: Double) -> Double { (number * 100).rounded() / 100 }
}

/// A signed message that opens, and a key with which its signature is invalid.
private struct Place {
    typealias Sender = (skid: KeyID, key: any VerificationKey)

    let sealed: [UInt8]
    let sender: Sender
    let other: Sender
    let suiteOverhead: Int
    private let key: RecipientKey
    private let topic: Topic

    init(_ kind: KeyKind) throws {
        let backend = DefaultBackend.shared
        let lifecycle = KeyLifecycle(activatesAt: UnixTime(0))
        func entry(_ record: KeyRecord) -> Keyset.Entry { Keyset.Entry(record, lifecycle) }
        let record = try KeyRecord.generate(kind, type: .x25519, backend: backend)
        let signingRecord = try KeyRecord.generate(.sender, backend: backend)
        guard case .sender(let verificationKey, _) = signingRecord.material else { throw FailureClass.unknownKey }
        let signer = try SenderKey(entry(signingRecord))
        let recipient = try Recipient(entry(record.publicRecord(keepingPSK: true)))
        topic = try Topic("com.example.app")
        key = try RecipientKey(entry(record))
        sealed = try Envelope.seal(
            [UInt8](repeating: 0x20, count: 1_024), to: recipient, signer: signer, topic: topic)
        sender = (signer.kid, verificationKey)
        other = (signer.kid, try backend.generateSigningKey().publicKey)
        suiteOverhead = recipient.suite.overheadByteCount - AEADAlgorithm.tagByteCount
    }

    func isRefused(_ sealed: [UInt8], _ sender: Sender) -> Bool {
        (try? Envelope.open(sealed, with: key, signedBy: sender, topic: topic)) == nil
    }
}
