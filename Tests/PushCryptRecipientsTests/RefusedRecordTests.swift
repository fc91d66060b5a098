import Foundation
import PushCryptCore
import PushCryptRecipients
import PushCryptTestSupport
import Testing

/// An import with such a record names its line and imports nothing.
@Suite("Records that can't be used") struct RefusedRecordTests {
    private static let records: [(String, RecipientDirectoryError.Code, @Sendable () throws -> String)] = [
        ("a private key", .privateKey, { try Device.make(exposesPrivate: true).line }),
        ("a sender's private key", .privateKey, { try Device.make(.sender, exposesPrivate: true).line }),
        ("a sender key", .invalidRecord, { try Device.make(.sender).line }),
        ("the kid of another key", .invalidRecord, { try Device.make().changing("kid", to: "\(Device.make().kid)") }),
        ("another alg", .invalidRecord, { try Device.make().changing("alg", to: "AAAA") }),
        ("a short x", .invalidRecord, { try Device.make().changing("x", to: "AAAA") }),
        ("another kty", .invalidRecord, { try Device.make().changing("kty", to: "AAAA") }),
        ("a public key with a device id", .invalidRecord, { try Device.make().adding(#""device":"phone""#) }),
    ]

    @Test("a record with a private or invalid key is refused with the number of its line", arguments: records)
    func unusable(_ name: String, _ code: RecipientDirectoryError.Code, _ make: @Sendable () throws -> String) throws {
        let line = try make()
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

    @Test func `a line of 65,536 bytes is imported`() throws {
        let device = try Device.make()
        let (note, end) = (#","note":""#, #""}"#)
        let room = 65_536 - (device.line.utf8.count - 1) - note.utf8.count - end.utf8.count
        let line = device.line.dropLast() + note + String(repeating: "n", count: room) + end
        #expect(line.utf8.count == 65_536)
        #expect(try device.opens(Place([String(line)]).imported().makeReader().recipient(kid: device.kid)))
    }

    @Test func `many bad lines are all counted, and the first is named`() throws {
        let place = try Place([try Device.make().line] + Array(repeating: "?", count: 150))
        let error = #expect(throws: RecipientDirectoryError.self) { try place.importLines() }
        #expect(error?.lineNumber == 2 && error?.reason.hasSuffix("150 of its lines can't be imported") == true)
    }

    @Test("a file without records is no directory", arguments: ["{}\n", "{\n  \"keys\": []\n}\n", "\0\u{1}\u{2}"])
    func noDirectory(_ text: String) throws {
        let place = try Place()
        try place.write(Data(text.utf8))
        #expect(directoryError(place.importLines) == .notADirectory)
    }
}

/// PROTOCOL section 3: the same kid with another key is refused, never replaced.
@Suite("Several lines with one key id") struct CollisionTests {
    @Test("several lines with one id and the same key are one recipient", arguments: 1...3)
    func duplicates(_ count: Int) throws {
        let device = try Device.make(psk: true)
        let reordered = device.line.replacing(#"{"kty":"OKP","#, with: "{").dropLast() + #","kty":"OKP"}"#
        let again = [device.line, device.adding(#""seen":7"#), String(reordered)].prefix(count)
        let place = try Place([device.line, try Device.make().line] + again)
        #expect(try place.importLines().addedCount == 2)
        #expect(try device.opens(place.imported().makeReader().recipient(kid: device.kid)))
    }

    /// A thief of the master or a bug of the backend can cause this.
    @Test("lines with one id and different keys are refused", arguments: [false, true])
    func rivals(_ isReversed: Bool) throws {
        let (first, second) = try (Device.make(.shared).of("phone"), Device.make(.shared).of("phone"))
        let rival = second.changing("kid", to: "\(first.kid)")
        try expectCollision(first, isReversed ? [rival, first.line] : [first.line, rival])
    }

    @Test("lines with one id and different psks are refused", arguments: [false, true])
    func psks(_ hasOther: Bool) throws {
        let (first, other) = try (Device.make(psk: true), Device.make(psk: true))
        let psk = try #require(other.line.firstMatch(of: /"psk":"([^"]+)"/)?.1)
        let without = first.line.replacing(/,"psk":"[^"]+"/, with: "")
        try expectCollision(first, [first.line, hasOther ? first.changing("psk", to: String(psk)) : without])
    }

    private func expectCollision(_ device: Device, _ lines: [String]) throws {
        let place = try Place([try Device.make().line] + lines + [device.line])
        let error = #expect(throws: RecipientDirectoryError.self) { try place.importLines() }
        #expect(error?.code == .collision && error?.lineNumber == 2)
        #expect(error?.reason.contains("lines 2 and 3 have different records of key \(device.kid)") == true)
        #expect(try place.folder.names() == [place.name])
    }

    /// Otherwise an attacker who can add a line could remove a recipient from the directory.
    @Test("a line whose key isn't that of its id is invalid, and no collision", arguments: [false, true])
    func impostor(_ comesFirst: Bool) throws {
        let (device, other) = try (Device.make(), Device.make())
        let impostor = other.changing("kid", to: "\(device.kid)")
        let place = try Place(comesFirst ? [impostor, device.line] : [device.line, impostor])
        let error = #expect(throws: RecipientDirectoryError.self) { try place.importLines() }
        #expect(error?.code == .invalidRecord && error?.lineNumber == (comesFirst ? 1 : 2))
        #expect(error?.reason.hasSuffix("1 of its lines can't be imported") == true)
    }

    @Test func `if no line with an id is valid, the second one is reported`() throws {
        let device = try Device.make()
        let place = try Place([device.changing("alg", to: "A"), device.changing("alg", to: "B")])
        let error = #expect(throws: RecipientDirectoryError.self) { try place.importLines() }
        #expect(error?.code == .invalidRecord && error?.lineNumber == 2)
    }
}
