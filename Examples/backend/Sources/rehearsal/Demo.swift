import APNsStandIn
import ArgumentParser
import AsyncHTTPClient
import Foundation
import PushBackend
import PushCryptExtension
import PushCryptNotifications
import PushCryptSimulator
import Synchronization

/// Registers a phone, pushes to it, and rotates the signing key while pushes flow.
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Shows one phone and a rotation.")

    @OptionGroup var tools: Tools
    @Option(help: "How many pushes flow during the rotation, at least.") var pushes = 300

    func validate() throws {
        guard pushes >= 1 else { throw ValidationError("--pushes is 1 or more") }
    }

    func run() async throws {
        let signers = Signers()
        let scene = try await Scene(tools) { _, push in signers.add(push) }
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        var service: ChildProcess?
        do {
            let started = try await scene.startService()
            service = started.process
            let backend = BackendClient(
                client: client, base: "http://127.0.0.1:\(started.port)", serviceToken: scene.serviceToken)
            try await rotate(scene, backend, show(scene, backend), signers)
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

    private func show(_ scene: Scene, _ backend: BackendClient) async throws -> Phone {
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
        return phone
    }

    /// The steps of docs/rotation.md: publish the next key, let apps fetch it, then seal with it.
    private func rotate(_ scene: Scene, _ backend: BackendClient, _ phone: Phone, _ signers: Signers) async throws {
        let old = try await scene.senderKey("primary")
        print("Pushes flow, and the signing key is rotated:")
        let isLoaded = Flag()
        let flow = Task {
            var ids: [String] = []
            var rest = 20
            // It begins before the promotion, and goes on after the service has loaded the promoted key.
            while ids.count < pushes || rest > 0 {
                if isLoaded.isSet { rest -= 1 }
                let payload = #"{"aps":{"alert":{"title":"Reminder","body":"Appointment \#(ids.count + 1)"}}}"#
                ids.append(try await backend.send(payload, to: #"{"user":"zoe"}"#, key: "flow-\(ids.count)").id)
            }
            return ids
        }
        let next = try await promoteNextKey(scene, phone, after: { signers.kids.count > 1 })
        print("  pushcrypt rotate --now --at-once: \(next) signs in place of \(old); the service loads it by itself")
        let sequence = try scene.senderSequence()
        try await wait("the service doesn't load the promoted key") {
            try await backend.metric("push_signing_keyset_seq") == sequence
        }
        isLoaded.set()
        let ids = try await flow.value
        // The last push comes after the flow, so that the screen shows it at the end.
        _ = try await waitForEnd(of: ids, backend, scene, [phone])
        let late = try await backend.send(
            #"{"aps":{"alert":{"title":"Reminder","body":"After the rotation"}}}"#, to: #"{"user":"zoe"}"#, key: "late")
        let reports = try await waitForEnd(of: ids + [late.id], backend, scene, [phone])
        let failed = reports.reduce(0) { $0 + $1.failed.values.reduce(0, +) }
        let expected = (1...ids.count).map { "Appointment \($0)" } + ["After the rotation"]
        let texts = Dictionary(grouping: phone.texts) { $0 }
        let shownOnce = expected.filter { texts[$0]?.count == 1 }.count
        // The first push came before the flow, and the last one after it.
        let kids = signers.kids.dropFirst()
        let (before, after) = (kids.filter { $0 == old }.count, kids.filter { $0 == next }.count)
        print("  accepted \(expected.count), shown once \(shownOnce), failed \(failed)")
        print("  signed by key \(old): \(before), by key \(next): \(after)")
        print(
            ScreenText.draw(
                ("Lock screen, the latest", phone.device.center.deliveredNotifications.last?.request.content)
            ))
        guard shownOnce == expected.count, phone.texts.count == expected.count + 1, failed == 0 else {
            throw RehearsalError("a push was lost or shown twice")
        }
        guard before > 0, after > 1, before + after == kids.count, kids.last == next else {
            throw RehearsalError("the pushes of the flow aren't signed by the old key and then by the new one")
        }
        print("None was lost, and none was shown twice.")
    }

    /// - Parameter condition: what has to happen before the promotion.
    /// - Returns: the id of the key that signs then.
    private func promoteNextKey(
        _ scene: Scene, _ phone: Phone, after condition: () -> Bool
    ) async throws -> String {
        try await scene.pushcrypt("rotate", "-q", "--now", "senders")
        try await phone.fetchSenders()
        print("  pushcrypt rotate --now: the next key is published, and the phone has fetched it")
        let next = try await scene.senderKey("pending")
        try await wait("no push of the flow arrives", until: condition)
        try await scene.pushcrypt("rotate", "-q", "--now", "--at-once", "senders")
        return next
    }

    private func wait(_ failure: String, until condition: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while try await !condition() {
            guard ContinuousClock.now < end else { throw RehearsalError(failure) }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}

/// The ids of the keys that signed the pushes, in the order in which the phone got them.
private final class Signers: Sendable {
    private struct Payload: Decodable {
        struct Envelope: Decodable { let skid: String? }
        let pushcrypt: Envelope?
    }

    private let all = Mutex<[String]>([])

    var kids: [String] { all.withLock { $0 } }

    func add(_ push: AcceptedPush) {
        let payload = try? JSONDecoder().decode(Payload.self, from: Data(push.payload))
        all.withLock { $0.append(payload?.pushcrypt?.skid ?? "none") }
    }
}

/// Tells another task that something has happened.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() { value.store(true, ordering: .releasing) }
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
