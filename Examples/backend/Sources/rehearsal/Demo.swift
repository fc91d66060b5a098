import APNsStandIn
import ArgumentParser
import AsyncHTTPClient
import Foundation
import PushBackend
import PushCryptExtension
import PushCryptNotifications
import PushCryptSimulator

/// Registers a phone, pushes to it, and rotates the signing key while pushes flow.
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Shows one phone and a rotation.")

    @OptionGroup var tools: Tools
    @Option(help: "How many pushes flow during the rotation.") var pushes = 300

    func validate() throws {
        guard pushes >= 1 else { throw ValidationError("--pushes is 1 or more") }
    }

    func run() async throws {
        let scene = try await Scene(tools)
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        var service: ChildProcess?
        do {
            let started = try await scene.startService()
            service = started.process
            try await show(
                scene,
                BackendClient(
                    client: client, base: "http://127.0.0.1:\(started.port)", serviceToken: scene.serviceToken))
            let status = await started.process.end(SIGTERM)
            print("The service ended with status \(status) after SIGTERM.")
            guard status == 0 else { throw RehearsalError("the service didn't end properly") }
        } catch {
            await service?.end(SIGKILL)
            try? await client.shutdown()
            await scene.end()
            throw error
        }
        try await client.shutdown()
        await scene.end()
    }

    private func show(_ scene: Scene, _ backend: BackendClient) async throws {
        print("A database, two stand-ins for APNs and the service run on this machine.")
        let phone = try await Phone("zoe", .production, scene: scene, backend: backend)
        print("Zoë's phone has registered: a key, a device token, and the signed set of sender keys.\n")
        let before = phone.device.center.deliveredNotifications.last?.request.content
        let payload = #"{"aps":{"alert":{"title":"Dr. Amara Osei","body":"Your results are in."},"sound":"default"}}"#
        let accepted = try await backend.send(payload, to: #"{"user":"zoe"}"#, key: "first")
        let report = try await waitForEnd(of: [accepted.id], backend, scene, [phone])
        let after = phone.device.center.deliveredNotifications.last?.request.content
        print(ScreenText.draw(("Lock screen before", before), ("Lock screen after", after)))
        guard after?.title.literal == "Dr. Amara Osei", after?.body.literal == "Your results are in." else {
            throw RehearsalError("the screen doesn't show the text")
        }
        print("The service knows: \(report[0].sent) accepted by APNs, \(report[0].opened) opened by the phone.\n")
        try await rotate(scene, backend, phone)
    }

    /// The steps of docs/rotation.md: publish the next key, let apps fetch it, then seal with it, and revoke the old one.
    private func rotate(_ scene: Scene, _ backend: BackendClient, _ phone: Phone) async throws {
        let keyset = "\(scene.folder)/Keys/senders"
        let old = try await scene.senderKey("primary")
        print("\(pushes) pushes flow, and the signing key is rotated:")
        let flow = Task {
            var ids: [String] = []
            for number in 1...pushes {
                let payload = #"{"aps":{"alert":{"title":"Reminder","body":"Appointment \#(number)"}}}"#
                ids.append(try await backend.send(payload, to: #"{"user":"zoe"}"#, key: "flow-\(number)").id)
            }
            return ids
        }
        try await scene.pushcrypt("keys", "add", keyset)
        try await scene.publishSenders()
        try await phone.fetchSenders()
        print("  pushcrypt keys add: the next key is published, and the phone has fetched it")
        let next = try await scene.senderKey("pending")
        try await scene.pushcrypt("keys", "promote", keyset, next, "--force")
        print("  pushcrypt keys promote: key \(next) signs now in place of \(old); the service loads it by itself")
        let ids = try await flow.value
        let late = try await backend.send(
            #"{"aps":{"alert":{"title":"Reminder","body":"After the rotation"}}}"#, to: #"{"user":"zoe"}"#, key: "late")
        let reports = try await waitForEnd(of: ids + [late.id], backend, scene, [phone])
        let texts = phone.texts
        let expected = (1...pushes).map { "Appointment \($0)" } + ["After the rotation"]
        let shownOnce = expected.filter { text in texts.filter { $0 == text }.count == 1 }.count
        print(
            "  accepted \(expected.count), shown once \(shownOnce), failed \(reports.reduce(0) { $0 + $1.failed.values.reduce(0, +) })"
        )
        print(
            ScreenText.draw(
                ("Lock screen, the latest", phone.device.center.deliveredNotifications.last?.request.content)
            ))
        guard shownOnce == expected.count, texts.count == expected.count + 1 else {
            throw RehearsalError("a push was lost or shown twice")
        }
        print("None was lost, and none was shown twice.")
    }
}

/// Waits until nothing is queued, the phones are idle and have posted their receipts, and each push is confirmed or failed.
func waitForEnd(
    of ids: [String], _ backend: BackendClient, _ scene: Scene, _ phones: [Phone], limit: Duration = .seconds(60)
) async throws -> [BackendClient.Report] {
    let end = ContinuousClock.now + limit
    var reports: [BackendClient.Report] = []
    while ContinuousClock.now < end {
        if try await isQuiet(backend, scene, phones) {
            // A push that a phone couldn't open is sealed again, so only the reports after the last of them count.
            let arrived = scene.phones.arrivedCount
            reports = try await backend.reports(on: ids)
            let hasEnded = reports.allSatisfy(\.hasEnded)
            if hasEnded, try await isQuiet(backend, scene, phones), scene.phones.arrivedCount == arrived {
                return reports
            }
        }
        try await Task.sleep(for: .milliseconds(100))
    }
    throw RehearsalError("only \(reports.filter(\.hasEnded).count) of \(ids.count) messages ended in \(limit)")
}

private func isQuiet(_ backend: BackendClient, _ scene: Scene, _ phones: [Phone]) async throws -> Bool {
    guard scene.phones.isIdle else { return false }
    for phone in phones { guard try await phone.flushReceipts() == 0 else { return false } }
    guard let count = try? await backend.queuedCount() else { return false }
    return count == 0 && scene.phones.isIdle
}
