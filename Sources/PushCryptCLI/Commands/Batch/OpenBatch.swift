import PushCryptCore
import PushCryptExtension

extension Open {
    /// `open --batch`
    func openBatch() throws {
        let keyset = try KeySource(keys, demo).openingKeyset(device: nil)
        let senders = try trust.map { path in try KeySource(path, demo, allowsPublic: true).trustedSenders() }
        let plan = OpenWorker.Plan(
            topic: try Topic(topic).description, keyset: keyset, senders: senders, time: timeOptions.givenTime)
        var run = try BatchRun(batch, participle: "opened")
        try run.takeAllLines { try OpenWorker(plan) }
    }
}
