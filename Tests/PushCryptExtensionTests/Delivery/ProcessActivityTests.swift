import Dispatch
import Foundation
import PushCryptFiles
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// What is asked of `ProcessInfo.performExpiringActivity`, and how long its answer is awaited.
@Suite struct ProcessActivityTests {
    /// The system. It answers when the test lets it, on a thread of its own.
    private final class System: Sendable {
        let blocks = Locked<[@Sendable (Bool) -> Void]>([])
        let asked = DispatchSemaphore(value: 0)
        let returned = DispatchSemaphore(value: 0)

        func activity(isInForeground: Bool) -> ProcessActivity {
            .expiring { [self] block in
                blocks.withLock { $0.append(block) }
                asked.signal()
            } isInForeground: {
                isInForeground
            }
        }

        /// Calls the last block, whose return ends the activity.
        func answer(isExpired: Bool) {
            guard let block = blocks.withLock({ $0.last }) else { return }
            DedicatedThread.run { [returned] in
                block(isExpired)
                returned.signal()
            }
        }
    }

    private let system = System()

    @Test("in the foreground a call goes on without the system's answer, which ends at once when it comes later")
    func foreground() {
        let end = system.activity(isInForeground: true)(within: .zero)
        #expect(end != nil && system.blocks.withLock { $0.count } == 1)
        end?()
        system.answer(isExpired: false)
        system.returned.wait()
    }

    @Test("an answer that comes late lets the call go on, and keeps the process running until the call ends")
    func lateAnswer() {
        let granted = DispatchSemaphore(value: 0)
        let end = Locked<(@Sendable () -> Void)?>(nil)
        DedicatedThread.run { [system] in
            let function = system.activity(isInForeground: false)(within: .seconds(3600))
            end.withLock { $0 = function }
            granted.signal()
        }
        system.asked.wait()
        #expect(granted.wait(timeout: .now()) == .timedOut)
        system.answer(isExpired: false)
        granted.wait()
        #expect(system.returned.wait(timeout: .now()) == .timedOut)
        #expect(end.withLock { $0 } != nil)
        end.withLock { $0 }?()
        system.returned.wait()
    }

    @Test("an answer is awaited for the whole time that the caller has")
    func wait() {
        let waits = Locked<[Duration]>([])
        let activity = ProcessActivity.expiring(
            { _ in }, isInForeground: { false },
            isSignaled: { _, limit in
                waits.withLock { $0.append(limit) }
                return false
            })
        #expect(activity(within: .seconds(25)) == nil && activity() == nil)
        #expect(waits.withLock { $0 } == [.seconds(25), ProcessActivity.patience])
        #expect(ProcessActivity.patience >= .seconds(5))
    }

    @Test("a call is refused without an answer within the limit, and if the system is about to suspend the process")
    func refused() {
        #expect(system.activity(isInForeground: false)(within: .zero) == nil)
        // An answer that comes later ends at once.
        system.answer(isExpired: false)
        system.returned.wait()
        let suspending = ProcessActivity.expiring({ $0(true) }, isInForeground: { false })
        #expect(suspending(within: .seconds(3600)) == nil)
    }
}

/// The marker marks once per boot, also in consecutive processes.
@Suite struct BootMarkerTests {
    private let folder = TemporaryFolder.make()

    private func marks(_ boot: String?, time: Int64 = 1_800_000_000, in file: String = "boot") -> Bool {
        var marker = FileBootMarker(path: folder.file(file).path)
        marker.name = { boot }
        marker.time = { time }
        return marker.markThisBoot()
    }

    @Test("the marker returns true once per boot, and a repeated name belongs to another boot")
    func oncePerBoot() {
        #expect(["first", "first", "second", "second", "first"].map { marks($0) } == [true, false, true, false, true])
    }

    @Test("without a boot name the time of the boot counts, give or take seconds", arguments: [0, -10, 10])
    func bootWithoutAName(_ correction: Int64) {
        #expect(marks(nil))
        #expect(!marks(nil, time: 1_800_000_000 + correction))
        #expect(marks(nil, time: 1_800_000_011))
        #expect(marks(nil, time: 1_799_999_900))
        #expect(marks("first"))
        #expect(marks(nil))
    }

    @Test("a file with anything else marks no boot", arguments: ["", "9223372036854775807", "x"], [nil, "first"])
    func otherContent(_ text: String, _ boot: String?) throws {
        try Data(text.utf8).write(to: folder.file("boot"))
        #expect(marks(boot) && !marks(boot))
    }

    @Test("a marker that can't be written always returns true")
    func folderThatIsNotThere() {
        #expect(marks("first", in: "none/boot") && marks("first", in: "none/boot"))
    }

    @Test("the system's name and time of the boot don't change, and the marker returns true once for them")
    func system() throws {
        #expect(abs(BootSession.time - BootSession.time) <= 1 && BootSession.time < SystemClock.secondsSince1970)
        let name = try #require(BootSession.name)
        #expect(!name.isEmpty && name == BootSession.name)
        let marker = FileBootMarker(path: folder.file("boot").path)
        #expect(marker.markThisBoot())
        #expect(!marker.markThisBoot())
    }
}
