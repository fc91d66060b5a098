import Foundation
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// An extension in its own process, run by the simulated system.
@Suite struct ProcessTests {
    /// Runs the tests' executable for each push.
    private struct ProcessExtension: HostedExtension {
        let folder: TemporaryFolder
        let kills: Bool

        func didReceive(_ payload: [UInt8], _ exchange: HostExchange) {
            do {
                let line = try ProcessTests.deliver(payload, in: folder, kills: kills).first
                guard let line else { return exchange.processDied() }
                var content = NotificationContent()
                content.title.literal = line
                exchange.hand(over: content)
            } catch {
                Issue.record(error)
                exchange.processDied()
            }
        }

        func timeWillExpire() {}
    }

    private static func deliver(_ payload: [UInt8], in folder: TemporaryFolder, kills: Bool) throws -> [String] {
        try Data(ReferenceVectors.shared.jwk("p256")).write(to: folder.file("key.json"))
        try Data(payload).write(to: folder.file("payload.json"))
        let arguments = [
            "deliver", folder.file("key.json").path, folder.file("payload.json").path, TestPush.topic,
            "\(TestPush.now.seconds)",
        ]
        let command = try ExtensionCommand(arguments + (kills ? ["kill"] : []))
        #expect(try command.process.wait() == (kills ? .signal(9) : .exit(0)))
        return try command.lines()
    }

    @Test(
        "the original push is shown if the process is killed, and the restored push otherwise",
        arguments: [false, true])
    func crash(kills: Bool) async throws {
        let host = NotificationHost(ProcessExtension(folder: try TemporaryFolder(), kills: kills))
        let shown = try #require(await host.deliver(TestPush().sealed()))
        #expect(shown.origin == (kills ? .died : .handedOver))
        #expect(shown.content?.title.literal == (kills ? "New message" : "Zoë"))
        #expect(host.handlerCallCount == (kills ? 0 : 1))
    }

    @Test(
        "a process that restores 1,000 pushes grows by less than 4 MB",
        .enabled(if: Sanitizer.isAbsent, "\(Sanitizer.limitsMemory)"))
    func thousandPushes() throws {
        let folder = try TemporaryFolder()
        try Data(ReferenceVectors.shared.jwk("p256")).write(to: folder.file("key.json"))
        let payloads = try (0..<1_000).map { _ in try TestPush().sealed() }
        try Data(payloads.joined(separator: [UInt8(ascii: "\n")])).write(to: folder.file("payloads"))
        let output = try #require(
            try ExtensionCommand.output([
                "open-all", folder.file("key.json").path, folder.file("payloads").path, TestPush.topic,
                "\(TestPush.now.seconds)",
            ]))
        #expect(output.first == "restored 1000")
        let peak = output.first { $0.hasPrefix("peak ") }.flatMap { Int($0.dropFirst(5)) }
        #expect(try #require(peak) < 4_096, "\(output)")
    }
}
