import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptKeysets
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// A mistake that a team made, set up by an engineer who had not seen how `diagnose` looks for it. The run without the
/// mistake is its correction.
struct TeamRun: Sendable, CustomTestStringConvertible {
    /// The true cause, in one sentence.
    let cause: String
    /// The name of the finding that comes first.
    let finding: String
    /// What its cause, evidence and advice must say, in lower case: one text of each row. Written before the first run.
    let answer: [[String]]
    /// Delivers a push with the mistake or without it, and diagnoses it with what such a team has.
    let run: @Sendable (_ isMistaken: Bool) async throws -> Diagnosed

    var testDescription: String { cause }

    func isAnswered(by found: Diagnosed.Found) -> Bool {
        let text = ([found.cause, found.advice] + found.evidence).joined(separator: " ").lowercased()
        return answer.allSatisfy { row in row.contains { text.contains($0) } }
    }
}

@Suite("mistakes of teams: diagnose names the cause", .ownThreads) struct TeamRunTests {
    static let all = TeamRun.relays + TeamRun.requests + TeamRun.keys + TeamRun.senders + TeamRun.times + TeamRun.apps

    /// Whether a finding only names an effect on the device, which its cause explains.
    private static func isEffect(_ name: String) -> Bool {
        name.hasPrefix("device-counted-")
            || ["undecryptable", "extension-never-ran", "extension-set-up-failed", "extension-timed-out"].contains(name)
    }

    @Test("a mistake that a team made: a finding names its cause and the correction, and no effect", arguments: all)
    func mistake(_ run: TeamRun) async throws {
        let diagnosed = try await run.run(true)
        let first = try #require(diagnosed.found.first, "\(diagnosed)")
        #expect(first.name == run.finding && run.isAnswered(by: first), "\(diagnosed)")
        #expect(diagnosed.errors.allSatisfy { $0 == run.finding || !Self.isEffect($0) }, "\(diagnosed)")
        #expect(diagnosed.repeatedRequests == [], "\(diagnosed)")
    }

    @Test("the same run without the mistake: the text is shown, and no error is found", arguments: all)
    func corrected(_ run: TeamRun) async throws {
        let diagnosed = try await run.run(false)
        #expect(diagnosed.errors == [], "\(diagnosed)")
    }
}

extension InstalledApp {
    /// Delivers a push, whose text must be shown unless there is a mistake.
    @discardableResult
    func deliver(
        _ payload: Data, _ headers: PushHeaders? = nil, isMistaken: Bool, location: SourceLocation = #_sourceLocation
    ) async -> SimulatedDevice.Reception {
        if isMistaken { return await fail(payload, headers, location: location) }
        let reception = await device.receive([UInt8](payload), headers)
        #expect(reception.isRestored && reception.failure == nil, "\(reception)", sourceLocation: location)
        return reception
    }

    /// Writes the headers of a request with the answer of APNs, as a backend logs them.
    func writeHeaders(_ headers: PushHeaders, _ reception: SimulatedDevice.Reception) throws -> String {
        var log: [String: Any] = ["apns-topic": headers.topic, "apns-push-type": headers.pushType, ":status": 200]
        if let expiration = headers.expiration { log["apns-expiration"] = "\(expiration.seconds)" }
        if let collapseID = headers.collapseID { log["apns-collapse-id"] = collapseID }
        if let refusal = reception.refusal { (log[":status"], log["reason"]) = (refusal.status, refusal.reason) }
        return try write(Relay.data(log), to: "headers.json")
    }
}

/// The keys of a team's backends and publisher, and what they publish.
struct TeamKeys {
    let place: Workplace

    init() throws { place = try Workplace() }

    /// Makes a sender's keyset.
    ///
    /// - Parameter publisher: signs its set for the app.
    func makeSender(
        _ name: String, publisher: String? = nil, at time: UnixTime = InstalledApp.start - 86_400
    ) throws {
        _ = try place.create(name, "sender", [], at: "\(time)")
        guard let publisher else { return }
        if !place.has(publisher + KeysetLocation.suffix) {
            _ = try place.create(publisher, "publisher", [], at: "\(time)")
        }
        try run(
            "keys", "policy", name, "--topic", InstalledApp.topic, "--epoch", "1", "--publisher", publisher, "--at",
            "\(time)")
    }

    @discardableResult
    private func run(_ arguments: String...) throws -> Data {
        let output = try place.run(arguments)
        try #require(output.isSuccess, "\(output)")
        return output.stdout
    }

    func signer(_ name: String, at time: UnixTime = InstalledApp.start) throws -> SenderKey {
        try Keyset(file: place.folder.file(name + KeysetLocation.suffix).path, secret: nil).senderKey(at: time)
    }

    /// The public sender keys without a signature.
    func exported(_ name: String, at time: UnixTime = InstalledApp.start) throws -> Data {
        try run("keys", "export", name, "--at", "\(time)")
    }

    func pins(_ publisher: String, for sender: String) throws -> Data {
        try run("keys", "export", sender, "--pins", "--publisher", publisher, "--at", "\(InstalledApp.start)")
    }

    /// The signed set that is served after `publish`.
    func signed(_ sender: String, by publisher: String, at time: UnixTime = InstalledApp.start) throws -> Data {
        if !place.has("www") { try place.makeFolder("www", mode: 0o755) }
        try run(
            "publish", sender, "--to", "www", "--publisher", publisher, "--confirm-clock", "--at", "\(time)")
        return try place.read("www/\(place.log(sender).state.id).1.json")
    }

    /// The pins of an app in a folder of the device.
    func senderPins(_ json: Data) throws -> SenderPins {
        try SenderPins(
            folder: place.folder.path + "/device", publishers: SenderSetPins(json: [UInt8](json)),
            topic: InstalledApp.topic)
    }
}
