import Foundation
import PushCryptCore
import PushCryptSender
import PushCryptTestSupport
import Testing

@Suite struct OffloadTests {
    private static let url = "https://cdn.example.com/payload"

    @Test("an offloaded payload is read back from its blob", arguments: Backends.all)
    func roundTrip(named: NamedBackend) throws {
        let long = String(repeating: "long ", count: 2_000)
        let json = #"{"aps":{"alert":{"body":"\#(long)"}}, "n":1.50}"#
        let sealed = try Sealer.offload(Array(json.utf8), backend: named.backend)
        #expect(sealed.reference.purpose == .payload)
        #expect(sealed.reference.size == 12_288)
        let plaintext = try BlobOpener.plaintext(of: sealed.bytes, sealed.reference, backend: named.backend)
        #expect(String(decoding: plaintext, as: UTF8.self).hasPrefix(json + "  "))
    }

    @Test("a PushNotification and Data can be offloaded") func payloadTypes() throws {
        let notification = PushNotification(body: "x")
        for blob in [try Sealer.offload(notification), try Sealer.offload(Data(#"{"aps":{"alert":"x"}}"#.utf8))] {
            let plaintext = try BlobOpener.plaintext(of: blob.bytes, blob.reference)
            #expect(plaintext.count == 4_096)
            #expect(try InnerPayload(message: plaintext).aps?["alert"] != nil)
        }
    }

    @Test(
        "an invalid payload is refused for offloading",
        arguments: ["", "{}", #"{"aps":{"alert":""}}"#, #"{"aps":{"alert":"x"},"pushcrypt":{}}"#, "{\"aps\""])
    func refused(json: String) {
        expectSenderError(.invalidPayload) { try Sealer.offload(Array(json.utf8)) }
    }

    @Test("a payload with too many values is refused for sealing and for offloading")
    func tooManyValues() {
        let zeros = Array(repeating: "0", count: 16_381).joined(separator: ",")
        let json = #"{"aps":{"alert":"x"},"x":[\#(zeros)]}"#
        for error in [
            expectSenderError(.invalidPayload, nil) { try Sealer.offload(Array(json.utf8)) },
            expectSenderError(.invalidPayload, nil) { try Channel.simple.seal(json) },
        ] {
            #expect(error?.reason.contains("16384 JSON values") == true)
        }
    }

    @Test("a payload above 256 KiB is refused for offloading") func tooLong() {
        let json = #"{"aps":{"alert":"\#(String(repeating: "a", count: 1 << 18))"}}"#
        expectSenderError(.invalidPayload) { try Sealer.offload(Array(json.utf8)) }
    }
}
