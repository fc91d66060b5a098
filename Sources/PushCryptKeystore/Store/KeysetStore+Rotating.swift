package import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets

extension KeysetStore {
    /// What a rotation found and did.
    package struct Rotation {
        /// Made of the keyset as it was; its due steps are carried out, unless it is a dry run.
        package let plan: RotationPlan
        package let done: [(step: RotationPlan.Step, kid: KeyID)]
        /// The keyset afterwards.
        package let metadata: KeysetMetadata
        /// What an interrupted change had left and what was done about it, for people.
        package let notices: [String]
    }

    /// Carries out what is due.
    ///
    /// ```
    /// lock the folder, read, plan                     nothing is due: done
    /// unlock the keys, finish what a crash left, carry out the plan, check the invariants
    /// write, publish, log
    /// ```
    /// The keyset is read, planned and unlocked once. Only for a question on the terminal the lock is given up, and the
    /// keyset is read and planned again after the answer.
    /// - Parameters:
    ///   - secret: a given one authenticates what the plan is made of, and is read while the folder is locked.
    ///   - isDryRun: whether only the plan is made, without the lock.
    ///   - plan: makes the plan of the keyset.
    /// - Throws: `KeystoreError`, `KeyError`, `LifecycleError`, as ``change(at:by:_:_:)``.
    package func rotate(
        at time: UnixTime, by actor: Actor, _ secret: SecretSource, isDryRun: Bool = false,
        _ plan: (KeysetMetadata) -> RotationPlan
    ) throws -> Rotation {
        guard !isDryRun else {
            let metadata = try folder.file().metadata(secret)
            return Rotation(plan: plan(metadata), done: [], metadata: metadata, notices: [])
        }
        switch try attempt(at: time, by: actor, secret, plan) {
        case .finished(let rotation): return rotation
        case .unanswered(let file):
            // Other processes don't wait for a person.
            let answered = try file.answered(secret)
            guard case .finished(let rotation) = try attempt(at: time, by: actor, answered, plan) else {
                preconditionFailure("an answered secret counts as given")
            }
            return rotation
        }
    }

    private enum Attempt {
        case finished(Rotation)
        /// Something is due, and the keys are encrypted.
        case unanswered(KeysetFile)
    }

    private func attempt(
        at time: UnixTime, by actor: Actor, _ secret: SecretSource, _ plan: (KeysetMetadata) -> RotationPlan
    ) throws -> Attempt {
        let folder = try lockedFolder()
        FaultPoint.reach("locked")
        let file = try self.folder.file(in: folder)
        let isReadable = secret.isGiven || file.protection == .plaintext
        let stored = isReadable ? try file.unlocked(secret) : nil
        let plan = plan(file.metadata)
        guard !plan.due.isEmpty else {
            return .finished(Rotation(plan: plan, done: [], metadata: file.metadata, notices: []))
        }
        guard let stored else { return .unanswered(file) }
        let notices = try finishInterruptedChange(folder, stored)
        var editor = KeysetEditor(stored, at: time)
        let done = try editor.carryOut(plan)
        let finished = try editor.finished(after: stored.metadata.timeline, by: actor)
        try write(finished, folder)
        return .finished(Rotation(plan: plan, done: done, metadata: finished.metadata, notices: notices))
    }
}
