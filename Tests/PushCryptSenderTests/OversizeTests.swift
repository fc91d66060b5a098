import Foundation
import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

/// What becomes of payloads that don't fit. The random texts have characters that are several code points, need an escape, or
/// join with their neighbours.
@Suite struct OversizeTests {
    private static let characters: [String] = [
        "a", "é", "e\u{301}", "ü", "漢", "👍🏽", "👩‍👩‍👧‍👦", "🇩🇪", "\"", "\\", "\n", "\u{1}", "ا", "\u{600}", "\u{200D}", "नि", " ",
    ]

    private static func text(_ random: inout SplitMix64, count: Int) -> String {
        (0..<count).map { _ in characters.randomElement(using: &random) ?? "a" }.joined()
    }

    private func body(_ push: SealedPush, _ channel: Channel) throws -> String {
        let inner = try Reading(push, channel).inner
        return try #require(inner.aps?["alert"]?["body"]?.string)
    }

    /// What became of a payload.
    private enum Outcome { case whole, shortened, offloaded, refused }

    /// Expects each outcome often enough, and few refusals: otherwise the payloads would test nothing.
    private func expectVariety(of outcomes: [Outcome], _ expected: Outcome...) {
        let counts = Dictionary(outcomes.map { ($0, 1) }, uniquingKeysWith: +)
        for outcome in expected { #expect(counts[outcome, default: 0] >= outcomes.count / 12, "\(counts)") }
        #expect(counts[.refused, default: 0] <= outcomes.count / 4, "\(counts)")
    }

    @Test("a body that doesn't fit is cut at a character with an ellipsis, and never silently, for 60 random texts")
    func shortened() throws {
        expectVariety(of: try (0..<60).map(shortened), .whole, .shortened)
    }

    private func shortened(seed: Int) throws -> Outcome {
        var random = SplitMix64(seed: UInt64(seed))
        let channel = Channel.all[seed % Channel.all.count]
        let limit = Int.random(in: 600 + channel.extraByteCount...4_096, using: &random)
        let text = Self.text(&random, count: Int.random(in: 1...3_000, using: &random))
        let sealer = try channel.sealer(Sealer.Options(limitInBytes: limit, oversize: .shortenBody(toAtLeast: 1)))
        let push: SealedPush
        do {
            push = try sealer.seal(PushNotification(title: "T", body: text), to: channel.recipient())
        } catch let error as SenderError where error.code == .tooLarge {
            // Not even one character fits. One is at most 60 bytes here.
            let empty = try sealer.seal(PushNotification(title: "T", body: "x"), to: channel.recipient())
            #expect(empty.byteCount + 80 > limit, "seed \(seed)")
            return .refused
        }
        let shown = try body(push, channel)
        #expect(push.byteCount <= limit, "seed \(seed)")
        guard try expectShown(shown, of: text, push, atLeast: 1, seed) else { return .whole }
        // One character more wouldn't have fitted, unless it joins with the ellipsis.
        let count = shown.dropLast().count
        let isJoining = (String(Array(text)[count]) + "…").count != 2
        let fits = try? sealer.seal(
            PushNotification(title: "T", body: String(text.prefix(count + 1)) + "…"), to: channel.recipient()
        ) { $0.oversize = .refuse }
        #expect(fits == nil || isJoining, "seed \(seed)")
        return .shortened
    }

    /// Expects the whole body, or its beginning to the end of a character with an ellipsis, as the push tells.
    ///
    /// - Returns: whether it is the beginning.
    private func expectShown(
        _ shown: String, of text: String, _ push: SealedPush, atLeast minimum: Int, _ seed: Int
    ) throws -> Bool {
        #expect(push.isBodyShortened == (shown != text), "seed \(seed)")
        guard push.isBodyShortened else { return false }
        let kept = shown.dropLast()
        #expect(shown.last == "…" && kept.count >= minimum, "seed \(seed)")
        #expect(Array(kept) == Array(text.prefix(kept.count)), "seed \(seed): cut inside a character")
        return true
    }

    @Test("60 random payloads are sealed whole, shortened or offloaded: within the limit, and never silently")
    func anyOutcome() throws {
        expectVariety(of: try (0..<60).map(anyOutcome), .whole, .shortened, .offloaded)
    }

    private func anyOutcome(seed: Int) throws -> Outcome {
        var random = SplitMix64(seed: UInt64(seed))
        let channel = try #require(Channel.all.randomElement(using: &random))
        let limit = Int.random(in: 1_200 + channel.extraByteCount...4_096, using: &random)
        let minimum = Int.random(in: 1...200, using: &random)
        let text = Self.text(&random, count: Int.random(in: 1...500, using: &random))
        let note = Self.text(&random, count: Int.random(in: 0...400, using: &random))
        let notification = PushNotification(
            title: Self.text(&random, count: Int.random(in: 1...20, using: &random)), body: text,
            custom: ["note": note])
        let stored = Locked<[SealedBlob]>([])
        let sealer = try channel.sealer(Sealer.Options(limitInBytes: limit))
        let push: SealedPush
        do {
            push = try sealer.seal(notification, to: channel.recipient()) {
                $0.oversize = .shortenBodyOrOffload(toAtLeast: minimum) { blob in
                    stored.withLock { $0.append(blob) }
                    return "https://a.b/c"
                }
            }
        } catch let error as SenderError where error.code == .tooLarge {
            // Not even the title fits with the address.
            #expect((error.bytesNeeded ?? 0) > limit, "seed \(seed)")
            return .refused
        }
        #expect(push.byteCount <= limit, "seed \(seed)")
        let reading = try Reading(push, channel)
        let isShortened = try expectShown(
            body(push, channel), of: text, push, atLeast: push.isOffloaded ? 1 : minimum, seed)
        let blobs = stored.withLock { $0 }
        #expect(blobs.count == (push.isOffloaded ? 1 : 0), "seed \(seed)")
        let whole = try EncodedPayload(notification, Sealer.standardEncoder()).inner
        guard push.isOffloaded else {
            #expect(reading.inner.text.root["note"]?.string == note, "seed \(seed)")
            #expect(isShortened || reading.payload == String(decoding: whole.text.bytes, as: UTF8.self), "seed \(seed)")
            return isShortened ? .shortened : .whole
        }
        // Only what can't be shortened enough is offloaded, and all of it.
        expectSenderError(.tooLarge, "seed \(seed)") {
            try sealer.seal(notification, to: channel.recipient()) { $0.oversize = .shortenBody(toAtLeast: minimum) }
        }
        let reference = try #require(reading.inner.header(proof: [])?.extras.offload)
        let plaintext = try BlobOpener.plaintext(of: blobs[0].bytes, reference.blob)
        #expect(try OffloadedPayload.innerPayload(plaintext: plaintext).text.bytes == whole.text.bytes, "seed \(seed)")
        #expect(reading.inner.text.root["note"] == nil, "seed \(seed)")
        return .offloaded
    }

    @Test("a body of the exact size is sealed as it is") func exact() throws {
        let channel = Channel.simple
        var text = "x"
        let sealer = try channel.sealer(Sealer.Options(padding: .none, oversize: .shortenBody(toAtLeast: 1)))
        func seal(_ text: String) throws -> SealedPush {
            try sealer.seal(PushNotification(body: text), to: channel.recipient())
        }
        while try !seal(text + "x").isBodyShortened { text += "x" }
        #expect(try body(seal(text), channel) == text)
        let cut = try seal(text + "x")
        // The ellipsis has three bytes.
        #expect(try body(cut, channel) == text.dropLast(3) + "…")
    }

    @Test("an alert that is a string is shortened too, and the rest of the payload stays byte for byte")
    func stringAlert() throws {
        let long = String(repeating: "é", count: 4_000)
        let sealer = try Channel.simple.sealer(Sealer.Options(oversize: .shortenBody(toAtLeast: 10)))
        let push = try sealer.seal(#"{ "z" : 1.10, "aps" : { "alert" : "\#(long)" } }"#, to: Channel.simple.recipient())
        let payload = try Reading(push, .simple).payload
        #expect(payload.hasPrefix(#"{ "z" : 1.10, "aps" : { "alert" : "éé"#) && payload.hasSuffix(#"é…" } }"#))
    }

    @Test("a payload that is too large for another reason than its body is tooLarge, with the size of the whole")
    func otherReason() throws {
        let sealer = try Channel.simple.sealer(Sealer.Options(oversize: .shortenBody(toAtLeast: 20)))
        let notification = PushNotification(
            title: String(repeating: "t", count: 3_000), body: String(repeating: "b", count: 100))
        let error = expectSenderError(.tooLarge) { try sealer.seal(notification, to: Channel.simple.recipient()) }
        #expect((error?.bytesNeeded ?? 0) > 4_096)
        let withoutBody = PushNotification(title: String(repeating: "t", count: 4_000))
        expectSenderError(.tooLarge) { try sealer.seal(withoutBody, to: Channel.simple.recipient()) }
    }

    @Test("a wrong address of a stored blob is invalidOption, and so is a quiet push that would store one")
    func storing() throws {
        let notification = PushNotification(title: String(repeating: "t", count: 9_000), body: "b")
        let recipient = try Channel.simple.recipient()
        let sealer = try Channel.simple.sealer()
        for (url, isQuiet) in [("http://a.b", false), ("https://a.b/c", true)] {
            expectSenderError(.invalidOption) {
                try sealer.seal(notification, to: recipient) {
                    $0.isQuiet = isQuiet
                    $0.oversize = .shortenBodyOrOffload(toAtLeast: 1) { _ in url }
                }
            }
        }
    }
}
