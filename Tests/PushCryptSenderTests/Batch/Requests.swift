import PushCryptPrimitives
import PushCryptSender

/// Numbered requests to one recipient. They count how many were read.
struct Requests: AsyncSequence, Sendable {
    typealias Element = SealRequest<Int>

    private let count: Int
    private let recipient: Recipient
    private let payload: @Sendable (Int) -> String
    private let read = Locked(0)

    init(_ channel: Channel, count: Int, payload: @escaping @Sendable (Int) -> String = Requests.payload) throws {
        recipient = try channel.recipient()
        self.count = count
        self.payload = payload
    }

    static func payload(_ number: Int) -> String { #"{"aps":{"alert":"x"},"n":\#(number)}"# }

    static func request(_ channel: Channel, _ number: Int) throws -> SealRequest<Int> {
        SealRequest(
            Array(payload(number).utf8), to: try channel.recipient(), placeholder: Channel.placeholder, context: number)
    }

    var readCount: Int { read.withLock { $0 } }

    func makeAsyncIterator() -> Iterator { Iterator(requests: self) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let requests: Requests

        mutating func next() async -> SealRequest<Int>? { requests.next() }
    }

    /// The same requests as a sequence that isn't asynchronous.
    struct Listed: Sequence, IteratorProtocol, Sendable {
        fileprivate let requests: Requests

        mutating func next() -> SealRequest<Int>? { requests.next() }
    }

    var listed: Listed { Listed(requests: self) }

    private func next() -> SealRequest<Int>? {
        let number = read.withLock { count in
            defer { count += 1 }
            return count
        }
        guard number < count else { return nil }
        return SealRequest(
            Array(payload(number).utf8), to: recipient, placeholder: Channel.placeholder, context: number)
    }
}
