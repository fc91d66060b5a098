import Foundation
import PushCryptCore
import PushCryptRecipients
import Testing

@Suite("a directory's check")
struct CheckTests {
    @Test("counts recipients by suite", arguments: Format.allCases)
    func counts(_ format: Format) throws {
        let devices = try Device.ofEverySort()
        let opened = try format.directory(devices.map(\.line) + [devices[0].line])
        let check = try DirectoryCheck(opened.directory)
        #expect(check.isClean && check.problems.isEmpty)
        #expect(check.recipientCounts == [.p256: 2, .x25519: 2, .shared: 2])
        #expect(check.duplicateCount == (format == .lines ? 1 : 0))
        #expect(check.lineCount == (format == .lines ? 7 : nil))
    }

    @Test("tells how far it is, of a database without knowing the end", arguments: Format.allCases)
    func progress(_ format: Format) throws {
        let opened = try format.directory(Device.ofOneMaster(2_100).map(\.line))
        var seen: [DirectoryProgress] = []
        let check = try DirectoryCheck(opened.directory) { seen.append($0) }
        #expect(check.recipientCounts == [.shared: 2_100])
        #expect(seen.map(\.done) == [1_024, 2_048])
        #expect(seen.allSatisfy { $0.phase == .visiting && $0.total == (format == .lines ? 2_100 : nil) })
    }

    @Test("names what is wrong, in the order of the lines")
    func problems() throws {
        let phone = try Device.make(.shared).of("phone")
        let rival = try Device.make(.shared).of("phone").changing("kid", to: "\(phone.kid)")
        let good = try Device.make()
        let lines = [
            try Device.make(exposesPrivate: true).line, good.line, "?", phone.line, rival,
            try Device.make().changing("alg", to: "none"), good.line,
        ]
        let opened = try Place(lines).open()
        let check = try DirectoryCheck(opened.directory)
        #expect(check.recipientCounts == [.x25519: 1])
        #expect(check.badCount == 3 && check.collisionCount == 1 && check.duplicateCount == 1)
        #expect(check.problems.map(\.line) == [1, 3, 4, 6])
        #expect(check.problems.map(\.isCollision) == [false, false, true, false])
        #expect(!check.isClean)
    }

    @Test("says nothing of a secret")
    func secrecy() throws {
        let device = try Device.make(psk: true, exposesPrivate: true)
        let opened = try Place([device.line, device.changing("kid", to: "AAAAAAAAAAA")]).open()
        let check = try DirectoryCheck(opened.directory)
        #expect(check.badCount == 2)
        for secret in device.line.matches(of: /"(?:d|psk)":"([^"]+)"/).map(\.1) {
            #expect(check.problems.allSatisfy { !$0.reason.contains(secret) })
        }
    }
}
