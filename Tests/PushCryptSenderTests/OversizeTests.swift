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

    @Test("a body that doesn't fit is cut at a character with an ellipsis, and never silently", arguments: 0..<60)
    func shortened(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let channel = Channel.all[seed % Channel.all.count]
        let limit = Int.random(in: 600...4_096, using: &random)
        let text = Self.text(&random, count: Int.random(in: 1...3_000, using: &random))
        let sealer = try channel.sealer(
            Sealer.Options(limitInBytes: limit, oversize: .shortenBody(toAtLeast: 1)))
        let push: SealedPush
        do {
            push = try sealer.seal(PushNotification(title: "T", body: text), to: channel.recipient())
        } catch let error as SenderError where error.code == .tooLarge {
            // Not even one character fits. One is at most 60 bytes here.
            let empty = try sealer.seal(PushNotification(title: "T", body: "x"), to: channel.recipient())
            #expect(empty.byteCount + 80 > limit)
            return
        }
        let shown = try body(push, channel)
        #expect(push.byteCount <= limit)
        #expect(push.isBodyShortened == (shown != text))
        if push.isBodyShortened {
            let kept = shown.dropLast()
            #expect(shown.last == "…" && kept.count >= 1)
            #expect(Array(kept) == Array(text.prefix(kept.count)), "cut inside a character")
            // One character more wouldn't have fitted, unless it joins with the ellipsis.
            let next = Array(text)[kept.count]
            let isJoining = (String(next) + "…").count != 2
            let fits = try? sealer.seal(
                PushNotification(title: "T", body: String(text.prefix(kept.count + 1)) + "…"), to: channel.recipient()
            ) { $0.oversize = .refuse }
            #expect(fits == nil || isJoining)
        }
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

    @Test("a payload whose body can't be shortened enough is offloaded, and opens as it was", arguments: Channel.all)
    func offloaded(channel: Channel) throws {
        let stored = Locked<[SealedBlob]>([])
        let plan = OversizePlan.shortenBodyOrOffload(toAtLeast: 2_500) { blob in
            stored.withLock { $0.append(blob) }
            return "https://a.b/c"
        }
        let notification = PushNotification(
            title: "T", body: String(repeating: "b", count: 6_000),
            custom: ["note": String(repeating: "n", count: 9_000)])
        let push = try channel.sealer(Sealer.Options(oversize: plan)).seal(notification, to: channel.recipient())
        #expect(push.isOffloaded && push.isBodyShortened && push.byteCount <= 4_096)
        let reading = try Reading(push, channel)
        let reference = try #require(reading.inner.header(proof: [])?.extras.offload)
        let blob = try #require(stored.withLock { $0.first })
        let plaintext = try BlobOpener.plaintext(of: blob.bytes, reference.blob)
        let inner = try OffloadedPayload.innerPayload(plaintext: plaintext)
        #expect(inner.text.bytes == (try EncodedPayload(notification, Sealer.standardEncoder()).inner.text.bytes))
        #expect(stored.withLock { $0.count } == 1)
    }

    @Test("what storing a blob throws, sealing throws; a wrong address is invalidOption, and so is a quiet push")
    func storing() throws {
        struct Unreachable: Error {}
        let notification = PushNotification(title: String(repeating: "t", count: 9_000), body: "b")
        let recipient = try Channel.simple.recipient()
        let sealer = try Channel.simple.sealer()
        #expect(throws: Unreachable.self) {
            try sealer.seal(notification, to: recipient) {
                $0.oversize = .shortenBodyOrOffload(toAtLeast: 1) { _ in throw Unreachable() }
            }
        }
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
