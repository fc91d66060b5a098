import Dispatch
import Foundation
import PushCryptLives

/// Searches lives on all cores. Exit status 1 if one breaks.
@main
enum Main {
    static func main() {
        let numbers = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
        guard [1, 2].contains(numbers.count), numbers.count == CommandLine.arguments.count - 1, numbers[0] > 0 else {
            FileHandle.standardError.write(Data("usage: PushCryptLifeSearch LIVES [FIRST]\n".utf8))
            exit(64)
        }
        let (count, start, size) = (numbers[0], numbers.count == 2 ? numbers[1] : 0, UInt64(500))
        DispatchQueue.concurrentPerform(iterations: Int((count + size - 1) / size)) { part in
            let first = start + UInt64(part) * size
            if let broken = Life.report(first..<min(first + size, start + count)) {
                print(broken)
                exit(1)
            }
        }
        print("\(count) lives: none broke")
    }
}
