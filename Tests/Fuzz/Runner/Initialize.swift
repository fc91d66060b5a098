import Foundation
import PushCryptFuzzTargets

/// The target whose name is in the environment variable PUSHCRYPT_FUZZ_TARGET.
let target: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["PUSHCRYPT_FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        let names = FuzzTarget.all.map(\.name).joined(separator: " ")
        FileHandle.standardError.write(Data("PUSHCRYPT_FUZZ_TARGET is none of: \(names)\n".utf8))
        exit(64)
    }
    return target
}()

/// libFuzzer calls this first.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ argumentCount: UnsafeMutableRawPointer, _ arguments: UnsafeMutableRawPointer
) -> CInt {
    _ = target
    return 0
}
