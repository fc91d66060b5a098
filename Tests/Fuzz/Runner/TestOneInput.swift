import PushCryptFuzzTargets

// libFuzzer contains `main`. A target of several files, none of them main.swift, has none of its own.

/// libFuzzer calls this for each input. A violated property stops the process, and libFuzzer keeps the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    do {
        try target.run(input)
    } catch {
        fatalError("\(target.name): \(error)")
    }
    return 0
}
