import Foundation
import PushCryptKeystore
import PushCryptTestSupport
import Testing

@Suite struct PEMTests {
    private static let key = Result { try ContainedKey.sample(.p256) }
    private static let pem = Result { String(decoding: try key.get().written(as: .privateKey, .pem), as: UTF8.self) }
    private static let publicPEM = Result {
        String(decoding: try key.get().written(as: .publicKey, .pem), as: UTF8.self)
    }

    static let harmless: [(String, @Sendable (String) -> String)] = [
        ("as it is", { $0 }),
        ("CRLF", { $0.replacingOccurrences(of: "\n", with: "\r\n") }),
        ("no newline at the end", { String($0.dropLast()) }),
        ("white space at the ends of lines", { $0.replacingOccurrences(of: "\n", with: " \t\n") }),
        ("white space at the starts of lines of data", { $0.replacingOccurrences(of: "\nM", with: "\n \tM") }),
        ("empty lines", { $0.replacingOccurrences(of: "\n", with: "\n\n") }),
        ("one long line", { rewrapped($0, width: 10_000) }),
        ("lines of 76", { rewrapped($0, width: 76) }),
        ("lines of one", { rewrapped($0, width: 1) }),
        ("text before", { "Bag Attributes\n    friendlyName: push\nKey: 0x30\n" + $0 }),
        ("hyphens before", { "-----\n-----BEGIN\n-----BEGIN X\n-----END X-----\n ----- x\n" + $0 }),
        ("white space after", { $0 + "\n \t\r\n\n" }),
    ]

    @Test("PEM with unusual text around and in it is read", arguments: harmless)
    func isRead(_ name: String, _ change: @Sendable (String) -> String) throws {
        #expect(try KeyContainer.read(change(Self.pem.get())).isSame(as: Self.key.get()))
        #expect(try KeyContainer.read(change(Self.publicPEM.get())).isSame(as: Self.key.get().publicHalf))
    }

    static let harmful: [(String, @Sendable (String) -> String, KeyContainerError.Code)] = [
        ("text after", { $0 + "x" }, .malformed),
        ("a zero after", { $0 + "\0" }, .malformed),
        ("text after END", { $0.dropLast() + " x\n" }, .malformed),
        ("a second block", { $0 + $0 }, .malformed),
        ("a second block of another name", { $0 + block("CERTIFICATE", "AAAA") }, .malformed),
        ("no END", { String($0.prefix(100)) }, .malformed),
        ("another END", { $0.replacingOccurrences(of: "END ", with: "END X ") }, .malformed),
        ("a BEGIN", { $0.replacingOccurrences(of: "\n-----END", with: "\n-----BEGIN X-----\n-----END") }, .malformed),
        ("no hyphens after BEGIN", { $0.replacingOccurrences(of: "KEY-----\nM", with: "KEY\nM") }, .notAKeyContainer),
        ("a space before BEGIN", { " " + $0 }, .notAKeyContainer),
        ("lines run together", { $0.replacingOccurrences(of: "\n", with: "") }, .notAKeyContainer),
        ("CR for line breaks", { $0.replacingOccurrences(of: "\n", with: "\r") }, .notAKeyContainer),
        ("lower case", { $0.lowercased() }, .notAKeyContainer),
        ("no data", { rewrapped($0, width: 64) { _ in "" } }, .malformed),
        ("a character less", { rewrapped($0, width: 64) { String($0.dropFirst()) } }, .malformed),
        ("four characters less", { rewrapped($0, width: 64) { String($0.dropLast(4)) } }, .malformed),
        ("not of the alphabet", { rewrapped($0, width: 64) { "!" + $0.dropFirst() } }, .malformed),
        ("not ASCII", { rewrapped($0, width: 64) { "é" + $0.dropFirst(2) } }, .malformed),
        ("base64url", { rewrapped($0, width: 64) { "-_" + $0.dropFirst(2) } }, .malformed),
        ("padding in the middle", { rewrapped($0, width: 64) { $0.prefix(40) + "=" + $0.dropFirst(41) } }, .malformed),
        ("padding more", { rewrapped($0, width: 64) { $0 + "====" } }, .malformed),
        ("four zeros more", { rewrapped($0, width: 64) { $0 + "AAAA" } }, .malformed),
        ("a comment", { $0.replacingOccurrences(of: "KEY-----\nM", with: "KEY-----\nComment: x\n\nM") }, .malformed),
    ]

    @Test("malformed PEM is refused with the code of its flaw", arguments: harmful)
    func isRefused(
        _ name: String, _ change: @Sendable (String) -> String, _ code: KeyContainerError.Code
    ) throws {
        #expect(try KeyContainer.refusal(change(Self.pem.get())) == code)
        #expect(try KeyContainer.refusal(change(Self.publicPEM.get())) == code)
    }

    @Test func `the reason distinguishes a second PEM block from other text after the block`() throws {
        let pem = try Self.pem.get()
        for (text, flaw) in [(pem + pem, "more than one PEM block"), (pem + "x", "text after the PEM block")] {
            let error = #expect(throws: KeyContainerError.self) { try KeyContainer.read(text) }
            #expect(error?.reason.contains(flaw) == true)
        }
    }

    /// The last character of the base64 of 91 bytes has four bits that belong to no byte.
    @Test func `base64 whose last character has unused bits that aren't zero is refused`() throws {
        let pem = String(decoding: try Self.key.get().written(as: .publicKey, .pem), as: UTF8.self)
        let changed = Self.rewrapped(pem, width: 64) { data in
            let last = data.dropLast(2).last ?? "A"
            let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
            let index = alphabet.firstIndex(of: last) ?? 0
            return data.dropLast(3) + String(alphabet[index + 1]) + "=="
        }
        #expect(pem.hasSuffix("==\n-----END PUBLIC KEY-----\n") && changed != pem)
        #expect(try KeyContainer.refusal(changed) == .malformed)
    }

    static let names: [(String, KeyContainerError.Code?, KeyContainerError.Code?)] = [
        ("PRIVATE KEY", nil, .malformed),
        ("PUBLIC KEY", .malformed, nil),
        ("EC PRIVATE KEY", .malformed, .malformed),
        ("ENCRYPTED PRIVATE KEY", .malformed, .malformed),
        ("RSA PRIVATE KEY", .unsupportedKey, .unsupportedKey),
        ("OPENSSH PRIVATE KEY", .unsupportedKey, .unsupportedKey),
        ("RSA PUBLIC KEY", .unsupportedKey, .unsupportedKey),
        ("CERTIFICATE", .notAKeyContainer, .notAKeyContainer),
        ("EC PARAMETERS", .notAKeyContainer, .notAKeyContainer),
        ("", .notAKeyContainer, .notAKeyContainer),
    ]

    @Test("a PEM block is read as the kind that its name says, and data of another kind refused", arguments: names)
    func name(_ name: String, _ privateCode: KeyContainerError.Code?, _ publicCode: KeyContainerError.Code?) throws {
        for (pem, code) in [(try Self.pem.get(), privateCode), (try Self.publicPEM.get(), publicCode)] {
            let named = pem.replacing(/(BEGIN|END) [A-Z ]*-----/) { "\($0.output.1) \(name)-----" }
            #expect(try KeyContainer.refusal(named) == code)
        }
    }

    private static func block(_ name: String, _ data: String) -> String {
        "-----BEGIN \(name)-----\n\(data)\n-----END \(name)-----\n"
    }

    /// The block with its data changed and in lines of another width.
    private static func rewrapped(_ pem: String, width: Int, _ change: (String) -> String = { $0 }) -> String {
        let lines = pem.split(separator: "\n")
        var rest = Substring(change(lines.dropFirst().dropLast().joined()))
        var wrapped = [Substring]()
        while !rest.isEmpty {
            wrapped.append(rest.prefix(width))
            rest = rest.dropFirst(width)
        }
        return ([lines[0]] + wrapped + [lines[lines.count - 1]]).joined(separator: "\n") + "\n"
    }
}
