import Dispatch
import Glibc
import PushCryptCore
import PushCryptExtension
import PushCryptFiles
import PushCryptPrimitives

/// The resident memory of this process by /proc, in KiB: the growth of its maximum (`VmHWM`), and the growth of what isn't
/// from files (`RssAnon`), from before the first push until the end. The difference is mainly code of the system's libraries.
struct Memory {
    struct Unknown: Error {}

    private let (resident, anonymous): (Int, Int)

    static func printPeak(of deliveries: Deliveries, count: Int) throws {
        let idle = try Memory()
        for index in 0..<count { _ = try deliveries.deliver(at: index) }
        try idle.printGrowth()
    }

    static func printPeakOfFilm(in place: Place, _ variant: Variant, port: UInt16) throws {
        var configuration = try place.configuration(variant)
        configuration.attachments = AttachmentStage(
            configuration: .init(folder: "\(place.folder)/attachments"), transport: LoopbackTransport(port: port))
        let payload = try place.bytes("film.json")
        let (isOver, count) = (DispatchSemaphore(value: 0), Locked(0))
        let idle = try Memory()
        DeliverySession(payload: payload, requestID: "film", configuration: configuration) { delivery in
            count.withLock { $0 = delivery.content.attachments.count }
            isOver.signal()
        }.start()
        isOver.wait()
        try idle.printGrowth()
        guard count.withLock({ $0 }) == 1 else { throw NotRestored(index: 0) }
    }

    /// Sets the maximum back to the present size.
    private init() throws {
        let file = open("/proc/self/clear_refs", O_WRONLY)
        defer { close(file) }
        guard write(file, "5", 1) == 1 else { throw Unknown() }
        (resident, anonymous) = (try Self.line("VmRSS:"), try Self.line("RssAnon:"))
    }

    private func printGrowth() throws {
        print(try Self.line("VmHWM:") - resident, try Self.line("RssAnon:") - anonymous)
    }

    private static func line(_ name: String) throws -> Int {
        let status = String(decoding: try FileSystem.readFile("/proc/self/status"), as: UTF8.self)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let number = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap({ Int($0) })
        else { throw Unknown() }
        return number
    }
}

/// Fetches every address from a server on loopback, by HTTP/1.0 on a socket. The memory of a network library isn't the
/// package's, and differs between systems.
private struct LoopbackTransport: HTTPTransport {
    let port: UInt16

    func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var server = sockaddr_in()
        server.sin_family = sa_family_t(AF_INET)
        server.sin_port = port.bigEndian
        server.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &server) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        let request = Array("GET /film HTTP/1.0\r\n\r\n".utf8)
        guard result == 0, write(socket, request, request.count) == request.count else {
            throw TransferError(.network, "no server")
        }
        var head = [UInt8]()
        while head.suffix(4) != [13, 10, 13, 10] {
            var byte: UInt8 = 0
            guard read(socket, &byte, 1) == 1 else { throw TransferError(.network, "no response") }
            head.append(byte)
        }
        while true {
            let piece = [UInt8](unsafeUninitializedCapacity: 16_384) {
                $1 = max(read(socket, $0.baseAddress, 16_384), 0)
            }
            guard !piece.isEmpty else { return }
            try receive(piece)
        }
    }

    func post(_ post: HTTPPost) async throws { throw TransferError(.network, "it only fetches") }
}
