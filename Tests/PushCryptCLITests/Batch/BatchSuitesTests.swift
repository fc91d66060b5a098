import Foundation
import PushCryptCore
import PushCryptPrimitives
import Testing

/// Batches whose lines have recipients of every suite.
@Testing.Suite("a batch with recipients of several suites", .ownThreads)
struct BatchSuitesTests {
    private static let hasXWing = PushCryptCore.Suite.xWing.isAvailable
    private static let names = ["p256", "x25519 psk", "xwing", "shared"]

    /// The record of a new key of suite 3, whose private key is in `xwing.json`; without OpenSSL 3.5, one that only has its form.
    private static func xWing(_ place: Workplace) throws -> String {
        guard hasXWing else {
            let pub = Base64URL.encode([UInt8](repeating: 9, count: 1_216))
            return #"{"kty":"AKP","alg":"pushcrypt-3","kid":"AAAAAAAAAAA","pub":"\#(pub)"}"#
        }
        let record = try KeyRecord.generate(.recipient, type: .xWing, psk: true, backend: DefaultBackend.shared)
        let texts = try [record, record.publicRecord(keepingPSK: true)].map { record in
            var bytes = [UInt8]()
            try record.appendJWK(to: &bytes)
            return bytes
        }
        try place.write(Data(texts[0]), to: "xwing.json")
        return String(decoding: texts[1], as: UTF8.self)
    }

    private static func lines(_ xWing: String) throws -> [String] {
        try (0..<80).map { index in
            let name = names[index % 4]
            let to = try name == "xwing" ? xWing : BatchPlace.registration(name)
            let device = name == "shared" ? #""device":"d\#(index)","# : ""
            return #"{"n":\#(index),"to":\#(to),\#(device)"payload":{"aps":{"alert":"x"},"n":\#(index)}}"#
        }
    }

    private static func isXWing(_ number: Int) -> Bool { names[number % 4] == "xwing" }

    @Test("each line is sealed in order and opens with its key; without OpenSSL 3.5 only those of suite 3 are refused")
    func mixed() throws {
        let batch = try BatchPlace()
        let lines = try Self.lines(Self.xWing(batch.place))
        let sealed = try batch.seal(lines, "--jobs", "3", "--errors", "errors.jsonl")
        let numbers = Self.hasXWing ? Array(0..<80) : (0..<80).filter { !Self.isXWing($0) }
        #expect(sealed.exit == (Self.hasXWing ? 0 : 65), "\(sealed)")
        #expect(BatchPlace.numbers(sealed.stdout) == numbers)
        if !Self.hasXWing {
            #expect(try batch.refusedLines().map(\.reason) == Array(repeating: "unsupportedSuite", count: 20))
        }
        let keyFiles = ["devices.json", "devices.json", "xwing.json", "fleet.json"]
        for file in Set(keyFiles) {
            let own = zip(numbers, sealed.text.linesWithNewline).filter { keyFiles[$0.0 % 4] == file }
            guard !own.isEmpty else { continue }
            let opened = try batch.open(own.map(\.1), "--keys", file)
            #expect(opened.exit == 0, "\(opened)")
            let payloads = opened.text.linesWithNewline.compactMap {
                $0.firstMatch(of: /"payload":\{"aps":.*?,"n":(\d+)\}/)?.1
            }
            #expect(payloads.compactMap { Int($0) } == own.map(\.0), "\(file)")
        }
    }

    @Test(
        "with --minimum-suite xwing the lines of suites 1 and 2 are refused, and those of suites 3 and 4 sealed in order"
    )
    func minimum() throws {
        let batch = try BatchPlace()
        let lines = try Self.lines(Self.xWing(batch.place))
        let sealed = try batch.seal(lines, "--minimum-suite", "xwing", "--errors", "errors.jsonl")
        #expect(sealed.exit == 65, "\(sealed)")
        let numbers = (0..<80).filter { $0 % 4 == 3 || Self.hasXWing && Self.isXWing($0) }
        #expect(BatchPlace.numbers(sealed.stdout) == numbers)
        let reasons = try batch.refusedLines().map(\.reason)
        #expect(reasons.count { $0 == "suiteTooLow" } == 40)
        #expect(reasons.count { $0 == "unsupportedSuite" } == (Self.hasXWing ? 0 : 20))
    }
}
