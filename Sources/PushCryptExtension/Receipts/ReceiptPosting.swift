import PushCryptCore
import PushCryptPrimitives

/// Where and how receipts are posted.
public struct ReceiptPosting: Sendable {
    /// The form of a posted receipt.
    public struct Encoding: Hashable, Sendable {
        let contentType: String

        /// A JSON object.
        public static let json = Encoding(contentType: "application/json")
        /// The members of the object as the fields of an HTML form.
        public static let form = Encoding(contentType: "application/x-www-form-urlencoded")
    }

    /// A random wait before a receipt is sent. If the system ends the extension during the wait, the app sends the receipt.
    public struct Delay: Sendable {
        let draw: @Sendable () -> Duration
        /// The simulator replaces it.
        package var sleep: @Sendable (Duration) async throws -> Void

        /// Creates a delay. `draw` returns the duration of one wait. After an error of `sleep` the receipt stays for
        /// ``ReceiptSender/flush(timeLimit:)``.
        public init(
            draw: @escaping @Sendable () -> Duration,
            sleep: @escaping @Sendable (Duration) async throws -> Void = {
                // `Task.sleep` traps beyond 584 years.
                try await Task.sleep(for: min($0, .seconds(Int64(Int32.max))))
            }
        ) {
            self.draw = draw
            self.sleep = sleep
        }

        /// A uniformly distributed wait up to the longest one.
        public static func upTo(_ longest: Duration) -> Delay {
            Delay { max(longest, .zero) * Double.random(in: 0...1) }
        }
    }

    enum Way: Sendable {
        case inProcess(any HTTPTransport)
        case inBackground(any BackgroundTransport)
    }

    let address: String
    let way: Way
    let encoding: Encoding
    let userAgent: String?
    package var delay: Delay?
    let timeLimit: Duration
    /// Ends a post at its time limit; tests replace it.
    package var timer: any DeadlineTimer
    /// Runs a post in the background of a session; the simulator runs it after the notification is shown.
    package var launch: @Sendable (@escaping @Sendable () async -> Void) -> Void = { work in
        Task.detached(priority: .utility, operation: work)
    }

    /// Creates a posting.
    ///
    /// - Parameters:
    ///   - address: the address that receipts are posted to; https, or another address that the transport's policy allows.
    ///   - userAgent: the `User-Agent` header, printable ASCII; nil for the system's own, which names the app, its version
    ///     and that of the system.
    ///   - delay: the wait before a receipt is sent; nil sends it at once.
    ///   - timeLimit: how long posting one receipt may take.
    /// - Throws: `TransferError` with `headerRefused` for another user agent.
    public init(
        to address: String, transport: any HTTPTransport, encoding: Encoding = .json, userAgent: String? = nil,
        delay: Delay? = nil, timeLimit: Duration = .seconds(10), timer: any DeadlineTimer = ThreadTimer()
    ) throws(TransferError) {
        try self.init(address, .inProcess(transport), encoding, userAgent, delay, timeLimit, timer)
    }

    /// Creates a posting that the system completes: for an extension, whose process is suspended soon after each push.
    ///
    /// A receipt stays in the store until the server has accepted it. If the system fails to post it, the app sends it with
    /// ``ReceiptSender``, which needs a posting with an ``HTTPTransport``. Until then the app may send a receipt that the system
    /// is sending too.
    ///
    /// - Throws: `TransferError` with `headerRefused`, see ``init(to:transport:encoding:userAgent:delay:timeLimit:timer:)``.
    public init(
        to address: String, inBackground transport: any BackgroundTransport, encoding: Encoding = .json,
        userAgent: String? = nil
    ) throws(TransferError) {
        try self.init(address, .inBackground(transport), encoding, userAgent, nil, .zero, ThreadTimer())
    }

    private init(
        _ address: String, _ way: Way, _ encoding: Encoding, _ userAgent: String?, _ delay: Delay?,
        _ timeLimit: Duration, _ timer: any DeadlineTimer
    ) throws(TransferError) {
        // A line break would begin another header.
        guard userAgent?.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) != false, userAgent?.isEmpty != true else {
            throw TransferError(.headerRefused, "a user agent consists of one or more characters of printable ASCII")
        }
        self.address = address
        self.way = way
        self.encoding = encoding
        self.userAgent = userAgent
        self.delay = delay
        self.timeLimit = timeLimit
        self.timer = timer
    }

    /// - Parameter receipt: JSON.
    func post(of receipt: [UInt8]) -> HTTPPost {
        HTTPPost(
            encoding == .form ? FormFields.encode(receipt) : receipt, contentType: encoding.contentType,
            userAgent: userAgent, to: address)
    }
}
