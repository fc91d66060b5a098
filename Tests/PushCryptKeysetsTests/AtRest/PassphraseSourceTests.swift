import Foundation
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptKeysets

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

@Suite("Passphrase sources")
struct PassphraseSourceTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/pass" }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func write(_ text: String, mode: Int = 0o600) throws {
        try Data(text.utf8).write(to: folder.file("pass"))
        try folder.setMode(mode, of: "pass")
    }

    /// Texts with different ends, and the passphrases in them.
    static let texts = [
        ("secret", "secret"), ("secret\n", "secret"), ("secret\r\n", "secret"), ("secret\n\n", "secret\n"),
        ("secret\r", "secret\r"), (" two words ", " two words "), ("a\nb\n", "a\nb"), ("\nsecret", "\nsecret"),
        ("\u{feff}é\n", "\u{feff}é"),
        (String(repeating: "x", count: 1_024) + "\r\n", String(repeating: "x", count: 1_024)),
    ]

    @Test("a passphrase from a file loses one newline at its end", arguments: texts)
    func file(_ text: String, _ passphrase: String) throws {
        try write(text)
        #expect(try KeysetSecret.passphraseFile(path).hasSamePassphrase(as: SealedSample.passphrase(passphrase)))
    }

    @Test("a passphrase from a descriptor loses one newline at its end", arguments: texts)
    func descriptor(_ text: String, _ passphrase: String) throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try pipe.fileHandleForWriting.close()
        let secret = try KeysetSecret.passphraseDescriptor(pipe.fileHandleForReading.fileDescriptor)
        #expect(secret.hasSamePassphrase(as: SealedSample.passphrase(passphrase)))
    }

    @Test("a passphrase from the environment is the variable's value, and a missing variable is refused")
    func environment() throws {
        let path = try #require(ProcessInfo.processInfo.environment["PATH"])
        let secret = try KeysetSecret.environment("PATH")
        #expect(secret.hasSamePassphrase(as: SealedSample.passphrase(path)))
        let name = "PUSHCRYPT_TESTS_SET_NO_SUCH_VARIABLE"
        let error = #expect(throws: KeystoreError.self) { try KeysetSecret.environment(name) }
        #expect(error?.code == .secretNeeded && error?.reason.contains(name) == true)
    }

    @Test("a passphrase file without a passphrase is refused", arguments: ["", "\n", "\r\n"])
    func empty(_ text: String) throws {
        try write(text)
        #expect(KeystoreError.Code.thrown { try KeysetSecret.passphraseFile(path) } == .secretNeeded)
    }

    @Test("a passphrase of more than 1,024 bytes is refused", arguments: [1_025, 1_026, 1_027, 1_028, 100_000])
    func long(_ count: Int) throws {
        try write(String(repeating: "x", count: count))
        #expect(KeystoreError.Code.thrown { try KeysetSecret.passphraseFile(path) } == .secretNeeded)
    }

    @Test("reading a descriptor stops at its end or at the limit")
    func endless() throws {
        let zero = unsafe open("/dev/zero", O_RDONLY | O_CLOEXEC)
        defer { close(zero) }
        #expect(KeystoreError.Code.thrown { try KeysetSecret.passphraseDescriptor(zero) } == .secretNeeded)
    }

    @Test("a closed descriptor, or one open only for writing, is refused")
    func closed() throws {
        #expect(KeystoreError.Code.thrown { try KeysetSecret.passphraseDescriptor(-1) } == .inputOutput)
        let null = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(null) }
        #expect(KeystoreError.Code.thrown { try KeysetSecret.passphraseDescriptor(null) } == .inputOutput)
    }

    @Test("a descriptor of a terminal, which would show the passphrase, is refused")
    func terminal() throws {
        let terminal = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(isatty(terminal) == 1)
        defer { close(terminal) }
        let error = #expect(throws: KeystoreError.self) { try KeysetSecret.passphraseDescriptor(terminal) }
        #expect(error?.reason.contains("terminal") == true)
    }

    @Test(
        "a passphrase file that other users can open is refused", arguments: [0o644, 0o604, 0o660, 0o620, 0o610, 0o601])
    func loose(_ mode: Int) throws {
        try write("secret", mode: mode)
        let error = #expect(throws: KeystoreError.self) { try KeysetSecret.passphraseFile(path) }
        #expect(error?.code == .looseMode)
        #expect(error?.reason.contains("chmod 600 \(path)") == true, "\(error?.reason ?? "")")
    }

    /// Container platforms mount secrets for a group, as files of root.
    @Test("a passphrase file that its group can read is accepted only if it is root's")
    func group() throws {
        try write("secret", mode: 0o440)
        let isRoot = geteuid() == 0
        #expect(KeystoreError.Code.thrown { try KeysetSecret.passphraseFile(path) } == (isRoot ? nil : .looseMode))
    }

    @Test("a link to a passphrase file is followed and its target is checked")
    func link() throws {
        try write("secret")
        let link = folder.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "pass")
        #expect(try KeysetSecret.passphraseFile(link).hasSamePassphrase(as: SealedSample.passphrase("secret")))
        try folder.setMode(0o644, of: "pass")
        #expect(KeystoreError.Code.thrown { try KeysetSecret.passphraseFile(link) } == .looseMode)
    }

    @Test("a pipe, folder or device in place of a passphrase file is refused without waiting")
    func notAFile() throws {
        let pipe = folder.path + "/pipe"
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        for path in [pipe, folder.path, "/dev/zero"] {
            #expect(KeystoreError.Code.thrown { try KeysetSecret.passphraseFile(path) } == .notAKeyset, "\(path)")
        }
        #expect(KeystoreError.Code.thrown { try KeysetSecret.passphraseFile(folder.path + "/none") } == .notFound)
    }
}
