import Foundation
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct KeyContainerRoundTripTests {
    private static let encodings: [KeyContainer.Encoding] = [.pem, .der]

    @Test("both halves of a key are read back from a container", arguments: ContainedKey.Algorithm.allCases, encodings)
    func halves(_ algorithm: ContainedKey.Algorithm, _ encoding: KeyContainer.Encoding) throws {
        let key = try ContainedKey.sample(algorithm)
        let publicContainer = try key.written(as: .publicKey, encoding)
        #expect(try KeyContainer.read(publicContainer).isSame(as: key.publicHalf))
        #expect(try key.publicHalf.written(as: .publicKey, encoding) == publicContainer)
        let container = try key.written(as: .privateKey, encoding)
        #expect(try KeyContainer.read(container).isSame(as: key))
        // A passphrase for an unencrypted container is ignored.
        #expect(try KeyContainer.read(container, passphrase: "unused").isSame(as: key))
    }

    @Test("an encrypted key is read with its passphrase only", arguments: ContainedKey.Algorithm.allCases, encodings)
    func encryptedPrivateKey(_ algorithm: ContainedKey.Algorithm, _ encoding: KeyContainer.Encoding) throws {
        let key = try ContainedKey.sample(algorithm)
        let passphrase = "Grüße, \0 and\nmore"
        let container = try key.written(as: .encryptedPrivateKey(passphrase: SecretBytes(text: passphrase)), encoding)
        #expect(try KeyContainer.read(container, passphrase: passphrase).isSame(as: key))
        #expect(try KeyContainer.refusal(container) == .passphraseNeeded)
        #expect(try KeyContainer.refusal(container, passphrase: passphrase + "!") == .wrongPassphrase)
    }

    @Test func `an empty passphrase encrypts and decrypts a private key`() throws {
        let key = try ContainedKey.sample(.ed25519)
        let container = try key.written(as: .encryptedPrivateKey(passphrase: SecretBytes(text: "")), .der)
        #expect(try KeyContainer.read(container, passphrase: "").isSame(as: key))
        #expect(try KeyContainer.refusal(container) == .passphraseNeeded)
        #expect(try KeyContainer.refusal(container, passphrase: " ") == .wrongPassphrase)
    }

    @Test func `two encryptions of one key have different salts and IVs`() throws {
        let key = try ContainedKey.sample(.x25519)
        let form = KeyContainer.Form.encryptedPrivateKey(passphrase: SecretBytes(text: "passphrase"))
        let (first, second) = (try key.written(as: form, .der), try key.written(as: form, .der))
        #expect(first.count == second.count)
        let equalBytes = zip(first, second).filter { $0 == $1 }.count
        // Salt, IV and ciphertext are 96 bytes; of random bytes one in 256 is equal by chance.
        #expect(first.count - equalBytes > 80)
    }

    @Test func `a public key is refused in both private forms`() throws {
        let key = try ContainedKey.sample(.p256).publicHalf
        let forms = [KeyContainer.Form.privateKey, .encryptedPrivateKey(passphrase: SecretBytes(text: "passphrase"))]
        for form in forms {
            let error = #expect(throws: KeyContainerError.self) { try key.written(as: form, .pem) }
            #expect(error?.code == .privateKeyMissing)
        }
    }

    @Test func `PEM has lines of 64 characters between its boundaries`() throws {
        let container = try ContainedKey.sample(.p256).written(as: .privateKey, .pem)
        let lines = String(decoding: container, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.map(\.count) == [27, 64, 64, 56, 25, 0])
        #expect([lines[0], lines[4]] == ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"])
        let der = try ContainedKey.sample(.p256).written(as: .privateKey, .der)
        #expect(Data(base64Encoded: lines[1...3].joined()).map(Array.init) == der)
    }
}

/// Containers from the openssl tool and from RFC 8410.
@Suite struct ForeignContainerTests {
    private static let containers = try? ForeignContainers.shared.get()

    @Test func `the file of foreign containers contains 24 keys and 29 refused containers`() throws {
        let containers = try ForeignContainers.shared.get()
        #expect(containers.keys.count == 24)
        #expect(containers.refused.count == 29)
    }

    @Test("a container of another tool is read as its key", arguments: containers?.keys ?? [])
    func areRead(_ foreign: ForeignKey) throws {
        let passphrase = foreign.isEncrypted ? try ForeignContainers.shared.get().passphrase : nil
        for container in [Array(foreign.pem.utf8), try derOfPEM(foreign.pem)] {
            let key = try KeyContainer.read(container, passphrase: passphrase)
            #expect("\(key.algorithm)" == foreign.algorithm)
            #expect(key.publicKey == foreign.publicKey.bytes)
            #expect(key.privateKey?.revealed == foreign.privateKey?.bytes)
        }
    }

    @Test("an unsupported container is refused with the code that the file names", arguments: containers?.refused ?? [])
    func areRefused(_ refused: RefusedContainer) throws {
        let passphrase = try ForeignContainers.shared.get().passphrase
        #expect(try KeyContainer.refusal(refused.pem, passphrase: passphrase) == refused.expectedCode)
        guard refused.expectedCode == .unsupportedKey else { return }
        #expect(try KeyContainer.refusal(derOfPEM(refused.pem), passphrase: passphrase) == .unsupportedKey)
    }
}
