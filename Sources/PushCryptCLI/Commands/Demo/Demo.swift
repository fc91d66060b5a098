import ArgumentParser
import Dispatch
import PushCryptCore
import PushCryptExtension
import PushCryptKeysets
import PushCryptSender

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Seal, open and tamper with a notification, with the published demo keys.",
        discussion: """
            Every run seals the notification again. The demo needs no files and no device.

            Example: pushcrypt demo
            """
    )
    @OptionGroup var messages: MessageOptions

    func run() async throws {
        let output = try DemoOutput(TerminalText(isColourful: StandardStreams.isColourful))
        try StandardStreams.write(try await output.text())
    }
}

private struct DemoOutput {
    static let topic = "com.example.app"
    static let alert = """
        {"aps":{"alert":{"title":"Dr. Amara Osei","body":"Your results are in: all clear. See you on Monday at 9:40."},\
        "sound":"chime.caf","badge":2,"thread-id":"clinic-17"},"appointment":40713}
        """

    let terminal: TerminalText
    private let width = StandardStreams.columns
    let recipients: Keyset
    let senders: Keyset
    let sealed: [UInt8]

    init(_ terminal: TerminalText) throws {
        self.terminal = terminal
        recipients = try DemoKeys.recipient.keyset()
        senders = try DemoKeys.sender.keyset()
        let recipient = try recipients.publicKeyset(keepingPSK: true).recipient(at: .now)
        sealed = try Self.seal(to: recipient, signer: try senders.senderKey(at: .now))
    }

    static func seal(to recipient: Recipient, signer: SenderKey) throws -> [UInt8] {
        let sealer = try Sealer(topic: topic, signer: .key(signer))
        let sealed = try sealer.seal(Array(alert.utf8), to: recipient, placeholder: .standard)
        return sealed.bytes
    }

    func text() async throws -> String {
        let breakdown = PayloadBreakdown(try JSONText(sealed))
        let stranger = try KeyRecord.generate(.recipient, backend: DefaultBackend.shared)
        let strangers = try Keyset([
            .init(stranger.publicRecord(keepingPSK: true), KeyLifecycle(activatesAt: UnixTime(0)))
        ])
        let misaddressed = try Self.seal(
            to: try strangers.recipient(at: .now), signer: try senders.senderKey(at: .now))
        let restored = try await delivered(sealed)
        let forged = try await delivered(tampered(sealed))
        let stranded = try await delivered(misaddressed)
        let late = try await delivered(sealed, keyring: StuckKeyring(), deadline: .milliseconds(200))
        return [
            heading("1. The alert, as the backend wrote it"),
            indented(Self.alert), "",
            heading("2. What travels through APNs"),
            indented(String(decoding: sealed, as: UTF8.self)), "",
            BudgetBar(breakdown, padding: nil, limitInBytes: 4096)
                .text(terminal, width: min(64, width - 2)), "",
            heading("3. What the user sees"), restored,
            heading("4. One character is changed on the way"), forged,
            heading("5. Sealed to a key that this device doesn't have"), stranded,
            heading("6. The keychain doesn't answer in time"), late,
        ].joined(separator: "\n")
    }

    private func delivered(
        _ payload: [UInt8], keyring: (any RecipientKeyring)? = nil, deadline: Duration = .seconds(25)
    ) async throws -> String {
        let configuration = try ExtensionConfiguration(
            topic: Self.topic, keyring: keyring ?? KeysetKeyring(recipients),
            senders: .pinned(try TrustedSenders(senders.publicKeyset(keepingPSK: false))),
            fallback: .outerAlert(orElse: .standard), deadline: deadline)
        let delivery = await withCheckedContinuation { continuation in
            DeliverySession(payload: payload, configuration: configuration) { delivery in
                continuation.resume(returning: delivery)
            }
            .start()
        }
        let (content, failure) = (delivery.content, delivery.failure)
        let lines = [content.title, content.subtitle, content.body].compactMap(\.literal)
        let (verdict, style): (String, TerminalText.Style) =
            failure.map { ("✗ \($0): the placeholder is shown", .bad) } ?? ("✓ restored and verified", .good)
        let rows = terminal.wrapped("  ", verdict, indent: 2, width: width, style)
        return TerminalText.framed(lines, width: min(46, width - 6)) + "\n" + rows.joined(separator: "\n") + "\n"
    }

    /// The payload with one character changed in the middle of `sealed`.
    private func tampered(_ payload: [UInt8]) throws -> [UInt8] {
        guard let sealed = try JSONText(payload).root["pushcrypt"]?["sealed"] else { return payload }
        var changed = payload
        let middle = (sealed.range.lowerBound + sealed.range.upperBound) / 2
        changed[middle] = changed[middle] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        return changed
    }

    private func heading(_ text: String) -> String {
        terminal.wrapped("", text, indent: 0, width: width, .heading).joined(separator: "\n")
    }

    private func indented(_ text: String) -> String {
        TerminalText.wrap(text, width: min(76, width - 2)).map { "  " + $0 }.joined(separator: "\n")
    }
}

private struct StuckKeyring: RecipientKeyring {
    func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey {
        DispatchSemaphore(value: 0).wait()
        throw .unknownKey
    }
}
