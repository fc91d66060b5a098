import GRDB
import NIOConcurrencyHelpers

/// Writes that arrive while another one waits for the disk are committed together, so that they wait for the disk once.
///
/// Each write is all or nothing: a write that throws takes back only what it has done itself. When the transaction can't be
/// committed, all its writes throw.
actor GroupedWrites {
    private let database: DatabasePool
    private var waiting: [any WaitingWrite] = []
    private var isWriting = false

    init(_ database: DatabasePool) { self.database = database }

    /// Returns when the write is durable.
    ///
    /// - Throws: the error of the body or of the database.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            waiting.append(Write(body, continuation))
            guard !isWriting else { return }
            isWriting = true
            Task { await writeAll() }
        }
    }

    private func writeAll() async {
        while !waiting.isEmpty {
            let batch = waiting
            waiting = []
            do {
                try await database.write { db in
                    for write in batch { try write.run(db) }
                }
                for write in batch { write.end(nil) }
            } catch {
                for write in batch { write.end(error) }
            }
        }
        isWriting = false
    }
}

private protocol WaitingWrite: Sendable {
    /// - Throws: if the whole transaction was rolled back.
    func run(_ db: Database) throws
    /// - Parameter error: why the transaction wasn't committed; nil if it was.
    func end(_ error: (any Error)?)
}

private final class Write<Value: Sendable>: WaitingWrite {
    private let body: @Sendable (Database) throws -> Value
    private let continuation: CheckedContinuation<Value, any Error>
    private let result = NIOLockedValueBox<Result<Value, any Error>?>(nil)

    init(_ body: @escaping @Sendable (Database) throws -> Value, _ continuation: CheckedContinuation<Value, any Error>)
    {
        self.body = body
        self.continuation = continuation
    }

    func run(_ db: Database) throws {
        do {
            var value: Value?
            try db.inSavepoint {
                value = try body(db)
                return .commit
            }
            if let value { result.withLockedValue { $0 = .success(value) } }
        } catch {
            // SQLite rolls the whole transaction back after some errors, among them a full disk.
            guard db.isInsideTransaction else { throw error }
            result.withLockedValue { $0 = .failure(error) }
        }
    }

    func end(_ error: (any Error)?) {
        let result = result.withLockedValue { $0 }
        continuation.resume(with: error.map { .failure($0) } ?? result ?? .failure(CancellationError()))
    }
}
