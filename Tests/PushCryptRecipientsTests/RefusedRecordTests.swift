import Foundation
import PushCryptCore
import PushCryptRecipients
import Testing

/// Records that nothing is sealed to: said when they are looked up, with the line, and no other record suffers.
@Suite("records that can't be used")
struct RefusedRecordTests {
    @Test("a private key", arguments: [KeyKind.recipient, .sender])
    func privateKey(_ kind: KeyKind) throws {
        let device = try Device.make(kind, exposesPrivate: true)
        try expect(.privateKey, device.kid, of: device.line)
    }

    @Test("a sender's key")
    func sender() throws {
        let device = try Device.make(.sender)
        try expect(.invalidRecord, device.kid, of: device.line)
    }

    @Test("another key than its kid says")
    func otherKey() throws {
        let (device, other) = try (Device.make(), Device.make())
        try expect(.invalidRecord, device.kid, of: other.changing("kid", to: "\(device.kid)"))
    }

    @Test("a key that isn't one", arguments: ["alg", "x", "kty"])
    func malformed(_ member: String) throws {
        let device = try Device.make()
        try expect(.invalidRecord, device.kid, of: device.changing(member, to: "AAAA"))
    }

    @Test("a device's id on a public key")
    func deviceOfPublicKey() throws {
        let device = try Device.make()
        try expect(
            .invalidRecord, device.kid, DeviceID("phone"), of: device.adding(#""device":"phone""#))
    }

    private func expect(
        _ code: RecipientDirectoryError.Code, _ kid: KeyID, _ device: DeviceID? = nil, of line: String
    ) throws {
        let good = try Device.make(psk: true)
        let reader = try Place([good.line, line, try Device.make().line]).reader()
        let error = #expect(throws: RecipientDirectoryError.self) {
            try reader.recipient(kid: kid, device: device)
        }
        #expect(error?.code == code && error?.lineNumber == 2, "\(error.debugDescription)")
        #expect(error?.reason.contains("line 2: ") == true)
        #expect(try good.opens(reader.recipient(kid: good.kid)))
    }

    @Test(
        "a line that no lookup finds is counted, with its number",
        arguments: [
            "", " ", "nonsense", "{", "[]", "7", "{}", #"{"kid":7}"#, #"{"kid":"short"}"#, #"{"kid":"AAAAAAAAAA="}"#,
            #"{"kid":"AAAAAAAAAAA","kid":"AAAAAAAAAAA"}"#, #"{"kid":"AAAAAAAAAAA","device":7}"#,
            #"{"kid":"AAAAAAAAAAA","device":""}"#, #"{"kid":"AAAAAAAAAAA","device":"a b"}"#,
            #"{"kid":"AAAAAAAAAAA"} {}"#, "\u{feff}{}", String(repeating: "x", count: 65_537),
            String(repeating: " ", count: 300_000),
        ])
    func skipped(_ line: String) throws {
        let devices = try (0..<2).map { _ in try Device.make() }
        let directory = try Place([devices[0].line, line, devices[1].line]).open()
        let index = try #require(directory.index)
        #expect(index.skippedCount == 1 && index.skippedLines.map(\.number) == [2])
        #expect(index.lineCount == 3 && index.recipientCount == 2)
        #expect(line.count < 8 || index.skippedLines.allSatisfy { !$0.reason.contains(line) })
        let reader = try directory.makeReader()
        for device in devices { #expect(try device.opens(reader.recipient(kid: device.kid))) }
    }

    @Test("the longest line that is read")
    func longest() throws {
        let device = try Device.make()
        let (note, end) = (#","note":""#, #""}"#)
        let room = 65_536 - (device.line.utf8.count - 1) - note.utf8.count - end.utf8.count
        let line = device.line.dropLast() + note + String(repeating: "n", count: room) + end
        #expect(line.utf8.count == 65_536)
        #expect(try device.opens(Place([String(line)]).reader().recipient(kid: device.kid)))
    }

    @Test("many bad lines are all counted, and the first are named")
    func manySkipped() throws {
        let device = try Device.make()
        let directory = try Place([device.line] + Array(repeating: "?", count: 150)).open()
        #expect(directory.index?.skippedCount == 150)
        #expect(directory.index?.skippedLines.map(\.number) == Array(2...101))
    }

    @Test("a file without any record is no directory", arguments: ["{}\n", "{\n  \"keys\": []\n}\n", "\0\u{1}\u{2}"])
    func noDirectory(_ text: String) throws {
        let place = try Place()
        try place.write(Data(text.utf8))
        let error = #expect(throws: RecipientDirectoryError.self) { try place.open() }
        #expect(error?.code == .notADirectory)
    }
}
