import Foundation
import PushCryptExtension
import PushCryptFiles
import PushCryptSQLite

/// `store-claim FOLDER COUNT`: claims the ids 0, 1, … and prints the granted ones.
enum StoreClaim {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 2, let count = Int(arguments[1]) else { throw ExtensionProcess.Misuse() }
        let store = SharedStore(folder: arguments[0], role: .extension, configuration: .patient)
        let time = UnixTime(1_800_000_000)
        for number in 0..<count {
            let message = MessageStamp(name: "\(number)", issuedAt: time, expiresAt: time + 86_400)
            if try store.claimInFile(message, at: time.seconds).refusal == nil { say("\(number)") }
        }
    }
}

extension SharedStore.Configuration {
    /// A configuration for many processes on a slow disk.
    static var patient: Self {
        var configuration = Self()
        configuration.busyTimeout = .seconds(60)
        return configuration
    }
}

/// `store-hammer FOLDER NAME`: claims messages, marks them as seen, and reports and spools receipts until it is killed.
///
/// It prints `claimed ID` after each granted claim, and `seen ID` after each message that the store marked as seen.
enum StoreHammer {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 2 else { throw ExtensionProcess.Misuse() }
        let store = SharedStore(folder: arguments[0], role: .extension, configuration: .patient)
        for number in 0... {
            let id = "\(arguments[1])-\(number)"
            let time = UnixTime(1_800_000_000 + Int64(number))
            let message = MessageStamp(name: id, issuedAt: time, expiresAt: time + 86_400)
            if let failure = try store.claimInFile(message, at: time.seconds).refusal { throw failure }
            say("claimed \(id)")
            if number % 3 != 0 {
                _ = try store.recordInFile(DeliveryRecord(claim: message.claim, isShown: true))
                say("seen \(id)")
            }
            var report = DeliveryReport(
                failure: number % 5 == 0 ? .undecryptable : nil, isRestored: number % 5 != 0, time: time, kid: nil,
                messageID: id, pushID: nil, isSelfTest: false, stageFailures: [])
            report.receipt = try Receipt(report)
            _ = try store.recordInFile(DeliveryRecord(report: report))
        }
    }
}

/// Prints a line without a buffer, so that a kill after this call doesn't lose it.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

/// `store-hold FOLDER folder|database`: locks it, prints `held`, and keeps the lock until it is killed.
enum StoreHold {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 2 else { throw ExtensionProcess.Misuse() }
        switch arguments[1] {
        case "folder":
            try SharedFolder(arguments[0]).withLock(.exclusive, until: .now) { wait() }
        case "database":
            let database = try Database(path: arguments[0] + "/pushcrypt.sqlite", busyTimeout: .zero)
            try database.transaction { wait() }
        default: throw ExtensionProcess.Misuse()
        }
    }

    private static func wait() {
        say("held")
        while true { pause() }
    }
}

/// `store-show FOLDER ID…`: claims each id as a session does, marks a granted one as seen and stores its receipt, and prints
/// `true` or `false`. For `release:ID` it releases the claim.
enum StoreShow {
    static func run(_ arguments: [String]) throws {
        let store = SharedStore(folder: arguments[0], role: .extension)
        let time = UnixTime(1_800_000_000)
        for argument in arguments.dropFirst() {
            let (releases, id) = (argument.hasPrefix("release:"), argument.replacing("release:", with: ""))
            let message = MessageStamp(name: id, issuedAt: time, expiresAt: time + 86_400)
            let isReserved = store.reserve(message, at: time)
            let isGranted = try store.claim(message, isReserved: isReserved, at: time).refusal == nil
            if isGranted {
                var report = DeliveryReport(
                    failure: nil, isRestored: !releases, time: time, kid: nil, messageID: id, pushID: nil,
                    isSelfTest: false, stageFailures: [])
                report.receipt = try Receipt(report)
                _ = try store.record(DeliveryRecord(claim: message.claim, isShown: !releases, report: report))
            }
            say("\(isGranted)")
        }
    }
}

/// `store-try FOLDER ID [SECONDS]`: claims the id, marks a granted one as seen, and counts it; prints `true`,
/// `false`, or the error. The message was issued SECONDS after the fixed time; the default is 0.
enum StoreTry {
    static func run(_ arguments: [String]) {
        let store = SharedStore(folder: arguments[0], role: .extension)
        let time = UnixTime(1_800_000_000)
        do {
            let issuedAt = time + (arguments.count > 2 ? Int64(arguments[2]) ?? 0 : 0)
            let message = MessageStamp(name: arguments[1], issuedAt: issuedAt, expiresAt: issuedAt + 86_400)
            let isGranted = try store.claimInFile(message, at: time.seconds).refusal == nil
            if isGranted { _ = try store.recordInFile(DeliveryRecord(claim: message.claim, isShown: true)) }
            say("\(isGranted)")
        } catch {
            say("\(error)")
        }
        let report = DeliveryReport(
            failure: nil, isRestored: true, time: time, kid: nil, messageID: arguments[1], pushID: nil,
            isSelfTest: false, stageFailures: [])
        _ = try? store.record(DeliveryRecord(report: report))
    }
}
