#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How much of this process lies in memory, in KiB.
enum ResidentMemory {
    struct Unknown: Error {}

    static func now() throws -> Int { try line("VmRSS:") }

    /// The most at once since the process began.
    static func peak() throws -> Int { try line("VmHWM:") }

    private static func line(_ name: String) throws -> Int {
        let status = String(decoding: try Data(contentsOf: URL(fileURLWithPath: "/proc/self/status")), as: UTF8.self)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let number = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap({ Int($0) })
        else { throw Unknown() }
        return number
    }
}
