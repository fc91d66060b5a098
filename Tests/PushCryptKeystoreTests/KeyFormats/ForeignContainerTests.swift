import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// Containers from the openssl tool and from RFC 8410.
@Suite struct ForeignContainerTests {
    private static let containers = try? ForeignContainers.shared.get()

    @Test("the file of foreign containers contains 24 keys and 29 refused containers") func counts() throws {
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
        let code = try #require(refused.expectedCode)
        #expect(try KeyContainer.refusal(refused.pem, passphrase: passphrase) == code)
    }

    @Test(
        "the DER of an unsupported container is refused with the same code",
        arguments: containers?.refused.filter { $0.code == "unsupportedKey" } ?? [])
    func areRefusedAsDER(_ refused: RefusedContainer) throws {
        let passphrase = try ForeignContainers.shared.get().passphrase
        #expect(try KeyContainer.refusal(derOfPEM(refused.pem), passphrase: passphrase) == .unsupportedKey)
    }
}
