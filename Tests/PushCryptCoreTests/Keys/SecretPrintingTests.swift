import Foundation
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// A log line, a failed expectation or a debugger that prints a value with a key shows no key bytes.
@Suite struct SecretPrintingTests {
    @Test("printing and dumping a key in any form shows no secret", arguments: TestJWK.all, Backends.all)
    func everyForm(jwk: TestJWK, backend: NamedBackend) throws {
        let keyset = try jwk.keyset(backend.backend)
        let (entry, text) = (keyset.entries[0], try JSONText(Array(jwk.json.utf8)))
        var values: [Any] = [
            entry.record, entry.record.material, entry, keyset, [entry], ["key": keyset], text, text.root,
        ]
        if jwk.description == "sender" {
            let key = try SenderKey(entry)
            values += try [key, key.key, TrustedSenders(keyset), ["signer": key]] as [Any]
        } else {
            let recipient = try Recipient(jwk: jwk.withoutPrivateKey.json.utf8, backend: backend.backend)
            let key = try RecipientKey(entry)
            values += [recipient, recipient.scheme, key, key.scheme, [recipient]] as [Any]
        }
        try expectNoSecret(of: jwk, in: values)
    }

    @Test("printing and dumping derived keys shows no secret", arguments: Backends.all)
    func derivedKeys(backend: NamedBackend) throws {
        let (master, device) = (TestJWK.named("shared"), TestJWK.named("device"))
        let derived = try master.keyset(backend.backend).device(DeviceID(device.text("device")))
        for jwk in [device, master] { try expectNoSecret(of: jwk, in: [derived, RecipientKey(derived.entries[0])]) }
    }

    @Test("the search of these tests finds a secret in each of its forms")
    func searchFinds() {
        let bytes = TestJWK.named("shared").bytes("k")
        let hex = bytes.map { String(format: "%02X", $0) }.joined()
        #expect(PrintedSecret(bytes).isIn(printed(bytes)))
        #expect(PrintedSecret(bytes).isIn(printed(["a": [bytes]])))
        #expect(PrintedSecret(bytes).isIn("key \(hex)"))
        #expect(PrintedSecret(bytes).isIn("key \(Base64URL.encode(bytes))"))
        #expect(PrintedSecret(bytes).isIn("key \(Data(bytes).base64EncodedString())"))
        #expect(!PrintedSecret(bytes).isIn(printed([UInt8](repeating: 7, count: 32))))
    }

    private func expectNoSecret(
        of jwk: TestJWK, in values: [Any], _ location: SourceLocation = #_sourceLocation
    ) throws {
        for member in ["k", "d", "psk"] where jwk.members[member] != nil {
            let secret = PrintedSecret(jwk.bytes(member))
            for value in values {
                let isPrinted = secret.isIn(printed(value))
                #expect(!isPrinted, "\(member) of \(jwk) in \(type(of: value))", sourceLocation: location)
            }
        }
    }

    private func printed(_ value: Any) -> String {
        var text = "\(value)\n\(String(reflecting: value))\n"
        dump(value, to: &text)
        return text
    }
}

/// Looks for 8 bytes or more of a secret in a text, however they are written.
private struct PrintedSecret {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    func isIn(_ text: String) -> Bool {
        let hex = bytes[..<8].map { String(format: "%02x", $0) }.joined()
        let base64 = Data(bytes[..<9]).base64EncodedString()
        let base64URL = Base64URL.encode(Array(bytes[..<9]))
        return text.lowercased().contains(hex) || text.contains(base64) || text.contains(base64URL)
            || hasDecimals(text)
    }

    /// As an array prints or dumps them: numbers with anything but digits between.
    private func hasDecimals(_ text: String) -> Bool {
        let numbers = text.split { !$0.isNumber }.compactMap { UInt8($0) }
        guard numbers.count >= 8 else { return false }
        return (0...(numbers.count - 8)).contains { numbers[$0..<$0 + 8].elementsEqual(bytes[..<8]) }
    }
}
