import PushCryptCore
import PushCryptExtension

extension Open {
    /// `open --batch`
    func openBatch() throws {
        let keyset = try KeySource(keys, demo).openingKeyset(device: nil)
        let plan = OpenWorker.Plan(
            topic: try Topic(topic).description, keyset: keyset, senders: try SenderTrust(option: trust, demo),
            time: timeOptions.givenTime)
        var run = try BatchRun<OpenWorker>(batch)
        try run.takeAllLines { try OpenWorker(plan) }
    }
}
