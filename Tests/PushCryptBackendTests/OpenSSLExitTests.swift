import Foundation
import PushCryptOpenSSL
import PushCryptPrimitives
import Testing

@Suite struct OpenSSLExitTests {
    @Test("a process that uses keys in an exit handler ends with status 0")
    func useDuringExit() async {
        await #expect(processExitsWith: .success) {
            // Handlers run in reverse order: OpenSSL's would run before this one.
            atexit {
                do {
                    let backend = OpenSSLBackend()
                    let key = try backend.generateKeyPair(.x25519)
                    _ = try key.sharedSecret(with: backend.generateKeyPair(.x25519).publicKey)
                } catch {
                    _exit(EXIT_FAILURE)
                }
            }
            _ = try OpenSSLBackend().generateKeyPair(.x25519)
            exit(EXIT_SUCCESS)
        }
    }
}
