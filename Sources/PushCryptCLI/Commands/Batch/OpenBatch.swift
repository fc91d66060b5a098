import PushCryptCore
import PushCryptExtension

extension Open {
    /// `open --batch`
    func openBatch() throws {
        let keyset = try KeySource(keys, keyAccess).openingKeyset(device: nil)
        let plan = OpenWorker.Plan(
            topic: try Topic(topic).description, keyset: keyset, senders: try SenderTrust(option: trust, keyAccess),
            time: timeOptions.givenTime)
        var run = try BatchRun<OpenWorker>(batch)
        try run.takeAllLines { try OpenWorker(plan) }
    }
}
