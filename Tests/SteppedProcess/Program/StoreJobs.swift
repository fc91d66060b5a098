import CPushCryptSteppedCalls
import PushCryptCore
import PushCryptExtension
import PushCryptFiles
import PushCryptPrimitives

enum StoreJobs {
    /// - Returns: for each message its id and `shown`, or why it isn't shown.
    @Sendable static func claim(_ arguments: [String]) throws -> [String] {
        var configuration = SharedStore.Configuration()
        // The waits use real time, and the process waits for the test at each step.
        configuration.busyTimeout = .seconds(60)
        let store = SharedStore(folder: arguments[0], role: .extension, configuration: configuration)
        let clock = UnixTime(Int64(arguments[1])!)
        return try arguments.dropFirst(2).map { message in
            let parts = message.split(separator: "@").map(String.init)
            let times = parts[1].split(separator: "+")
            let issuedAt = UnixTime(Int64(times[0])!)
            var message = MessageStamp(
                name: parts[0], issuedAt: issuedAt, expiresAt: issuedAt + MessageHeader.windowInSeconds)
            if times.count > 1 {
                message.profile = 2
                message.requestID = "request-\(parts[0])"
                message.effects = MessageEffects(
                    retractedNames: parts.count > 2 ? [parts[2]] : [], badge: .add(Int(times[1])!))
            }
            let isReserved = store.reserve(message, at: clock)
            if let failure = try store.claim(message, isReserved: isReserved, at: clock).refusal {
                return "\(parts[0])=\(failure)"
            }
            var record = DeliveryRecord(claim: message.claim, isShown: true)
            record.message = message
            _ = try store.record(record)
            unsafe pushcrypt_step("shows", parts[0])
            return "\(parts[0])=shown"
        }
    }

    /// - Returns: how often the same job waited for the disk.
    @Sendable static func syncs(_ arguments: [String]) throws -> [String] {
        _ = try claim(arguments)
        return ["\(pushcrypt_sync_count())"]
    }

    @Sendable static func claimUnlocked(_ arguments: [String]) throws -> [String] {
        let (path, id) = (arguments[0], arguments[1])
        let known = (try? FileSystem.readFile(path)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        guard !known.split(separator: "\n").contains(Substring(id)) else { return ["\(id)=replayed"] }
        unsafe pushcrypt_step("shows", id)
        try FileSystem.folder(of: path).append(Array("\(id)\n".utf8), to: FileSystem.name(of: path))
        return ["\(id)=shown"]
    }
}
