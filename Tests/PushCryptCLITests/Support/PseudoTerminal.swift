import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// A terminal for a child's stdout. The test reads its other end.
final class PseudoTerminal: @unchecked Sendable {
    // Unchecked: only the reading thread uses `bytes` until it signals `isDone`.
    private let main: Int32
    private let end = "\u{4}end\u{4}"
    private var bytes = [UInt8]()
    private let isDone = DispatchSemaphore(value: 0)
    /// The path of the device that a child opens.
    private let path: String

    struct Failure: Error {
        let call: String
        let number: Int32
    }

    init(columns: UInt16 = 100) throws {
        main = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
        guard main >= 0 else { throw Failure(call: "open", number: errno) }
        path = try Self.otherEnd(of: main)
        var size = winsize(ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard unsafe ioctl(main, UInt(TIOCSWINSZ), &size) == 0 else { throw Failure(call: "ioctl", number: errno) }
    }

    deinit {
        close(main)
    }

    /// Replaces grantpt(3), unlockpt(3) and ptsname(3), which Swift's Glibc module lacks.
    private static func otherEnd(of main: Int32) throws -> String {
        #if canImport(Darwin)
        guard grantpt(main) == 0, unlockpt(main) == 0, let name = unsafe ptsname(main) else {
            throw Failure(call: "ptsname", number: errno)
        }
        return unsafe String(cString: name)
        #else
        let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
        var (lock, number): (Int32, UInt32) = (0, 0)
        guard unsafe ioctl(main, setLock, &lock) == 0, unsafe ioctl(main, getNumber, &number) == 0 else {
            throw Failure(call: "ioctl", number: errno)
        }
        return "/dev/pts/\(number)"
        #endif
    }

    /// Runs a script of /bin/sh, which finds the binary in `$PUSHCRYPT`, and returns what the terminal shows.
    func run(_ script: String, in place: Workplace) throws -> String {
        Thread.detachNewThread { [self] in read() }
        let output = try place.shell("{ \(script); } >\(path); printf '\\004end\\004' >\(path)")
        isDone.wait()
        guard output.isSuccess else { throw CocoaError(.executableLoad, userInfo: ["output": "\(output)"]) }
        return String(decoding: bytes, as: UTF8.self).replacing(end, with: "").replacing("\r\n", with: "\n")
    }

    /// Reads until the end marker of the script, because systems report the end of a terminal differently.
    private func read() {
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while !bytes.suffix(end.utf8.count).elementsEqual(end.utf8) {
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe readBytes(main, buffer.baseAddress!, buffer.count)
            }
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        isDone.signal()
    }
}

/// read(2), which the method hides.
private func readBytes(_ descriptor: Int32, _ start: UnsafeMutableRawPointer, _ count: Int) -> Int {
    unsafe read(descriptor, start, count)
}
