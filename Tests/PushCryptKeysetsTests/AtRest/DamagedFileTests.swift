import PushCryptCore
import PushCryptTestSupport
import Testing

@testable import PushCryptKeysets

/// Files with a missing end or a flipped bit, as a disk may damage them. `KeysetLogVectorTests` has deliberate changes.
@Suite("Damaged keysets")
struct DamagedFileTests {
    enum Kind: String, CaseIterable { case plain, encrypted }

    /// A keyset of two lines and three keys.
    private static func file(_ kind: Kind) throws -> (file: [UInt8], logByteCount: Int) {
        let secrets = try kind == .plain ? nil : SealedSample.secrets([secret, SealedSample.passphrase("other")])
        let (log, material) = try SealedSample.keyset(.all[0], secrets)
        let longer = try log.appending(.policy, at: log.state.at, who: "someone", KeysetChanges())
        return (try material.file(longer), longer.bytes.count)
    }

    private static let secret = SealedSample.passphrase()

    private static func open(_ file: [UInt8], _ kind: Kind) throws -> KeysetMaterial {
        try KeysetRows(file).unlocked(kind == .plain ? nil : secret)
    }

    /// Each region: lines of the log, keys and digest, secrets, encrypted keys and mac.
    @Test("A keyset with a flipped bit is refused", arguments: Kind.allCases, 0..<8)
    func flipped(_ kind: Kind, _ part: Int) throws {
        let (file, logByteCount) = try Self.file(kind)
        _ = try Self.open(file, kind)
        for index in stride(from: part, to: file.count, by: LongTests.value(1, short: 24)) {
            var changed = file
            changed[index] ^= 1 << UInt8((index / 8 + part) % 8)
            do {
                _ = try Self.open(changed, kind)
                Issue.record("byte \(index) of \(String(decoding: file, as: UTF8.self))")
            } catch let error as KeysetLogError {
                // Damage isn't taken for a wrong passphrase, except that of salt, check and parameters.
                if index < logByteCount { #expect(![.wrongSecret, .secretNeeded].contains(error.code)) }
            } catch {
                #expect(error is KeystoreError, "\(error)")
            }
        }
    }

    @Test("A keyset that was cut off is refused", arguments: Kind.allCases)
    func cut(_ kind: Kind) throws {
        let file = try Self.file(kind).file
        for count in stride(from: 0, to: file.count, by: LongTests.value(1, short: 5)) {
            let code = KeysetLogError.Code.thrown { try KeysetRows(Array(file[..<count])) }
            #expect(code == .incomplete, "\(count) bytes")
        }
    }

    @Test("A row that is missing, twice there or exchanged is refused", arguments: Kind.allCases)
    func rows(_ kind: Kind) throws {
        let rows = try Self.file(kind).file.split(separator: UInt8(ascii: "\n")).map { Array($0) + [10] }
        for order in [[0, 1], [0, 2], [1, 2], [0, 0, 1, 2], [0, 1, 1, 2], [0, 1, 2, 2], [1, 0, 2], [0, 2, 1]] {
            #expect(throws: KeysetLogError.self) { try Self.open(order.flatMap { rows[$0] }, kind) }
        }
        _ = try Self.open(rows.flatMap(\.self), kind)
    }
}
