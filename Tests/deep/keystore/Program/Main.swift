import Dispatch
import Foundation
import PushCryptLives

/// Searches lives on all cores. Exit status 1 if one breaks.
@main
enum Main {
    static func main() {
        guard CommandLine.arguments.count == 2, let count = UInt64(CommandLine.arguments[1]), count > 0 else {
            FileHandle.standardError.write(Data("usage: PushCryptLifeSearch LIVES\n".utf8))
            exit(64)
        }
        let size: UInt64 = 500
        DispatchQueue.concurrentPerform(iterations: Int((count + size - 1) / size)) { part in
            let first = UInt64(part) * size
            if let broken = Life.report(first..<min(first + size, count)) {
                print(broken)
                exit(1)
            }
        }
        print("\(count) lives: none broke")
    }
}
