import PushCryptExtension

/// `store-claim FOLDER COUNT`: claims the ids 0, 1, … and says which it was granted.
enum StoreClaim {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 2, let count = Int(arguments[1]) else { throw ExtensionProcess.Misuse() }
        let store = SharedStore(folder: arguments[0], role: .extension, configuration: .patient)
        let time = UnixTime(1_800_000_000)
        for number in 0..<count {
            let message = MessageStamp(id: "\(number)", issuedAt: time, expiresAt: time + 86_400)
            if case .success = try store.claimInFile(message, at: time.seconds) { say("\(number)") }
        }
    }
}

extension SharedStore.Configuration {
    /// For a crowd on a slow disk.
    static var patient: Self {
        var configuration = Self()
        configuration.busyTimeout = .seconds(60)
        return configuration
    }
}
