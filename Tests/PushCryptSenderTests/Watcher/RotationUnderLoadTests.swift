import Dispatch
import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

/// Two threads seal while an operator rotates the keyset. PUSHCRYPT_LONG_TESTS runs 100,000 seals with 50
/// rotations for shared keys and 4,000 seals with 20 rotations for each other kind.
@Suite("KeysetWatcher under load", .serialized) struct RotationUnderLoadTests {
    struct Load: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let kind: KeyKind
        var type = KeyPairType.p256

        /// The seals of both threads.
        var sealCount: Int {
            switch (kind, LongTests.areEnabled) {
            case (.shared, true): 100_000
            case (.shared, false): 1_600
            case (_, true): 4_000
            case (_, false): 300
            }
        }
        var rotationCount: Int { LongTests.areEnabled ? kind == .shared ? 50 : 20 : kind == .shared ? 16 : 8 }
    }

    @Test(
        "no seal fails while keys rotate, and the last keyset opens every push",
        arguments: [
            Load(testDescription: "shared keys", kind: .shared),
            Load(testDescription: "P-256 keys", kind: .recipient),
            Load(testDescription: "X25519 keys", kind: .recipient, type: .x25519),
            Load(testDescription: "signatures", kind: .sender),
        ])
    func noneFailsAndAllOpen(load: Load) throws {
        let place = try Operator(load.kind, type: load.type)
        let watch = try Watch(place, every: .milliseconds(10))
        let recipients = try Operator()
        let fixed = try recipients.keyset.recipient(at: Operator.start)
        let workers = (0..<2).map { worker in
            SealingWorker(count: load.sealCount / 2, pauses: load.rotationCount) { index in
                let signs = load.kind == .sender
                return try Sealer(
                    topic: Watch.topic, signer: signs ? .watching(watch.watcher) : nil,
                    options: .init(padding: .none), clock: { place.clock.now }
                ).seal(
                    Self.payload(worker, index), to: signs ? fixed : watch.watcher.recipient(),
                    placeholder: Channel.placeholder)
            }
        }
        for worker in workers { worker.start() }
        for turn in 0..<load.rotationCount {
            for worker in workers { try worker.waitForTurn() }
            let sequence = try place.rotate(turn)
            try watch.outcomes.wait(for: .taken(sequence: sequence))
            for worker in workers { worker.endTurn() }
        }
        let pushes = try workers.map { try $0.finish() }

        #expect(pushes.joined().count == load.sealCount)
        #expect(watch.errors.isEmpty)
        try expectAllOpen(pushes, place, recipients, load)
    }

    /// - Parameter pushes: the pushes of each thread, in order.
    private func expectAllOpen(
        _ pushes: [[SealedPush]], _ place: Operator, _ recipients: Operator, _ load: Load
    ) throws {
        let signs = load.kind == .sender
        let opener = try Opener(
            topic: Watch.topic, keyring: KeysetKeyring(signs ? recipients.keyset : place.keyset),
            senders: signs ? .pinned(TrustedSenders(place.keyset)) : .unsigned)
        let time = place.clock.now
        let tallies = Locked([Tally]())
        DispatchQueue.concurrentPerform(iterations: pushes.count) { worker in
            var tally = Tally()
            for (index, push) in pushes[worker].enumerated() {
                tally.add(push, opener.open(Array(push.json), at: time), expecting: Self.payload(worker, index))
            }
            tallies.withLock { [tally] in $0.append(tally) }
        }
        let failures = tallies.withLock { $0 }.flatMap(\.failures)
        #expect(failures.isEmpty, "\(failures.count): \(failures.prefix(3))")
        #expect(Set(tallies.withLock { $0 }.flatMap(\.messageIDs)).count == load.sealCount)
        // Rotations were picked up while the threads were sealing, and not before or after.
        #expect(Set(tallies.withLock { $0 }.flatMap(\.keyIDs)).count >= load.rotationCount / 2)
    }

    private struct Tally {
        var failures = [String]()
        var messageIDs = Set<String>()
        /// The keys that signed, or that were sealed to.
        var keyIDs = Set<String>()

        mutating func add(_ push: SealedPush, _ result: Result<OpenedPush, FailureClass>, expecting payload: [UInt8]) {
            switch result {
            case .success(let opened) where opened.payload == payload:
                messageIDs.insert(opened.messageID)
                let envelope = (try? JSONText(Array(push.json)))?.root["pushcrypt"]
                if let kid = (envelope?["skid"] ?? envelope?["kid"])?.string { keyIDs.insert(kid) }
            case .success: failures.append("another payload")
            case .failure(let failure): failures.append(failure.description)
            }
        }
    }

    private static func payload(_ worker: Int, _ index: Int) -> [UInt8] {
        Array(#"{"aps":{"alert":"\#(worker)/\#(index)"}}"#.utf8)
    }
}

extension Operator {
    /// Makes one of three changes: a key that seals after half an hour, a key that seals at once, or a key that is retired
    /// before it sealed. The clock advances by an hour or less.
    ///
    /// - Returns: the number of the keyset's last line.
    func rotate(_ turn: Int) throws -> Int64 {
        switch turn % 3 {
        case 0:
            try add(activatesAt: clock.now + 1_800)
            clock.now = clock.now + 1_800
        case 1: try rotate()
        default:
            let kid = try add(activatesAt: clock.now + 86_400)
            try change { try $0.setting(.retiresAt, of: kid, to: clock.now, .rotated) }
        }
        clock.now = clock.now + 1_800
        return files.log.state.head.number
    }
}

/// A thread that seals. It begins a turn at regular intervals, in which the test rotates keys, and continues meanwhile. It
/// waits only if the previous turn hasn't ended.
private final class SealingWorker: Sendable {
    private let count: Int
    private let stride: Int
    private let seal: @Sendable (Int) throws -> SealedPush
    private let turns = DispatchSemaphore(value: 0)
    private let endedTurns = DispatchSemaphore(value: 0)
    private let result = Locked<Result<[SealedPush], any Error>?>(nil)
    private let end = DispatchSemaphore(value: 0)

    init(count: Int, pauses: Int, seal: @escaping @Sendable (Int) throws -> SealedPush) {
        self.count = count
        stride = count / pauses
        self.seal = seal
        endedTurns.signal()
    }

    func start() {
        Thread { [self] in
            let pushes = Result { try (0..<count).map(step) }
            result.withLock { $0 = pushes }
            end.signal()
        }.start()
    }

    private func step(_ index: Int) throws -> SealedPush {
        if index.isMultiple(of: stride) {
            turns.signal()
            try #require(endedTurns.wait(timeout: .now() + 120) == .success, "the test doesn't end the turn")
        }
        return try seal(index)
    }

    func waitForTurn() throws {
        try #require(turns.wait(timeout: .now() + 120) == .success, "the thread doesn't reach its next turn")
    }

    func endTurn() { endedTurns.signal() }

    func finish() throws -> [SealedPush] {
        try #require(end.wait(timeout: .now() + 120) == .success, "the thread doesn't end")
        return try #require(result.withLock { $0 }).get()
    }
}
