import PushCryptPrimitives
import PushCryptSender
import Testing

/// An error of the caller's functions.
private struct Unreachable: Error, CustomStringConvertible {
    var description: String { "secret" }
}

/// A function of the caller that throws while a push is sealed.
private enum FailingFunction: CaseIterable {
    case encode, change, store

    private struct Failing: Encodable {
        func encode(to encoder: any Encoder) throws { throw Unreachable() }
    }

    var payload: any Encodable & Sendable {
        self == .encode ? Failing() : #"{"aps":{"alert":"x"},"n":"\#(String(repeating: "n", count: 9_000))"}"#
    }

    @Sendable func change(_ options: inout Sealer.Options) throws {
        switch self {
        case .encode: break
        case .change: throw Unreachable()
        case .store: options.oversize = .shortenBodyOrOffload(toAtLeast: 1) { _ in throw Unreachable() }
        }
    }
}

/// Errors of the caller's own functions, which the sealer calls.
@Suite struct CallerFailureTests {
    @Test(
        "an outcome of a batch is callerFailure with the error's type, not its text",
        arguments: FailingFunction.allCases)
    fileprivate func batch(function: FailingFunction) async throws {
        let request = SealRequest(
            function.payload, to: try Channel.simple.recipient(), context: 7, changing: function.change)
        for try await outcome in BatchSealer(try Channel.simple.sealer()).seal([request]) {
            let error = expectSenderError(.callerFailure) { try outcome.result.get() }
            #expect(error?.reason == "a function of the caller threw an error of type Unreachable")
            #expect(outcome.context == 7)
        }
    }

    @Test("a push to several devices whose store fails is callerFailure without the error's text")
    func several() throws {
        let function = FailingFunction.store
        let results = try Channel.simple.sealer().seal(
            function.payload, toEach: [Channel.simple.recipient()], changing: function.change)
        let error = expectSenderError(.callerFailure) { try results[0].get() }
        #expect(error?.reason.contains("secret") == false)
    }

    @Test(
        "one push throws the caller's error as it is, and the observer gets callerFailure",
        arguments: FailingFunction.allCases)
    fileprivate func observer(function: FailingFunction) throws {
        let refusals = Locked<[SenderError.Code?]>([])
        let sealer = try Sealer(
            topic: "com.example.app",
            observer: { observation in refusals.withLock { $0.append(observation.refusal) } }, clock: { Channel.now })
        #expect(throws: Unreachable.self) {
            try sealer.seal(function.payload, to: Channel.simple.recipient(), changing: function.change)
        }
        #expect(refusals.withLock { $0 } == [.callerFailure])
    }
}
