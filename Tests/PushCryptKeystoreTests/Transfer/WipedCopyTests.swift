import PushCryptTestSupport
import SwiftASN1
import Testing

@testable import PushCryptKeystore

@Suite struct WipedCopyTests {
    @Test(
        "After a private key was read, its DER is still in one array, so that wiping the array wipes the key",
        arguments: ContainedKey.Algorithm.allCases)
    func oneArray(_ algorithm: ContainedKey.Algorithm) throws {
        var der = try ContainedKey.sample(algorithm).written(as: .privateKey, .der)
        let address = unsafe der.withUnsafeBufferPointer { $0.baseAddress }
        try read(der)
        // Were it shared with a node, writing to the array would copy it and leave the original as it is.
        let addressAfterWriting = unsafe der.withUnsafeMutableBufferPointer { bytes in
            unsafe bytes[0] = 0
            return unsafe UnsafePointer(bytes.baseAddress)
        }
        #expect(unsafe addressAfterWriting == address)
    }

    private func read(_ der: [UInt8]) throws {
        _ = try PrivateKeyInfo.read(SwiftASN1.DER.parse(der))
    }

    @Test("A container with a changed length is refused with a text that repeats none of its bytes")
    func noBytesInErrors() throws {
        let container = try ContainedKey.sample(.ed25519).written(as: .privateKey, .der)
        let error = #expect(throws: KeyContainerError.self) { try KeyContainer.read(Array(container.dropLast())) }
        #expect(
            error?.reason == "the DER key container is cut off, has bytes left over or another structure")
    }
}
