import Foundation
import PushCryptCore
import PushCryptRecipients
import PushCryptTestSupport
import Testing

/// PROTOCOL section 3: the same kid with another key is refused, never replaced.
@Suite("Several lines with one key id")
struct CollisionTests {
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
    @Test(
        "a line whose key doesn't match its id is reported as invalid and not as a collision",
        arguments: [false, true])
    func impostor(_ comesFirst: Bool) throws {
        let (device, other) = try (Device.make(), Device.make())
        let impostor = other.changing("kid", to: "\(device.kid)")
        let place = try Place(comesFirst ? [impostor, device.line] : [device.line, impostor])
        let error = #expect(throws: RecipientDirectoryError.self) { try place.importLines() }
        #expect(error?.code == .invalidRecord && error?.lineNumber == (comesFirst ? 1 : 2))
        #expect(error?.reason.hasSuffix("1 of its lines can't be imported") == true)
    }

    @Test("if no line with an id is valid, the second one is reported")
    func onlyBad() throws {
        let device = try Device.make()
        let place = try Place([device.changing("alg", to: "A"), device.changing("alg", to: "B")])
        let error = #expect(throws: RecipientDirectoryError.self) { try place.importLines() }
        #expect(error?.code == .invalidRecord && error?.lineNumber == 2)
    }
}
