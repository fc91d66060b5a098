import PushCryptTestSupport
import SwiftASN1
import Testing

@testable import PushCryptKeystore

@Suite struct WipedCopyTests {
    @Test(
        "Reading a private key keeps no reference to its DER, so that wiping the array wipes the key",
        arguments: ContainedKey.Algorithm.allCases)
    func oneArray(_ algorithm: ContainedKey.Algorithm) throws {
        var der = try ContainedKey.sample(algorithm).written(as: .privateKey, .der)
        let address = unsafe der.withUnsafeBufferPointer { $0.baseAddress }
        try read(der)
        // If a node shared the array, this write would copy it, and the original would stay in memory.
        let addressAfterWriting = unsafe der.withUnsafeMutableBufferPointer { bytes in
            unsafe bytes[0] = 0
            return unsafe UnsafePointer(bytes.baseAddress)
        }
        #expect(unsafe addressAfterWriting == address)
    }

    private func read(_ der: [UInt8]) throws {
        _ = try PrivateKeyInfo.read(SwiftASN1.DER.parse(der))
    }

    @Test("A container that was cut is refused with a reason that contains none of its bytes")
    func noBytesInErrors() throws {
        let container = try ContainedKey.sample(.ed25519).written(as: .privateKey, .der)
        let error = #expect(throws: KeyContainerError.self) { try KeyContainer.read(Array(container.dropLast())) }
        #expect(
            error?.reason == "the DER key container is cut off, has bytes left over or another structure")
    }
}
