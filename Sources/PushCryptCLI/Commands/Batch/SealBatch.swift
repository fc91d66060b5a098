import PushCryptCore
import PushCryptRecipients
import PushCryptSender

extension Seal {
    /// `seal --batch`
    func sealBatch() throws {
        let plan = try batchPlan()
        let directory = try recipients.map { path in try RecipientDirectory(path: path) }
        var run = try BatchRun<SealWorker>(batch)
        try run.takeAllLines {
            let reader = try directory?.makeReader()
            return try SealWorker(plan, reader.map { reader in { try reader.recipient(kid: $0, device: $1) } })
        }
    }

    /// Keys are chosen at one time, so that a batch comes out under one; messages are stamped when their turn comes.
    private func batchPlan() throws -> SealWorker.Plan {
        let time = timeOptions.time
        let givenTime = timeOptions.givenTime
        let entry = try to.map { path in
            let source = try KeySource(path, keyAccess, allowsPublic: signWith != nil)
            _ = try source.recipient(device: nil, at: time)
            return try source.sealingEntry(at: time)
        }
        let signer = try signWith.map { path in try KeySource(path, keyAccess).senderKey(at: time) }
        let common = MessageExtras(
            attachments: try extras.attachments(), offload: try extras.offloadReference(), isSelfTest: extras.selfTest)
        let sealer = try Sealer(topic: topic, signer: signer, options: options, clock: { givenTime ?? .now })
        try check(common)
        return SealWorker.Plan(
            sealer: sealer, options: options, placeholder: placeholder.placeholder, extras: common, entry: entry,
            allowsDemoKeys: demoKeys.isAllowed)
    }

    /// What would be wrong with every line.
    private func check(_ common: MessageExtras) throws {
        try options.check()
        if let flaw = common.flaw { throw Failure(.usage, flaw) }
        guard placeholder.placeholder.json != nil else {
            throw Failure(.usage, "the placeholder has no text: the system wouldn't run the extension")
        }
    }
}
