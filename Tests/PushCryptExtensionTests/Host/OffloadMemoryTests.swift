import Foundation
import PushCryptExtension
import PushCryptSender
import PushCryptTestSupport
import Testing

/// The largest accepted payloads, in the shapes that need the most memory.
@Suite struct OffloadMemoryTests {
    struct Shape: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let json: String

        /// Makes a payload with as many pieces between `start` and `end` as the limits allow.
        ///
        /// - Parameters:
        ///   - values: the number of JSON values in each piece.
        ///   - others: the number of JSON values in the rest of the payload.
        init(
            _ name: String, values: Int = 1, others: Int = 4, start: String = #","x":["#, end: String = "]",
            alert: String = #""x""#, separator: String = ",", _ piece: (Int) -> String
        ) {
            let (head, tail) = (#"{"aps":{"alert":\#(alert)}"# + start, end + "}")
            var (pieces, byteCount) = ([String](), head.utf8.count + tail.utf8.count)
            while (pieces.count + 1) * values + others <= InnerPayload.maximumValueCount {
                let next = piece(pieces.count)
                byteCount += next.utf8.count + separator.utf8.count
                guard byteCount <= InnerPayload.maximumByteCount else { break }
                pieces.append(next)
            }
            testDescription = name
            json = head + pieces.joined(separator: separator) + tail
        }
    }

    private static func number(_ index: Int, _ digits: Int) -> String {
        String(String(10_000_000_000_000_000 + index * 7_919).suffix(digits))
    }

    static let shapes: [Shape] =
        [
            Shape("zeros") { _ in "0" },
            Shape("numbers of fifteen digits") { "9" + number($0, 14) },
            Shape("fractions") { "0.1" + number($0, 12) },
            Shape("nulls") { _ in "null" },
            Shape("short strings") { "\"" + number($0, 12) + "\"" },
            Shape("strings on the heap") { "\"" + number($0, 16) + "\"" },
            Shape("empty objects") { _ in "{}" },
            Shape("arrays of one", values: 2) { "[\($0)]" },
            Shape("objects of one", values: 2) { #"{"a":\#($0)}"# },
            Shape("arrays of two", values: 3) { "[\($0),0]" },
            Shape("chains of sixty arrays", values: 60) { _ in
                String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
            },
            Shape("chains of sixty objects", values: 60) { _ in
                String(repeating: #"{"a":"#, count: 59) + "{}" + String(repeating: "}", count: 59)
            },
            Shape("short members of the root", others: 3, start: ",", end: "") { #""\#($0)":\#($0)"# },
            Shape("members of the root with long names", others: 3, start: ",", end: "") { "\"\(number($0, 16))\":0" },
            Shape("members of the root with long names and values", others: 3, start: ",", end: "") {
                "\"\(number($0, 16))\":\"\(number($0, 16))\""
            },
            Shape("short members of an object", start: #","x":{"#, end: "}") { #""\#($0)":\#($0)"# },
            Shape("escaped names", start: #","x":{"#, end: "}") { #""\u0061\#($0)":0"# },
            Shape("one string", start: #","x":""#, end: "\"", separator: "") { _ in String(repeating: "a", count: 64) },
            Shape("one string of escapes", start: #","x":""#, end: "\"", separator: "") { _ in #"\u00e9\ud83d\ude00\n"#
            },
            Shape("one name", start: #",""#, end: #"":0"#, separator: "") { _ in String(repeating: "a", count: 64) },
            Shape("one number", start: #","x":0."#, end: "", separator: "") { _ in String(repeating: "1", count: 64) },
            Shape("white space", start: ",", end: #""x":0"#, separator: "") { _ in String(repeating: " ", count: 64) },
        ]
        + [
            Shape("a long title and body", start: "", end: "", alert: longAlert, separator: "") { _ in "" },
            Shape("arguments of a text", start: "", end: "", alert: longArguments, separator: "") { _ in "" },
        ]
    private static let longAlert =
        #"{"title":"\#(String(repeating: "é", count: 65_000))","body":"\#(String(repeating: "a", count: 130_000))"}"#
    private static let longArguments =
        #"{"loc-key":"x","loc-args":["# + (0..<13_700).map { "\"\(number($0, 16))\"" }.joined(separator: ",") + "]}"

    /// glibc's allocator raises its mmap threshold when it frees a large block, and then keeps 1 to 2 MB of freed memory here.
    /// Apple's allocator returns large blocks. With a fixed threshold glibc does so too.
    private static let allocator = "env MALLOC_MMAP_THRESHOLD_=131072"
    private static let limitInKiB = 4_000

    /// The short form uses one shape of each kind: numbers, strings, nesting, names of the root, one long value, alert text.
    private static let chosenShapes = LongTests.value(
        shapes, short: shapes.filter { chosenNames.contains($0.testDescription) })
    private static let chosenNames: Set = [
        "fractions", "strings on the heap", "objects of one", "members of the root with long names",
        "one string of escapes", "arguments of a text",
    ]

    @Test(
        "restoring the largest payload, including userInfo, needs less than 4 MB above idle",
        .enabled(if: Sanitizer.isAbsent, "\(Sanitizer.limitsMemory)"), arguments: chosenShapes)
    func peak(shape: Shape) throws {
        let folder = try TemporaryFolder()
        try Data(ReferenceVectors.shared.jwk("p256")).write(to: folder.file("key.json"))
        for (name, json) in [("small", #"{"aps":{"alert":"x"},"n":[1,{"a":"b"}]}"#), ("large", shape.json)] {
            let blob = try Sealer.offload(Array(json.utf8))
            try Data(blob.bytes).write(to: folder.file(name))
            let reference = try OffloadReference(url: "https://files.example/\(name)", blob: blob.reference)
            let push = try TestPush(json: #"{"aps":{"alert":"short"}}"#, offload: reference).sealed()
            try Data(push).write(to: folder.file(name + ".json"))
        }
        // On a busy machine, code that the system dropped meanwhile and reads again counts too: at most three runs.
        var growths: [Int] = []
        repeat { growths.append(try growth(in: folder)) } while growths.count < 3 && growths.last! >= Self.limitInKiB
        #expect(growths.last! < Self.limitInKiB, "\(growths) KiB")
    }

    private func growth(in folder: TemporaryFolder) throws -> Int {
        let command = ["offload", folder.file("key.json").path, folder.path, TestPush.topic, "\(TestPush.now.seconds)"]
        let output = try #require(try ExtensionCommand.output(command, prefix: Self.allocator))
        #expect(output.first == "restored 2")
        return try #require(output.first { $0.hasPrefix("growth ") }.flatMap { Int($0.dropFirst(7)) })
    }
}
