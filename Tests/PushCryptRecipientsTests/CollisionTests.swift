import Foundation
import PushCryptCore
import PushCryptRecipients
import Testing

/// PROTOCOL section 3: the same kid with another key is refused, never replaced.
@Suite("several lines of one key id")
struct CollisionTests {
    @Test("that say the same are one recipient", arguments: 1...3)
    func duplicates(_ count: Int) throws {
        let device = try Device.make(psk: true)
        let reordered = device.line.replacing(#"{"kty":"OKP","#, with: "{").dropLast() + #","kty":"OKP"}"#
        let again = [device.line, device.adding(#""seen":7"#), String(reordered)].prefix(count)
        let directory = try Place([device.line, try Device.make().line] + again).open()
        #expect(directory.index?.duplicateCount == count && directory.index?.recipientCount == 2)
        #expect(directory.index?.collisionCount == 0)
        #expect(try device.opens(directory.makeReader().recipient(kid: device.kid)))
    }

    /// What a thief of the master, or a bug of the backend, can bring about.
    @Test("with different keys are refused", arguments: [false, true])
    func rivals(_ isReversed: Bool) throws {
        let (first, second) = try (Device.make(.shared).of("phone"), Device.make(.shared).of("phone"))
        let rival = second.changing("kid", to: "\(first.kid)")
        try expectCollision(first, isReversed ? [rival, first.line] : [first.line, rival])
    }

    @Test("with different psks are refused", arguments: [false, true])
    func psks(_ hasOther: Bool) throws {
        let (first, other) = try (Device.make(psk: true), Device.make(psk: true))
        let psk = try #require(other.line.firstMatch(of: /"psk":"([^"]+)"/)?.1)
        let without = first.line.replacing(/,"psk":"[^"]+"/, with: "")
        try expectCollision(first, [first.line, hasOther ? first.changing("psk", to: String(psk)) : without])
    }

    private func expectCollision(_ device: Device, _ lines: [String]) throws {
        let good = try Device.make()
        let directory = try Place([good.line] + lines + [device.line]).open()
        #expect(directory.index?.collisionCount == 1)
        let reader = try directory.makeReader()
        let error = #expect(throws: RecipientDirectoryError.self) {
            try reader.recipient(kid: device.kid, device: device.id)
        }
        #expect(error?.code == .collision && error?.lineNumber == 2)
        #expect(error?.reason.contains("lines 2 and 3") == true)
        #expect(try good.opens(reader.recipient(kid: good.kid)))
    }

    /// Else whoever can add a line takes anybody out of the directory.
    @Test("of which one isn't the key of that id: the other stays", arguments: [false, true])
    func impostor(_ comesFirst: Bool) throws {
        let (device, other) = try (Device.make(), Device.make())
        let impostor = other.changing("kid", to: "\(device.kid)")
        let directory = try Place(comesFirst ? [impostor, device.line] : [device.line, impostor]).open()
        #expect(directory.index?.collisionCount == 0)
        #expect(directory.index?.skippedLines.map(\.number) == [comesFirst ? 1 : 2])
        #expect(try device.opens(directory.makeReader().recipient(kid: device.kid)))
    }

    @Test("of which none can be used")
    func onlyBad() throws {
        let device = try Device.make()
        let lines = [device.changing("alg", to: "A"), device.changing("alg", to: "B")]
        let directory = try Place(lines).open()
        #expect(directory.index?.skippedLines.map(\.number) == [2])
        let error = #expect(throws: RecipientDirectoryError.self) {
            try directory.makeReader().recipient(kid: device.kid)
        }
        #expect(error?.code == .invalidRecord && error?.lineNumber == 1)
    }
}
