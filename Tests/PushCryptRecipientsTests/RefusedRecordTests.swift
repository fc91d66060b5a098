import Foundation
import PushCryptCore
import PushCryptRecipients
import PushCryptTestSupport
import Testing

/// An import with such a record names its line and imports nothing.
@Suite("Records that can't be used")
struct RefusedRecordTests {
    @Test("a record with a private key is refused", arguments: [KeyKind.recipient, .sender])
    func privateKey(_ kind: KeyKind) throws {
        let device = try Device.make(kind, exposesPrivate: true)
        try expect(.privateKey, of: device.line)
    }

    @Test("a record with a sender key is refused")
    func sender() throws {
        let device = try Device.make(.sender)
        try expect(.invalidRecord, of: device.line)
    }

    @Test("a record whose kid belongs to another key is refused")
    func otherKey() throws {
        let (device, other) = try (Device.make(), Device.make())
        try expect(.invalidRecord, of: other.changing("kid", to: "\(device.kid)"))
    }

    @Test("a record with an invalid key is refused", arguments: ["alg", "x", "kty"])
    func malformed(_ member: String) throws {
        let device = try Device.make()
        try expect(.invalidRecord, of: device.changing(member, to: "AAAA"))
    }

    @Test("a public key with a device id is refused")
    func deviceOfPublicKey() throws {
        let device = try Device.make()
        try expect(.invalidRecord, of: device.adding(#""device":"phone""#))
    }

    private func expect(_ code: RecipientDirectoryError.Code, of line: String) throws {
        let place = try Place([try Device.make(psk: true).line, line, try Device.make().line])
        let error = #expect(throws: RecipientDirectoryError.self) { try place.importLines() }
        #expect(error?.code == code && error?.lineNumber == 2, "\(error.debugDescription)")
        #expect(error?.reason.contains("line 2: ") == true)
        #expect(try place.folder.names() == [place.name])
    }

    @Test(
        "a line without a valid name is refused, and the error contains its number and no part of it",
        arguments: [
            "", " ", "nonsense", "{", "[]", "7", "{}", #"{"kid":7}"#, #"{"kid":"short"}"#, #"{"kid":"AAAAAAAAAA="}"#,
            #"{"kid":"AAAAAAAAAAA","kid":"AAAAAAAAAAA"}"#, #"{"kid":"AAAAAAAAAAA","device":7}"#,
            #"{"kid":"AAAAAAAAAAA","device":""}"#, #"{"kid":"AAAAAAAAAAA","device":"a b"}"#,
            #"{"kid":"AAAAAAAAAAA"} {}"#, "\u{feff}{}", String(repeating: "x", count: 65_537),
            String(repeating: " ", count: 300_000),
        ])
    func skipped(_ line: String) throws {
        let devices = try (0..<2).map { _ in try Device.make() }
        let place = try Place([devices[0].line, line, devices[1].line])
        let error = #expect(throws: RecipientDirectoryError.self) { try place.importLines() }
        #expect(error?.code == .invalidRecord && error?.lineNumber == 2)
        #expect(error?.reason.hasSuffix("; 1 of its lines can't be imported") == true)
        #expect(line.count < 8 || error?.reason.contains(line) == false)
    }

    @Test("a line of 65,536 bytes is imported")
    func longest() throws {
        let device = try Device.make()
        let (note, end) = (#","note":""#, #""}"#)
        let room = 65_536 - (device.line.utf8.count - 1) - note.utf8.count - end.utf8.count
        let line = device.line.dropLast() + note + String(repeating: "n", count: room) + end
        #expect(line.utf8.count == 65_536)
        #expect(try device.opens(Place([String(line)]).imported().makeReader().recipient(kid: device.kid)))
    }

    @Test("many bad lines are all counted, and the first is named")
    func manySkipped() throws {
        let place = try Place([try Device.make().line] + Array(repeating: "?", count: 150))
        let error = #expect(throws: RecipientDirectoryError.self) { try place.importLines() }
        #expect(error?.lineNumber == 2 && error?.reason.hasSuffix("150 of its lines can't be imported") == true)
    }

    @Test(
        "a file without records is reported as no directory",
        arguments: ["{}\n", "{\n  \"keys\": []\n}\n", "\0\u{1}\u{2}"])
    func noDirectory(_ text: String) throws {
        let place = try Place()
        try place.write(Data(text.utf8))
        let error = #expect(throws: RecipientDirectoryError.self) { try place.importLines() }
        #expect(error?.code == .notADirectory)
    }
}
